#include "live/track/nodes/asked_keys.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace ashlar::kube {

std::int64_t label_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? number : NodeLabel::kNotANumber;
}

std::int64_t decimal_integer(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const std::int64_t number = label_number(text);
  if (number == NodeLabel::kNotANumber || std::to_string(number) != text) return NodeLabel::kNotANumber;
  return std::clamp(number, -kMost, kMost);
}

void AskedKeys::ask(const Constraint& constraint) {
  const auto ask_key = [&](LabelKeyId id) {
    const PooledString key = names_.label_keys.name(id);
    if (keys_.insert(key).second) news_.push_back(key);
  };
  const auto ask_term = [&](const ashlar::NodeTerm& term) {
    for (const LabelExpression& e : term.all) ask_key(e.key);
  };
  ask_term(constraint.selector);
  for (const ashlar::NodeTerm& term : constraint.any_of) ask_term(term);
  for (const std::vector<ashlar::NodeTerm>& any_of : constraint.volumes)
    for (const ashlar::NodeTerm& term : any_of) ask_term(term);
  for (const ashlar::PreferredTerm& preferred : constraint.preferred) ask_term(preferred.term);
  for (const LabelKeyId key : constraint.features) ask_key(key);
  constraint.each_topology_label(ask_key);
}

std::vector<NodeLabel> AskedKeys::labels_of(const Labels& labels, const PooledString& node_name) {
  std::vector<NodeLabel> asked;
  for (const KeyValue& kv : labels)
    if (keys_.contains(kv.key) && kv.key != names_.node_name_key())
      asked.push_back({names_.label_keys.of(kv.key), names_.label(kv.key, kv.value), label_number(kv.value)});
  const PooledString& name_key = names_.node_name_key();
  asked.push_back({names_.label_keys.of(name_key), names_.label(name_key, node_name), NodeLabel::kNotANumber});
  std::sort(asked.begin(), asked.end(), [](const NodeLabel& a, const NodeLabel& b) { return a.key < b.key; });
  return asked;
}

}  // namespace ashlar::kube
