// KubeFilters: kube-scheduler on a control plane, asked which nodes pass its filters. An HTTP extender of this process
// gets the nodes of each pod and refuses them all, so that no pod is ever bound. One of a process at a time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cluster/fixture/control_plane.h"
#include "http/server.h"

namespace ashlar::filters {

class KubeFilters {
 public:
  /// Schedules the pods that name this scheduler. kNotFound: there is no kube-scheduler here.
  /// `prefers`: it goes on to choose a node by preferences alone, and is not let bind the pod there.
  static Result<std::unique_ptr<KubeFilters>> start(cluster::ControlPlane& plane, const std::string& scheduler_name,
                                                    bool prefers = false);
  ~KubeFilters();

  /// The nodes that passed for the pod when it was tried first, in order of their names; nullopt: it was not tried, or
  /// no node passed.
  std::optional<std::vector<std::string>> passed(const std::string& ns, const std::string& pod);
  /// The node that it chose first, where it prefers.
  std::optional<std::string> chosen(const std::string& ns, const std::string& pod);
  /// Of all pods.
  void forget();
  bool is_running() { return scheduler_->is_running(); }
  /// A call that could not be read; empty: there was none.
  std::string trouble();

 private:
  KubeFilters() = default;
  http::ServerResponse take(std::string_view body);
  http::ServerResponse take_choice(std::string_view body);

  std::mutex lock_;
  bool prefers_ = false;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> passed_;
  std::map<std::pair<std::string, std::string>, std::string> chosen_;
  std::string trouble_;
  std::unique_ptr<http::Server> server_;
  cluster::ChildProcess* scheduler_ = nullptr;
};

}  // namespace ashlar::filters
