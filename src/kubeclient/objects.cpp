#include "kubeclient/objects.h"

#include <algorithm>

namespace ashlar::kube {
namespace {

const std::shared_ptr<const Labels>& no_labels() {
  static const auto none = std::make_shared<const Labels>();
  return none;
}

const std::shared_ptr<const PodRules>& no_rules() {
  static const auto none = std::make_shared<const PodRules>();
  return none;
}

bool holds(const Requirement& requirement, const Labels& labels) {
  const PooledString* value = find_label(labels, requirement.key);
  const auto listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), *value) != requirement.values.end();
  };
  switch (requirement.op) {
    case SelectorOp::kIn:
      return value != nullptr && listed();
    case SelectorOp::kNotIn:
      return value == nullptr || !listed();
    case SelectorOp::kExists:
      return value != nullptr;
    case SelectorOp::kDoesNotExist:
      return value == nullptr;
    case SelectorOp::kGt:
    case SelectorOp::kLt:
      return false;  // no such operators in label selectors
  }
  return false;
}

}  // namespace

Pod::Pod() : labels(no_labels()), annotations(no_labels()), rules(no_rules()) {}

const PooledString* find_label(const Labels& labels, std::string_view key) {
  for (const KeyValue& label : labels)
    if (label.key == key) return &label.value;
  return nullptr;
}

std::int64_t amount_of(const Resources& resources, std::string_view extended_name) {
  for (const Amount& amount : resources.extended)
    if (amount.name == extended_name) return amount.value;
  return 0;
}

bool matches(const LabelSelector& selector, const Labels& labels) {
  if (!selector.present || selector.match_labels.size() > labels.size()) return false;
  std::size_t at = 0;  // both are in one order: each is found near the last
  for (const KeyValue& wanted : selector.match_labels) {
    std::size_t passed = 0;
    while (passed < labels.size() && labels[at].key != wanted.key) ++passed, at = at + 1 < labels.size() ? at + 1 : 0;
    if (passed == labels.size() || labels[at].value != wanted.value) return false;
  }
  return std::all_of(selector.expressions.begin(), selector.expressions.end(),
                     [&](const Requirement& r) { return holds(r, labels); });
}

}  // namespace ashlar::kube
