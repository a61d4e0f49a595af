#include "policy/node/selector.h"

#include <algorithm>

namespace ashlar {

void lower_by_selector(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
  const Constraint& c = view.constraint;
  if (c.selector.all.empty() && c.any_of.empty()) return;
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (fits[i] == 0) continue;
    const NodeFacts& facts = view.cluster.facts(NodeId(rows.first + i));
    const bool has_a_term =
        c.any_of.empty() || std::any_of(c.any_of.begin(), c.any_of.end(), [&](const NodeTerm& t) { return term_holds(t, facts); });
    if (!has_a_term || !term_holds(c.selector, facts)) fits[i] = 0;
  }
}

}  // namespace ashlar
