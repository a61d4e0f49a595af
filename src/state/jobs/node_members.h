// NodeMembers: the members that are placed on each node, as lists linked through them. Cost: O(1) to add or remove one.
#pragma once

#include <cstddef>
#include <vector>

#include "base/id.h"

namespace ashlar {

class NodeMembers {
 public:
  /// Ascending. Cost: O(members of the node).
  std::vector<MemberId> on(NodeId node) const;
  /// Calls `visit(MemberId)` for the same in no order.
  template <class Visit>
  void each_on(NodeId node, Visit&& visit) const {
    if (node.row() >= first_.size()) return;
    for (MemberId m = first_[node.row()]; !m.is_none(); m = links_[m.row()].next) visit(m);
  }
  void add(MemberId member, NodeId node);
  void remove(MemberId member, NodeId node);
  void clear() {
    first_.clear();
    links_.clear();
  }

 private:
  struct Link {
    MemberId before, next;
  };
  std::vector<MemberId> first_;  ///< [node] of a list, in no order
  std::vector<Link> links_;      ///< [member]
};

}  // namespace ashlar
