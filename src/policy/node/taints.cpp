#include "policy/node/taints.h"

#include <algorithm>

namespace ashlar {
namespace {

bool is_tolerated(const Constraint& constraint, const Taint& taint) {
  return std::any_of(constraint.tolerations.begin(), constraint.tolerations.end(),
                     [&](const Toleration& t) { return t.tolerates(taint); });
}

}  // namespace

bool taints_tolerated(const Constraint& constraint, const NodeFacts& facts) {
  return std::all_of(facts.taints.begin(), facts.taints.end(), [&](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule || is_tolerated(constraint, taint);
  });
}

std::int32_t untolerated_soft_taints(const Constraint& constraint, const NodeFacts& facts) {
  return static_cast<std::int32_t>(std::count_if(facts.taints.begin(), facts.taints.end(), [&](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule && !is_tolerated(constraint, taint);
  }));
}

}  // namespace ashlar
