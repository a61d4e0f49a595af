#include "policy/node/model.h"

#include <algorithm>

namespace ashlar {

void lower_by_model(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
  const auto& accepted = view.constraint.models;
  if (accepted.empty()) return;
  const auto models = view.cluster.models().subspan(rows.first, rows.count);
  for (std::size_t i = 0; i < rows.count; ++i)
    if (std::find(accepted.begin(), accepted.end(), models[i]) == accepted.end()) fits[i] = 0;
}

}  // namespace ashlar
