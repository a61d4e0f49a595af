#include "policy/node/ports.h"

#include <algorithm>

namespace ashlar {

void lower_by_ports(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
  const auto& asked = view.demand.ports;
  if (asked.empty()) return;
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (fits[i] == 0) continue;
    const auto taken = view.nodes.ports_taken(NodeId(rows.first + i));
    const bool clashes = std::any_of(taken.begin(), taken.end(), [&](const HostPort& t) {
      return std::any_of(asked.begin(), asked.end(), [&](const HostPort& a) { return a.clashes(t); });
    });
    fits[i] = clashes ? 0 : 1;
  }
}

}  // namespace ashlar
