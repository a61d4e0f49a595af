#include "state/counts/label_domains.h"

#include "state/counts/kept_away.h"

namespace ashlar {

std::shared_ptr<const LabelDomains::Domains> LabelDomains::of(LabelKeyId label, const NodeColumns& nodes,
                                                              std::uint64_t edition) {
  if (labels_.size() >= kLabelsMax && !labels_.contains(label)) labels_.clear();
  std::shared_ptr<const Domains>& kept = labels_[label];
  if (kept && kept->edition == edition) return kept;
  const auto made = std::make_shared<Domains>();
  Domains& domains = *made;
  domains.edition = edition;
  domains.of_node.assign(nodes.rows(), kNone);
  for (std::size_t n = 0; n < nodes.rows(); ++n) {
    if (!nodes.is_live(NodeId(n))) continue;
    const LabelId value = value_of(nodes.facts(NodeId(n)), label);
    if (value.is_none()) continue;
    const auto [domain, is_first] =
        domains.of_value.try_emplace(value.value, static_cast<std::uint32_t>(domains.of_value.size()));
    if (is_first) domains.nodes.emplace_back();
    domains.of_node[n] = domain->second;
    domains.nodes[domain->second].emplace_back(n);
  }
  return kept = made;
}

}  // namespace ashlar
