#include "state/counts/topology_labels.h"

#include <algorithm>

#include "base/grown.h"

namespace ashlar {

namespace {
template <class Labels>
auto find_in(Labels& labels, LabelKeyId key) {
  const auto it = std::lower_bound(labels.begin(), labels.end(), key,
                                   [](const TopologyLabels::Label& l, LabelKeyId k) { return l.key < k; });
  return it != labels.end() && it->key == key ? it : labels.end();
}
}  // namespace

std::vector<TopologyLabels::Label>::iterator TopologyLabels::find(LabelKeyId key) { return find_in(labels_, key); }
std::vector<TopologyLabels::Label>::const_iterator TopologyLabels::find(LabelKeyId key) const {
  return find_in(labels_, key);
}

void TopologyLabels::put(Label& label, NodeId node, LabelId value) {
  LabelId& now = grown(label.value_of, node.row());
  if (now == value) return;
  if (!now.is_none()) {
    const auto left = label.nodes.find(now);
    left->second.erase(std::lower_bound(left->second.begin(), left->second.end(), node));
    if (left->second.empty()) label.nodes.erase(left);
  }
  now = value;
  if (value.is_none()) return;
  std::vector<NodeId>& nodes = label.nodes[value];
  nodes.insert(std::lower_bound(nodes.begin(), nodes.end(), node), node);
}

void TopologyLabels::use(LabelKeyId key, PodSelectorId selector, const NodeColumns& nodes) {
  auto it = find(key);
  if (it == labels_.end()) {
    const auto at =
        std::lower_bound(labels_.begin(), labels_.end(), key, [](const Label& l, LabelKeyId k) { return l.key < k; });
    it = labels_.insert(at, Label{.key = key, .selectors = {}, .value_of = {}, .nodes = {}});
    it->value_of.resize(nodes.rows());
    for (std::size_t n = 0; n < nodes.rows(); ++n)
      if (nodes.is_live(NodeId(n))) put(*it, NodeId(n), ashlar::value_of(nodes.facts(NodeId(n)), key));
  }
  it->selectors.insert(std::lower_bound(it->selectors.begin(), it->selectors.end(), selector), selector);
}

void TopologyLabels::leave(LabelKeyId key, PodSelectorId selector) {
  const auto it = find(key);
  it->selectors.erase(std::lower_bound(it->selectors.begin(), it->selectors.end(), selector));
  if (it->selectors.empty()) labels_.erase(it);
}

LabelId TopologyLabels::value(LabelKeyId key, NodeId node) const {
  const auto it = find(key);
  return it == labels_.end() ? LabelId::none() : value_at(it->value_of, node.row());
}

std::span<const NodeId> TopologyLabels::nodes_of(LabelKeyId key, LabelId value) const {
  const auto it = find(key);
  if (it == labels_.end()) return {};
  const auto nodes = it->nodes.find(value);
  return nodes == it->nodes.end() ? std::span<const NodeId>() : std::span<const NodeId>(nodes->second);
}

}  // namespace ashlar
