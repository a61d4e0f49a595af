#include "policy/node/ready.h"

namespace ashlar {

bool is_ready(const Constraint&, const NodeFacts& facts) { return facts.is_ready; }

}  // namespace ashlar
