// Posting: writes drawn objects to an API server, many at a time, and notes which of them it refuses as not valid.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/filters/drawn_cluster.h"
#include "kubeclient/api.h"

namespace ashlar::filters {

class Posting {
 public:
  explicit Posting(kube::Api& api) : api_(api) {}

  /// All of them, the last one after the others.
  Result<void> create_nodes(const std::vector<DrawnNode>& nodes);
  /// In place of those of the same names.
  Result<void> replace_nodes(const std::vector<DrawnNode>& nodes);
  /// Pods on them stay.
  void remove_nodes(const std::vector<std::string>& names);
  /// Some may be gone: a pod that has ended goes at once when its deletion is requested.
  void remove_pods(const std::vector<DrawnPod>& pods);
  /// Those that the server refuses are taken out of the list. The claims that they own are made, and they are tried
  /// from then on.
  void create_pods(std::vector<DrawnPod>& pods);
  /// Writes their status and requests the deletion of those that are terminating.
  void finish_bound(const std::vector<DrawnPod>& pods);
  /// Those that the server refuses are left out. Their status is written, and the deletion of those that are
  /// terminating is requested.
  void create_objects(const std::vector<DrawnObject>& objects);
  void patch_objects(const std::vector<DrawnPatch>& patches);
  /// Whatever keeps them.
  void remove_objects(const std::vector<DrawnObject>& objects);

  std::size_t refused() const { return refused_; }
  const std::string& first_refusal() const { return first_refusal_; }

 private:
  /// Sends the requests and waits for all answers: the body of each, or nothing where it was refused. What is not there
  /// is no refusal.
  std::vector<std::optional<std::string>> send(std::vector<http::Request> requests);
  Result<void> sound_since(std::size_t refused_before) const;

  kube::Api& api_;
  std::size_t refused_ = 0;
  std::string first_refusal_;
};

/// The namespaces of drawn pods.
Result<void> post_namespaces(kube::Api& api);
/// The CSIDrivers of all clusters.
Result<void> post_drivers(kube::Api& api);
/// Deletes all nodes, all volumes and what concerns them but CSIDrivers, and all pods and claims of those namespaces.
Result<void> remove_everything(kube::Api& api);

}  // namespace ashlar::filters
