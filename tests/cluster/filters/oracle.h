// oracle: kube-scheduler's filters against Ashlar's, on a real API server: for each waiting pod of random clusters, the
// nodes that one and the other allow must be the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/fixture/control_plane.h"

namespace ashlar::filters {

struct OracleOptions {
  std::size_t pods = 150;
  std::size_t pods_of_cluster = 20;  ///< half of them before the cluster changes, half after
  std::uint64_t seed = 1;
  std::optional<std::size_t> only;    ///< the cluster of this number alone
  bool has_company = true;            ///< see DrawOptions
  std::size_t manifests_max = 5;      ///< of differing pods; further ones are counted only
  bool is_about_preferences = false;  ///< does kube-scheduler choose a node to which Ashlar gives the most points?
};

struct OracleReport {
  std::size_t clusters = 0, pods = 0, equal = 0, different = 0;
  std::size_t verdicts = 0, allowed = 0;        ///< pairs of a pod and a node that were compared; those allowed
  std::size_t placeable = 0;                    ///< pods that some node takes, of those compared
  std::size_t refused_by_server = 0;            ///< drawn objects that are not valid
  std::string first_refusal;                    ///< the server's words and the object
  std::map<std::string, std::size_t> not_yet;   ///< pods by the field that is not evaluated yet
  std::map<std::string, std::size_t> decided;   ///< verdicts by the one filter that refuses the node
  std::map<std::string, std::size_t> short_of;  ///< of NodeResourcesFit's: by the one resource that is short
  std::map<std::string, std::size_t> held;      ///< pods that no node takes for their volumes' sake, by the words
  std::map<std::string, std::size_t> features;  ///< judged pods that have what is rare
  /// verdicts in which Ashlar refuses a node on purpose: a pod shares a volume with one of the node, whose limit is used
  /// up
  std::size_t shared_counted_more = 0;
  std::size_t ranked = 0, ranked_alike = 0;  ///< pods whose preferences were compared; of them, all nodes are as good
  std::size_t asked_again = 0;  ///< pods that kube-scheduler was asked about twice, since its first answer differed
  std::vector<std::string> manifests;  ///< of pods that differ, with both answers
  double seconds = 0;
  /// Several lines, the last one empty.
  std::string text() const;
};

/// How the API server of such a control plane is started.
cluster::ControlPlaneOptions oracle_control_plane();
/// Takes some 15 ms for a pod. kNotFound: there is no kube-scheduler. `on_cluster` is called after each cluster.
Result<OracleReport> compare_filters(cluster::ControlPlane& plane, const OracleOptions& options,
                                     const std::function<void(const OracleReport&)>& on_cluster = {});

}  // namespace ashlar::filters
