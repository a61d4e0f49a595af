#include "policy/score/prefer.h"

#include <algorithm>

#include "policy/node/selector.h"

namespace ashlar {
namespace {

constexpr std::int64_t kTaintWeight = 100;  ///< the largest weight that Kubernetes allows a preferred term
constexpr std::int64_t kTaintsMax = 4;

std::int64_t untolerated_soft_taints(const Constraint& constraint, const NodeFacts& facts) {
  return std::count_if(facts.taints.begin(), facts.taints.end(), [&](const Taint& taint) {
    if (taint.effect != TaintEffect::kPreferNoSchedule) return false;
    return std::none_of(constraint.tolerations.begin(), constraint.tolerations.end(),
                        [&](const Toleration& t) { return t.tolerates(taint); });
  });
}

}  // namespace

void add_prefer(const NodeView& view, NodeRange rows, std::span<Points> points) {
  const Constraint& c = view.constraint;
  std::int64_t weights = kTaintWeight * kTaintsMax;
  for (const PreferredTerm& p : c.preferred) weights += std::max(p.weight, 0);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const NodeFacts& facts = view.nodes.facts(NodeId(rows.first + i));
    if (c.preferred.empty() && facts.taints.empty()) {
      points[i] += kPointsMax;
      continue;
    }
    std::int64_t held = kTaintWeight * (kTaintsMax - std::min(untolerated_soft_taints(c, facts), kTaintsMax));
    for (const PreferredTerm& p : c.preferred)
      if (term_holds(p.term, facts)) held += std::max(p.weight, 0);
    points[i] += static_cast<Points>(kPointsMax * held / weights);
  }
}

}  // namespace ashlar
