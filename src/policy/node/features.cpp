#include "policy/node/features.h"

#include <algorithm>

#include "state/counts/kept_away.h"

namespace ashlar {

bool has_features(const Constraint& constraint, const NodeFacts& facts) {
  return std::ranges::all_of(constraint.features, [&](LabelKeyId key) { return !value_of(facts, key).is_none(); });
}

}  // namespace ashlar
