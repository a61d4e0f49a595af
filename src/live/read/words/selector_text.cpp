#include "live/read/words/selector_text.h"

#include <algorithm>

namespace ashlar::kube {
namespace {

std::string shown_value(const ObjectNames& names, LabelId label) {
  const std::string value = value_text(names, label);
  return value.empty() ? "\"\"" : value;
}

std::string expression_text(const ObjectNames& names, const LabelExpression& e) {
  const PooledString key = names.label_keys.name(e.key);
  const std::string name = key == names.node_name_key() ? "metadata.name" : key.str();
  std::string values;
  for (const LabelId value : e.values) values += (values.empty() ? "" : ", ") + shown_value(names, value);
  switch (e.op) {
    case LabelExpression::Op::kIn:
      // see Translator::expression() and term()
      if (e.values.empty() && key == names.node_name_key()) return "an empty term";
      if (e.values.empty()) return name + " compared with what is no 64-bit number";
      return e.values.size() == 1 ? name + "=" + values : name + " in (" + values + ")";
    case LabelExpression::Op::kNotIn:
      return name + " not in (" + values + ")";
    case LabelExpression::Op::kExists:
      return name + " exists";
    case LabelExpression::Op::kDoesNotExist:
      return "no " + name;
    case LabelExpression::Op::kGreater:
      return name + " > " + std::to_string(e.number);
    case LabelExpression::Op::kLess:
      break;
  }
  return name + " < " + std::to_string(e.number);
}

}  // namespace

std::string value_text(const ObjectNames& names, LabelId label) {
  const std::string pair = names.label_text(label);
  const std::size_t sign = pair.find('=');
  return sign == std::string::npos ? pair : pair.substr(sign + 1);
}

std::string expressions_text(const ObjectNames& names, const std::vector<LabelExpression>& all) {
  std::string text;
  for (const LabelExpression& e : all) text += (text.empty() ? "" : ", ") + expression_text(names, e);
  return text;
}

std::string selector_text(const ObjectNames& names, const SelectorIndex& index, PodSelectorId selector,
                          NamespaceId own) {
  const PodSelector& s = index.selector(selector);
  if (s.namespaces.empty() && !s.selects_namespaces) return std::string(kNoPods);
  const std::string pods = s.all.empty() ? "all pods" : expressions_text(names, s.all);
  if (s.selects_namespaces)
    return pods + (s.of_namespace.empty() && s.also_within.empty() ? " of all namespaces" : " of selected namespaces");
  if (!std::ranges::binary_search(s.namespaces, own)) return pods + " of other namespaces";
  return s.namespaces.size() == 1 ? pods : pods + " of selected namespaces";
}

}  // namespace ashlar::kube
