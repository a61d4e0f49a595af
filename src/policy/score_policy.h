// ScorePolicy: a preference between nodes, which only adds points inside its tier. One row per policy, in the order of
// the docs.
#pragma once

#include <span>
#include <string_view>

#include "policy/node_view.h"

namespace ashlar {

/// Adds points to each row; higher is better. Called with rows that may be infeasible: the points of those are ignored.
using ScoreKernel = void (*)(const NodeView& view, NodeRange rows, std::span<Points> points);
/// Points for every topology group (domain of the innermost nested level).
using DomainKernel = void (*)(const NodeView& view, std::span<Points> points);
struct ScorePolicy {
  std::string_view name;
  ScoreKernel add = nullptr;          ///< one of add and add_domain is set
  DomainKernel add_domain = nullptr;  ///< such a policy is alone in its tier
  bool is_drawn = false;              ///< depends on NodeView::draw: never kept between decisions
};
std::span<const ScorePolicy> score_policies();
/// nullptr for an unknown name.
const ScorePolicy* find_score(std::string_view name);

}  // namespace ashlar
