// LabelDomains: the domains of topology labels, numbered, with their nodes. Made anew for each label that is asked for
// when labels of nodes have changed. Cost: O(nodes x log labels) then, else a search among the labels kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/grown.h"
#include "base/id.h"
#include "state/cluster/node_columns.h"

namespace ashlar {

class LabelDomains {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Domains {
    std::uint64_t edition = 0;
    std::vector<std::uint32_t> of_node;      ///< kNone: the node does not have the label
    std::vector<std::vector<NodeId>> nodes;  ///< by domain, ascending
    std::unordered_map<std::uint32_t, std::uint32_t> of_value;

    /// kNone also for a node that is not known.
    std::uint32_t at(NodeId node) const { return value_at(of_node, node.row(), kNone); }
    /// kNone: no node has the value.
    std::uint32_t of(LabelId value) const {
      const auto it = of_value.find(value.value);
      return it == of_value.end() ? kNone : it->second;
    }
  };
  /// `edition` is another number whenever labels of nodes, or which nodes there are, have changed.
  std::shared_ptr<const Domains> of(LabelKeyId label, const NodeColumns& nodes, std::uint64_t edition);

 private:
  static constexpr std::size_t kLabelsMax = 256;  ///< beyond, all are dropped and made again when asked for
  std::map<LabelKeyId, std::shared_ptr<const Domains>> labels_;
};

}  // namespace ashlar
