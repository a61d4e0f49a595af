// new_nodes: empty nodes that a waiting job might be given: which nodes they could be like, and whether the job starts
// beside this many of them. Rules about other pods judge a new node by labels of its own: no pod is on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/explain/rehearsal.h"
#include "model/node.h"

namespace ashlar {

/// What a new node has of its own.
struct OwnLabels {
  std::vector<LabelKeyId> keys;  ///< labels of which each new node has another value than any node
  std::uint32_t first = 0;       ///< those from there on are values that no node has, and that nothing asks for
};
/// `names`: labels that name a single node. O(labels of nodes and constraints).
OwnLabels own_labels(const Cluster& cluster, std::span<const LabelKeyId> names);

/// Those of these nodes like which a new one would be large enough for the member, and allowed by everything but the
/// pods that it keeps away from, is near to or is spread with: one for each combination of their domains, at most
/// kTemplatesMax. Those that are open to it now come first. Of the others of a combination the one with most devices is
/// meant, or with fewest if the member requests none. O(nodes x rules).
std::vector<NodeId> templates_for(const State& state, const MemberSpec& member, const std::vector<NodeId>& nodes,
                                  const OwnLabels& own);
inline constexpr std::size_t kTemplatesMax = 8;

/// The labels, without those in `own`, by whose domains placed pods are kept apart from the member: its own required
/// anti-affinity, that of placed pods, and spreads over a least number of domains. A node in a new domain of one may
/// help. Ascending.
std::vector<LabelKeyId> labels_that_part(const Cluster& cluster, const Constraint& constraint, const OwnLabels& own);

/// Empty nodes of the copy that are like others, taken away again at the end.
class NewNodes {
 public:
  NewNodes(Rehearsal& r, std::vector<NodeFacts> kinds, const OwnLabels& own);
  NewNodes(const NewNodes&) = delete;
  ~NewNodes() { shrink_to(0); }
  /// Whether the job starts beside this many of each kind.
  bool start_with(std::span<const std::int64_t> counts);

 private:
  NodeId next() const { return NodeId(first_ + static_cast<std::uint32_t>(there_.size())); }
  void shrink_to(std::size_t count);

  Rehearsal& r_;
  std::uint32_t first_;
  std::vector<NodeFacts> kinds_;
  OwnLabels own_;
  std::vector<std::size_t> there_;  ///< the kind of each
};

}  // namespace ashlar
