// Counts: how many placed pods match a selector on each node, from which domains pods keep others away (required
// anti-affinity) and to which they draw them (preferred terms), updated with every placement, so that a gang sees its
// own members in a Trial. Cost: a pod O(selectors that ask for one of its labels); a new selector O(label sets that
// have what it asks for + placed pods) at most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "model/constraint.h"
#include "state/cluster/node_columns.h"
#include "state/counts/drawn.h"
#include "state/counts/kept_away.h"
#include "state/counts/selector_index.h"
#include "state/counts/topology_labels.h"

namespace ashlar {

struct NodeCount {
  NodeId node;
  std::uint32_t pods = 0;
  friend bool operator==(const NodeCount&, const NodeCount&) = default;
};

/// Pods by node, ascending; nodes without any are left out.
using NodeCounts = std::vector<NodeCount>;

class Counts : public KeptAway, public Drawn {
 public:
  // ---- rows ---------------------------------------------------------------------------------------------------------
  const SelectorIndex& index() const { return index_; }
  /// Whether a member or a constraint names the row. Such a row keeps its value.
  bool is_used(LabelSetId id) const { return id.row() < sets_.size() && sets_[id.row()].users > 0; }
  bool is_used(PodSelectorId id) const { return id.row() < selectors_.size() && selectors_[id.row()].users > 0; }
  void define(LabelSetId id, const LabelSet& set);
  void define(PodSelectorId id, const PodSelector& selector);
  /// Returns the nodes from which other pods are kept away now than before; valid until the next change.
  std::span<const NodeId> define(NamespaceId id, const NamespaceLabels& labels);
  void use(LabelSetId id, int by);
  /// A constraint begins (by = 1) or ceases (-1) to exist. No pod of a constraint that ceases is placed.
  void use(ConstraintId id, const Constraint& constraint, int by, const NodeColumns& nodes);

  // ---- questions ----------------------------------------------------------------------------------------------------
  std::span<const NodeCount> by_node(PodSelectorId id) const { return selectors_[id.row()].pods; }
  /// The constraints with a rule about the pods that it selects, ascending.
  std::span<const ConstraintId> constraints_of(PodSelectorId id) const {
    return id.row() < selectors_.size() ? std::span<const ConstraintId>(selectors_[id.row()].constraints)
                                        : std::span<const ConstraintId>();
  }
  /// The selectors that the pod matches which was added or removed last; valid until the next change.
  std::span<const PodSelectorId> matched() const { return found_; }
  std::uint32_t pods(PodSelectorId id, NodeId node) const;
  /// Placed pods that have the term.
  std::uint32_t owners(const PodTerm& term, NodeId node) const;
  /// What counting has cost since the state was made, at most: counts that were changed, by pods that were placed or
  /// taken off, and sets whose domains followed; each takes about 130 ns, and to compare kComparedOfACount selectors
  /// with a pod, or sets with a term of it, as much. Some of these are kept from one time to the next, which does not
  /// change this number.
  std::uint64_t work() const { return work_; }
  /// Fingerprint of all counts.
  std::uint64_t digest() const { return digest_; }

  /// One step of the history of a selector, for sums that follow it.
  struct Step {
    NodeId node;
    std::int32_t by = 0;
  };
  /// Grows when a selector is given another value, and with each step.
  std::uint64_t step_count(PodSelectorId id) const {
    return selectors_[id.row()].steps_before + selectors_[id.row()].steps.size();
  }
  bool remembers(PodSelectorId id, std::uint64_t since) const { return since >= selectors_[id.row()].steps_before; }
  std::span<const Step> steps_since(PodSelectorId id, std::uint64_t since) const {
    const Selector& s = selectors_[id.row()];
    return std::span(s.steps).subspan(since - s.steps_before);
  }

  // ---- changes; each returns the nodes from which other pods are kept away now than before, valid until the next ----
  std::span<const NodeId> add(MemberId member, LabelSetId labels, const Constraint& constraint, NodeId node) {
    return count(member, labels, constraint, node, 1);
  }
  /// Exactly undoes add with the same arguments.
  std::span<const NodeId> remove(MemberId member, LabelSetId labels, const Constraint& constraint, NodeId node) {
    return count(member, labels, constraint, node, -1);
  }
  /// The node has come, changed its labels or gone.
  std::span<const NodeId> note_facts(NodeId node, bool is_live, const NodeFacts& facts);

  /// Builds what is derived of label sets, selectors, namespaces and constraints; placed pods are then added again.
  void rebuild(std::span<const Constraint> constraints, const NodeColumns& nodes);
  /// Whether the counts, and from where pods are kept away, are the same. For checks.
  bool is_like(const Counts& other) const;

 private:
  friend struct StateFields;
  static constexpr std::size_t kComparedOfACount = 4;
  static constexpr std::size_t kMatchedKeptMax = 64, kWatchersKeptMax = 4096;
  static constexpr std::size_t kStepsMax = 128;  ///< of a selector; older ones are forgotten
  static constexpr std::uint32_t kNoPod = UINT32_MAX;

  /// Pods in the domains of one topology label.
  struct ValueCount {
    LabelId value;
    std::uint32_t pods = 0;
  };
  /// A term of placed pods about those that come after them.
  struct OwnTerm {
    PodSelectorId selector;
    LabelKeyId topology;
    std::int32_t weight = kKeepsAway;
  };
  static constexpr std::int32_t kKeepsAway = 0;
  template <class Visit>
  static void each_own_term(const Constraint& constraint, Visit&& visit) {
    for (const PodTerm& t : constraint.keeps_away) visit(OwnTerm{t.selector, t.topology});
    for (const PodPreference& t : constraint.prefers_pods)
      if (t.weight != 0) visit(OwnTerm{t.selector, t.topology, t.weight});
  }
  /// The placed pods that have a term.
  struct Owners {
    LabelKeyId topology;
    std::int32_t weight = kKeepsAway;
    std::uint32_t constraints = 0;  ///< that name the term
    NodeCounts pods;
    std::vector<ValueCount> by_value;  ///< ascending
  };
  struct Selector {
    std::uint32_t users = 0;                ///< terms of constraints
    std::vector<ConstraintId> constraints;  ///< that have one of them, ascending
    NodeCounts pods;
    std::vector<Owners> owners;        ///< by topology label and weight
    std::uint32_t owned = 0;           ///< terms of placed pods
    std::vector<LabelSetId> watchers;  ///< watched sets that it matches, ascending; of an earlier time if none is owned
    std::uint64_t watchers_at = 0;     ///< the edition of what is watched for which they are kept; 0: none is owned
    std::vector<Step> steps;
    std::uint64_t steps_before = 0;
  };
  /// What is kept of a label set.
  struct Set {
    std::uint32_t users = 0;        ///< members and constraints
    std::uint32_t constraints = 0;  ///< that are seen as it: the set is watched
    std::uint32_t pods = 0;
    std::uint32_t first = kNoPod;        ///< of its placed pods
    std::vector<PodSelectorId> matched;  ///< by these selectors, where they are few
    std::uint64_t matched_at = 0;        ///< the edition of the index for which they are kept
  };
  /// A placed pod, in the list of its set.
  struct Pod {
    LabelSetId set;
    NodeId node;
    std::uint32_t next = kNoPod, before = kNoPod;
  };

  std::span<const NodeId> count(MemberId member, LabelSetId labels, const Constraint& constraint, NodeId node, int by);
  void find_selectors_of(LabelSetId set);
  std::uint64_t watch_edition() const { return index_.edition() + watch_changes_; }
  void enter(MemberId member, LabelSetId labels, NodeId node);
  void leave(MemberId member);
  void step(PodSelectorId id, NodeId node, int by);
  void count_owner(const OwnTerm& term, NodeId node, int by);
  void count_in_domain(PodSelectorId id, Owners& owners, LabelId value, std::uint32_t pods, int by);
  void flip(LabelKeyId topology, LabelId value);
  Owners* find_owners(const OwnTerm& term);
  const Owners* find_owners(const OwnTerm& term) const;
  void use(PodSelectorId selector, ConstraintId by_constraint, int by);
  void watch(LabelSetId id);
  void unwatch(LabelSetId id);
  void link(PodSelectorId selector, LabelSetId set, int by);
  template <class Use>
  void each_owned_of(LabelSetId set, Use&& use);
  void begin_owned(PodSelectorId id);
  void end_owned(PodSelectorId id);
  void tally(Selector& selector, std::span<const LabelSetId> sets);
  std::uint64_t cell(const OwnTerm& term, const NodeCount& count) const;
  void put(NodeCounts& counts, const OwnTerm& term, NodeId node, std::int64_t by);

  SelectorIndex index_;
  TopologyLabels topology_;
  std::vector<Set> sets_;
  std::vector<Selector> selectors_;
  std::vector<Pod> pods_;  ///< by member
  std::uint32_t placed_ = 0;
  std::vector<std::uint32_t> owned_at_;  ///< by node, of terms that its pods own: one without has nothing to move
  std::vector<PodSelectorId> owned_;     ///< selectors of terms that placed pods have, ascending
  std::uint64_t digest_ = 0;
  std::uint64_t work_ = 0;
  std::uint64_t watch_changes_ = 0;  ///< sets that are watched from now on, or no longer
  std::vector<NodeId> flipped_;
  std::vector<PodSelectorId> found_;  ///< scratch
  std::vector<LabelSetId> found_sets_;
  std::vector<std::uint32_t> by_node_;
};

}  // namespace ashlar
