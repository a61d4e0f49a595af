#include "policy/node/preferred.h"

#include <algorithm>

#include "policy/node/selector.h"

namespace ashlar {

std::int32_t weights_held(const Constraint& constraint, const NodeFacts& facts) {
  std::int32_t held = 0;
  for (const PreferredTerm& p : constraint.preferred)
    if (term_holds(p.term, facts)) held += std::max(p.weight, 0);
  return held;
}

std::int32_t untolerated_soft_taints(const Constraint& constraint, const NodeFacts& facts) {
  return static_cast<std::int32_t>(std::count_if(facts.taints.begin(), facts.taints.end(), [&](const Taint& taint) {
    if (taint.effect != TaintEffect::kPreferNoSchedule) return false;
    return std::none_of(constraint.tolerations.begin(), constraint.tolerations.end(),
                        [&](const Toleration& t) { return t.tolerates(taint); });
  }));
}

}  // namespace ashlar
