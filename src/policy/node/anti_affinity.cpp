#include "policy/node/anti_affinity.h"

#include <algorithm>

namespace ashlar {

bool takes_one_of_its_like(const Constraint& constraint, const NodeFacts& facts) {
  return constraint.keeps_itself_away &&
         std::all_of(constraint.keeps_away.begin(), constraint.keeps_away.end(),
                     [&](const PodTerm& term) { return !value_of(facts, term.topology).is_none(); });
}

bool is_kept_away_by_none(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  return constraint.seen_as.is_none() || !context.kept_away.keeps_away(constraint.seen_as, facts);
}

}  // namespace ashlar
