// toleration_text: which taint keeps a pod off most nodes, and what would help.
#pragma once

#include <string>

#include "live/read/pod_text.h"

namespace ashlar::kube {

/// ": 2 of them team=blue:NoSchedule; tolerated by {key: team, value: "blue", effect: NoSchedule}", of the taint that
/// most nodes have; empty if each is tolerated. For a taint that Kubernetes sets itself: what removes it.
std::string toleration_text(const TextContext& context, ConstraintId constraint);

}  // namespace ashlar::kube
