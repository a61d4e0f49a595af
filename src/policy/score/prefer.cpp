#include "policy/score/prefer.h"

#include <algorithm>

#include "policy/node/preferred.h"

namespace ashlar {
namespace {

constexpr std::int64_t kTaintWeight = 100;  ///< the largest weight that Kubernetes allows a preferred term
constexpr std::int64_t kTaintsMax = 4;

}  // namespace

void add_prefer(const NodeView& view, NodeRange rows, std::span<Points> points) {
  if (!view.preferences.empty()) {  // some are about pods
    for (std::size_t i = 0; i < rows.count; ++i) points[i] += view.preferences[rows.first + i];
    return;
  }
  const Constraint& c = view.constraint;
  std::int64_t weights = kTaintWeight * kTaintsMax;
  for (const PreferredTerm& p : c.preferred) weights += std::max(p.weight, 0);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const NodeFacts& facts = view.nodes.facts(NodeId(rows.first + i));
    if (c.preferred.empty() && facts.taints.empty()) {
      points[i] += kPointsMax;
      continue;
    }
    std::int64_t held =
        kTaintWeight * (kTaintsMax - std::min<std::int64_t>(untolerated_soft_taints(c, facts), kTaintsMax));
    held += weights_held(c, facts);
    points[i] += static_cast<Points>(kPointsMax * held / weights);
  }
}

}  // namespace ashlar
