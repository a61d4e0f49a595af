// FitTable: for one demand and one constraint, how many such members each node could take now and which node is best.
// Each is kept up to date from the cluster's change log when it is asked for, so what nobody asks costs nothing.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/place/tables/best_nodes.h"
#include "engine/place/tables/fit_counts.h"
#include "engine/place/tables/node_rating.h"

namespace ashlar {

class FitTable {
 public:
  /// `changes` may be shared by all tables of one state.
  FitTable(const Profile& profile, DemandId demand, ConstraintId constraint,
           std::shared_ptr<GroupChanges> changes = std::make_shared<GroupChanges>())
      : rating_(profile, demand, constraint), changes_(std::move(changes)) {}

  /// For a decision; `draw` matters only to policies that draw. Drops what was computed for another value of a row, or
  /// beside another limit.
  void open(const State& state, std::uint64_t draw, const FitsLimit* limit = nullptr);
  /// Brings the counts up to date.
  void count(const State& state) { counts_.refresh(state, rating_); }

  /// The best node by all tiers, ties to the lowest row; none if nothing fits.
  NodeId best(const State& state);
  /// The tiers' points as one number: higher is better, 0 = does not fit. Domain tiers are not in it.
  std::uint64_t key(const State& state, NodeId n) { return rating_.rate(state, n, draw_); }
  /// The same of several nodes, in ascending order.
  void keys(const State& state, std::span<const NodeId> nodes, std::span<std::uint64_t> keys) {
    rating_.rate(state, nodes, draw_, keys);
  }
  ConstraintId constraint() const { return rating_.constraint(); }  // for tests
  NodeView node_view(const State& state) const { return rating_.view(state, draw_); }

  // ---- after count() in the same state ------------------------------------------------------------------------------
  std::uint16_t fits(NodeId n) const { return counts_.fits()[n.row()]; }
  std::span<const std::uint16_t> fits() const { return counts_.fits(); }
  /// The best of these nodes, ties to the first; none if nothing fits.
  NodeId best_among(const State& state, std::span<const NodeId> nodes);
  /// Members that fit in each domain of a level, by DomainId.
  std::span<const std::uint32_t> room(const State& state, LevelId level) { return counts_.room(state, level); }
  /// Points of preferences about other pods by node, see NodeView; empty: there are none.
  std::span<const Points> preferences() const { return preferences_; }
  /// Those points of the node for each member that it could take; 0 without such preferences.
  std::uint64_t wishes_met(NodeId n) const {
    return preferences_.empty() ? 0 : static_cast<std::uint64_t>(preferences_[n.row()]) * fits(n);
  }
  std::uint64_t room_everywhere() const { return counts_.total(); }

  /// Nodes rated so far.
  std::uint64_t rated_count() const { return rating_.rated_count(); }  // for tests
  /// All changes of the cluster since then were undone exactly.
  void pass_over_undone_changes(const State& state, std::uint64_t since);
  /// Whether demand and constraint are those that it was computed for.
  bool is_of(const State& state) const { return edition_ == rating_.edition(state); }

 private:
  /// Nodes that are compared one by one.
  static constexpr std::size_t kFewNodes = 16;
  bool is_for_few(const State& state);
  NodeId best_of_few(const State& state);
  void follow_company(const State& state);
  void follow_preferences(const State& state);
  /// What they are worth is another than it was on some nodes.
  void note_preferences(const State& state);

  NodeRating rating_;
  FitCounts counts_;
  BestNodes best_;
  std::shared_ptr<GroupChanges> changes_;
  std::uint64_t draw_ = 0;
  std::uint64_t edition_ = 0;  ///< of demand and constraint
  std::vector<std::uint64_t> limit_editions_;
  std::uint64_t redefinitions_seen_ = UINT64_MAX;
  std::uint64_t company_seen_ = 0;       ///< flips of nodes by the constraint's rules about other pods
  std::vector<Points> preferences_;      ///< by node, see NodeView; empty: none of them is about other pods
  std::vector<Points> preferences_now_;  ///< scratch
  std::vector<NodeId> few_;              ///< the nodes that the constraint allows, where they are few
  /// Versions of the sums and of the nodes with room, of which they were made.
  std::pair<std::uint64_t, std::uint64_t> preferences_of_;
};

/// The tables in use; the least recently used are dropped beyond a limit. Which tables are kept never changes a
/// decision, only its cost.
class FitTables {
 public:
  static constexpr std::size_t kBytesMax = 96u << 20;  ///< all tables together

  /// While it lives, the tables are those of the nodes beside what the limit keeps for others.
  class Limited {
   public:
    Limited(FitTables& tables, const FitsLimit& limit) : tables_(tables) { tables_.limit_ = &limit; }
    ~Limited() { tables_.limit_ = nullptr; }
    Limited(const Limited&) = delete;
    Limited& operator=(const Limited&) = delete;

   private:
    FitTables& tables_;
  };

  explicit FitTables(const Profile& profile, std::size_t bytes_max = kBytesMax)
      : profile_(&profile), bytes_max_(bytes_max) {}
  FitTables(FitTables&&) = default;
  /// A copy begins empty: tables are made again when they are needed.
  FitTables(const FitTables& other) : FitTables(*other.profile_, other.bytes_max_) {}
  /// The table. The reference holds until the next call.
  FitTable& get(const State& state, DemandId demand, ConstraintId constraint, std::uint64_t draw);
  /// The same with its counts up to date.
  FitTable& counted(const State& state, DemandId demand, ConstraintId constraint, std::uint64_t draw);
  /// All changes of the cluster since then were undone exactly: tables that have not seen them need not look at them.
  /// Cost: O(tables used since then + changes that they have seen).
  void pass_over_undone_changes(State& state, std::uint64_t since);
  void forget_all();
  /// Drops tables of rows that were reassigned. Cost: O(tables).
  void forget_outdated(const State& state);
  std::size_t size() const { return tables_.size(); }
  /// What decisions have looked at so far, in nodes for one kind of members, about 65 ns each: each table asked for
  /// counts as some, whatever is kept of it, and what is looked at besides is noted. It is the same in any copy.
  std::uint64_t looks() const { return looks_; }
  void note_looks(std::uint64_t nodes) { looks_ += nodes; }

 private:
  struct Kind {
    DemandId demand;
    ConstraintId constraint;
    bool is_limited = false;
    bool operator==(const Kind&) const = default;
  };
  struct KindHash {
    std::size_t operator()(const Kind& kind) const noexcept {
      return (kind.demand.value * 0x9e3779b97f4a7c15ull ^ kind.constraint.value) * 2 + (kind.is_limited ? 1 : 0);
    }
  };
  struct Slot {
    FitTable table;
    std::list<Kind>::iterator use;
    std::uint64_t used_at = 0;  ///< count of the cluster's changes at its last use, at most
  };
  using Tables = std::unordered_map<Kind, Slot, KindHash>;
  void forget(Tables::iterator it);

  const Profile* profile_;
  std::size_t bytes_max_;
  const FitsLimit* limit_ = nullptr;
  std::shared_ptr<GroupChanges> changes_ = std::make_shared<GroupChanges>();
  Tables tables_;
  std::list<Kind> uses_;  ///< the last used first
  std::uint64_t looks_ = 0;
};

}  // namespace ashlar
