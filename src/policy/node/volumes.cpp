#include "policy/node/volumes.h"

#include <algorithm>

#include "policy/node/selector.h"

namespace ashlar {

bool are_volumes_usable(const Constraint& constraint, const NodeFacts& facts) {
  return std::ranges::all_of(constraint.volumes, [&](const std::vector<NodeTerm>& any_of) {
    return std::ranges::any_of(any_of, [&](const NodeTerm& term) { return term_holds(term, facts); });
  });
}

}  // namespace ashlar
