#include "policy/node/selector.h"

#include <algorithm>

#include "model/label_operator.h"

namespace ashlar {
namespace {

/// In blocks without early exits, which the compiler turns into wide comparisons: a pod that thousands of nodes refuse
/// names each of them, and is checked against each of them.
bool names(const std::vector<LabelId>& labels, LabelId wanted) {
  constexpr std::size_t kBlock = 64;
  std::size_t i = 0;
  for (; i + kBlock <= labels.size(); i += kBlock) {
    std::uint32_t is_here = 0;
    for (std::size_t j = 0; j < kBlock; ++j) is_here |= labels[i + j].value == wanted.value ? 1u : 0u;
    if (is_here != 0) return true;
  }
  return std::find(labels.begin() + static_cast<std::ptrdiff_t>(i), labels.end(), wanted) != labels.end();
}

bool expression_holds(const LabelExpression& e, const NodeFacts& facts) {
  const auto it = std::lower_bound(facts.labels.begin(), facts.labels.end(), e.key,
                                   [](const NodeLabel& l, LabelKeyId key) { return l.key < key; });
  const bool is_present = it != facts.labels.end() && it->key == e.key;
  const bool is_number = is_present && it->number != NodeLabel::kNotANumber;
  if (e.op == LabelExpression::Op::kGreater) return is_number && it->number > e.number;
  if (e.op == LabelExpression::Op::kLess) return is_number && it->number < e.number;
  return holds(e.op, is_present, is_present && names(e.values, it->id));
}

}  // namespace

bool term_holds(const NodeTerm& term, const NodeFacts& facts) {
  return std::all_of(term.all.begin(), term.all.end(),
                     [&](const LabelExpression& e) { return expression_holds(e, facts); });
}

bool is_selected(const Constraint& constraint, const NodeFacts& facts) {
  const auto holds = [&](const NodeTerm& term) { return term_holds(term, facts); };
  return holds(constraint.selector) &&
         (constraint.any_of.empty() || std::any_of(constraint.any_of.begin(), constraint.any_of.end(), holds));
}

}  // namespace ashlar
