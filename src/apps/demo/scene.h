// scene: the state of the demo: the pods, gangs and nodes as the API server reports them, under any scheduler. Fed by
// two watches; provides what the view draws and what the comparison counts. Times are those of the client's clock in
// milliseconds.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/demo/script.h"
#include "kubeclient/api.h"
#include "kubeclient/objects.h"
#include "kubeclient/reflector.h"

namespace ashlar::demo {

/// One job of the script in its present state.
struct Job {
  Act act;
  std::string pod_prefix;  ///< pods are PREFIX-0, PREFIX-1, ...
  Millis created_at;
  int bound = 0;
  Millis first_bound_at, last_bound_at;
  std::vector<int> node_of_member;             ///< node number, -1 = waits
  std::vector<std::string> devices_of_member;  ///< text of ashlar.dev/devices, empty if there is none
  std::string waits_because;                   ///< the message of its condition
  bool is_over = false;
  bool is_bound() const { return bound == act.members; }
  int racks() const;  ///< distinct racks of its members
};

/// Ashlar's own part of the message after kube-scheduler's sentence, which has numbers of nodes and comes first: "gang
/// g of 2: no capacity for all members at once."; the whole message if there is nothing else, and for kube-scheduler's
/// own, whose second sentence is about nodes again.
std::string own_words(const std::string& message);  // for tests

class Scene {
 public:
  Scene(kube::Api& api, std::string ns);

  /// Opens the watches and waits until they are established.
  void start();
  void add(const Job& job) { jobs_.push_back(job); }
  std::vector<Job>& jobs() { return jobs_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  /// The latest events, newest last.
  const std::deque<std::string>& news() const { return news_; }
  void tell(const std::string& line);

 private:
  void see_pod(const kube::Pod& pod);
  void see_group(const kube::PodGroup& group);
  Job* job_of(std::string_view pod, int* member);
  void note_wait(Job& job, const std::string& reason, const std::string& message);

  kube::Api& api_;
  std::string ns_;
  std::vector<Job> jobs_;
  std::deque<std::string> news_;
  std::unique_ptr<kube::Reflector<kube::Pod>> pods_;
  std::unique_ptr<kube::Reflector<kube::PodGroup>> groups_;
};

}  // namespace ashlar::demo
