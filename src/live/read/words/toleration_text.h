// toleration_text: which taints keep a pod off nodes, and what would help.
#pragma once

#include <string>
#include <vector>

#include "live/read/pod_text.h"

namespace ashlar::kube {

/// The nodes that are counted under a reason TaintNotTolerated, by the first taint that is not tolerated.
std::vector<NodeTally::Tainted> untolerated(const TextContext& context, const Reason& reason);
/// ": team=blue:NoSchedule; tolerated by {key: team, value: "blue", effect: NoSchedule}", of such a reason; of unlike
/// taints those that most nodes have, each with what helps. For one that Kubernetes sets itself: what removes it.
std::string toleration_text(const TextContext& context, const Reason& reason);

}  // namespace ashlar::kube
