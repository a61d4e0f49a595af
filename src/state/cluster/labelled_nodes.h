// LabelledNodes: the nodes with each value of one label, so that a constraint which names few nodes (as the pods of a
// DaemonSet do) is compared with these only. Made anew, O(nodes log nodes), when it is asked for another label or the
// facts of a node have changed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/constraint.h"
#include "model/node.h"

namespace ashlar {

/// What every node that a constraint selects has: one of these values of the label.
struct NeededLabel {
  /// More are not looked for one by one.
  static constexpr std::size_t kValuesMax = 16;
  LabelKeyId key;
  std::vector<LabelId> values;  ///< ascending, each once
};
/// By the selector, else by required node affinity if each of its terms needs the same label. None: there is no such
/// label, or it may have too many values.
std::optional<NeededLabel> needed_label(const Constraint& constraint);

class LabelledNodes {
 public:
  /// Calls `visit(node)` for those that a constraint with a needed label may select, each once, and returns how many
  /// they are; nothing if they may be any.
  template <class Visit>
  std::optional<std::uint64_t> each_needed(const Constraint& constraint, const std::vector<NodeFacts>& facts,
                                           Visit&& visit) {
    const std::optional<NeededLabel> needed = needed_label(constraint);
    if (!needed) return std::nullopt;
    const Label& label = by(needed->key, facts);
    std::uint64_t count = 0;
    for (const LabelId value : needed->values) {
      const auto first = std::ranges::lower_bound(label.nodes, value, {}, &Row::first);
      const auto last = std::ranges::upper_bound(label.nodes, value, {}, &Row::first);
      for (auto at = first; at != last; ++at, ++count) visit(at->second);
    }
    return count;
  }
  void note_labels_changed() { ++edition_; }

 private:
  using Row = std::pair<LabelId, NodeId>;
  struct Label {
    LabelKeyId key;
    std::uint64_t made_at = 0;
    std::vector<Row> nodes;  ///< ascending
  };
  const Label& by(LabelKeyId key, const std::vector<NodeFacts>& facts);

  std::uint64_t edition_ = 1;
  std::array<Label, 2> labels_;  ///< the last two: names and zones, say
};

}  // namespace ashlar
