// TopologyLabels: the nodes of each value of the topology labels that terms name. Cost: a column per label in use; a
// change of a node O(labels in use).
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/id.h"
#include "state/cluster/node_columns.h"
#include "state/counts/kept_away.h"

namespace ashlar {

class TopologyLabels {
 public:
  struct Label {
    LabelKeyId key;
    std::vector<PodSelectorId> selectors;          ///< of the terms that name it, ascending
    std::vector<LabelId> value_of;                 ///< by node
    std::map<LabelId, std::vector<NodeId>> nodes;  ///< by value, ascending
  };
  /// A term names the label from now on, or no longer.
  void use(LabelKeyId key, PodSelectorId selector, const NodeColumns& nodes);
  void leave(LabelKeyId key, PodSelectorId selector);

  LabelId value(LabelKeyId key, NodeId node) const;
  std::span<const NodeId> nodes_of(LabelKeyId key, LabelId value) const;
  /// Labels in use, ascending by key.
  std::vector<Label>& labels() { return labels_; }
  /// Puts the node under this value of the label.
  static void put(Label& label, NodeId node, LabelId value);

 private:
  std::vector<Label>::iterator find(LabelKeyId key);
  std::vector<Label>::const_iterator find(LabelKeyId key) const;

  std::vector<Label> labels_;
};

}  // namespace ashlar
