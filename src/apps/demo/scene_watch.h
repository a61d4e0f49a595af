// scene_watch: feeds a scene with the pods and gangs of one namespace as the API server reports them, by two watches.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apps/demo/scene.h"
#include "kubeclient/api.h"
#include "kubeclient/objects.h"
#include "kubeclient/reflector.h"

namespace ashlar::demo {

/// Ashlar's own part of the message after kube-scheduler's sentence, which has numbers of nodes and comes first: "gang
/// g of 2: no capacity for all members at once."; the whole message if there is nothing else, and for kube-scheduler's
/// own, whose second sentence is about nodes again.
std::string own_words(const std::string& message);  // for tests

class SceneWatch {
 public:
  /// Both must outlive it.
  SceneWatch(kube::Api& api, Scene& scene, std::string ns);
  /// Opens the watches and waits until they are established.
  void start();

 private:
  void see_pod(const kube::Pod& pod);
  void see_group(const kube::PodGroup& group);
  Job* job_of(std::string_view pod, int* member);
  void note_wait(Job& job, const std::string& reason, const std::string& message);

  kube::Api& api_;
  Scene& scene_;
  std::string ns_;
  std::unique_ptr<kube::Reflector<kube::Pod>> pods_;
  std::unique_ptr<kube::Reflector<kube::PodGroup>> groups_;
};

}  // namespace ashlar::demo
