#include "policy/node/anti_affinity.h"

namespace ashlar {

bool is_kept_away_by_none(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  return constraint.seen_as.is_none() || !context.kept_away.keeps_away(constraint.seen_as, facts);
}

}  // namespace ashlar
