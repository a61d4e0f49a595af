#include "policy/node/anti_affinity.h"

#include "policy/node/selector.h"

namespace ashlar {

bool anti_affinity_holds(const Constraint& constraint, const NodeFacts& facts) {
  return term_holds(constraint.apart, facts);
}

}  // namespace ashlar
