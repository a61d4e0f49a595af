#include "state/cluster/labelled_nodes.h"

#include "state/counts/kept_away.h"

namespace ashlar {
namespace {

/// The expression of the term with the fewest values that a label must have; nullptr: there is none with few.
const LabelExpression* narrowest(const NodeTerm& term) {
  const LabelExpression* found = nullptr;
  for (const LabelExpression& e : term.all) {
    if (e.op != LabelExpression::Op::kIn || e.values.size() > NeededLabel::kValuesMax) continue;
    if (found == nullptr || e.values.size() < found->values.size()) found = &e;
  }
  return found;
}

}  // namespace

std::optional<NeededLabel> needed_label(const Constraint& constraint) {
  NeededLabel needed;
  if (const LabelExpression* e = narrowest(constraint.selector); e != nullptr) {
    needed = {e->key, e->values};
  } else {
    for (const NodeTerm& term : constraint.any_of) {
      const LabelExpression* of_term = narrowest(term);
      if (of_term == nullptr || (!needed.key.is_none() && of_term->key != needed.key)) return std::nullopt;
      needed.key = of_term->key;
      needed.values.insert(needed.values.end(), of_term->values.begin(), of_term->values.end());
    }
  }
  std::sort(needed.values.begin(), needed.values.end());
  needed.values.erase(std::unique(needed.values.begin(), needed.values.end()), needed.values.end());
  if (needed.key.is_none() || needed.values.size() > NeededLabel::kValuesMax) return std::nullopt;
  return needed;
}

const LabelledNodes::Label& LabelledNodes::by(LabelKeyId key, const std::vector<NodeFacts>& facts) {
  Label& first = labels_[0];
  const auto is_it = [&] { return first.key == key && first.made_at == edition_; };
  if (is_it()) return first;
  std::swap(first, labels_[1]);
  if (is_it()) return first;
  first = {.key = key, .made_at = edition_, .nodes = {}};
  for (std::size_t row = 0; row < facts.size(); ++row)
    if (const LabelId value = value_of(facts[row], key); !value.is_none()) first.nodes.emplace_back(value, NodeId(row));
  std::sort(first.nodes.begin(), first.nodes.end());
  return first;
}

}  // namespace ashlar
