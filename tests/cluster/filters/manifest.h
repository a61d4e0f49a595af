// manifest: a pod of which the two schedulers think differently, as text: both answers, and what is needed to see it
// again, as objects for kubectl.
#pragma once

#include <string>
#include <vector>

#include "cluster/filters/ashlar_filters.h"
#include "cluster/filters/drawn_cluster.h"

namespace ashlar::filters {

struct Difference {
  const DrawnCluster& cluster;
  const DrawnPod& pod;
  const PodVerdict& ours;
  const std::vector<std::string>& theirs;
  std::string their_words;  ///< kube-scheduler's condition; empty: none yet
  std::string fresh;        ///< what a fresh list says
};
/// Of the cluster only the nodes that differ, the pods bound to these, and those that keep others away.
std::string difference_text(const Difference& difference);

}  // namespace ashlar::filters
