#include "live/track/nodes/node_trouble.h"

#include "kubeclient/bind_outcome.h"

namespace ashlar::kube {

std::string node_trouble(const Tables& t, NodeId node) {
  const NodeClosing closing = t.closing_of(node);
  if (!closing.problem.empty()) return bounded_words(closing.problem.view(), kDetailMax);
  if (closing.unread_pods == 0 && !closing.has_unanswered) return {};
  for (PodSlot slot = 0; slot < t.pods.slots(); ++slot) {
    const PodRecord& r = t.pods[slot];
    if (closing.has_unanswered && r.unanswered_node == t.names.nodes.name(node))
      return "it is not known whether pod " + r.ns.str() + "/" + r.name.str() +
             " is bound to it: the node was recreated before the binding was answered";
    if (r.closes_node && r.phase == PodRecord::Phase::kBound && r.node == node)
      return "pod " + r.ns.str() + "/" + r.name.str() + ": " + r.hold_detail.str();
  }
  return {};
}

std::string closed_nodes_text(const Tables& t) {
  NodeId first;
  std::size_t count = 0;
  for (std::size_t row = 0; row < t.closings.size(); ++row) {
    if (!t.closings[row].is_closed()) continue;
    if (count++ == 0) first = NodeId(row);
  }
  if (count == 0) return "none";
  std::string text = "node " + t.names.nodes.name(first).str() + " (" + node_trouble(t, first) + ")";
  if (count > 1) text += " and " + std::to_string(count - 1) + " more";
  return text;
}

}  // namespace ashlar::kube
