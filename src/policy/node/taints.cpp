#include "policy/node/taints.h"

#include <algorithm>

namespace ashlar {

bool taints_tolerated(const Constraint& constraint, const NodeFacts& facts) {
  return std::all_of(facts.taints.begin(), facts.taints.end(), [&](const Taint& taint) {
    if (taint.effect == TaintEffect::kPreferNoSchedule) return true;
    return std::any_of(constraint.tolerations.begin(), constraint.tolerations.end(),
                       [&](const Toleration& t) { return t.tolerates(taint); });
  });
}

}  // namespace ashlar
