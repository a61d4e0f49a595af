// FitTable: for one demand and one constraint, how many such members each node could take now and how good each node
// is, kept up to date from the cluster's change log. Finding the best node then costs one number per topology group,
// and the capacity of a domain one sum. A view costs 10 bytes per node; a refresh O(nodes changed since the last use).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "policy/profile.h"
#include "state/state.h"

namespace ashlar {

class FitTable {
 public:
  FitTable(const Profile& profile, DemandId demand, ConstraintId constraint);

  /// Brings fits and keys up to date. `draw` matters only to policies that draw.
  void refresh(State& state, std::uint64_t draw);

  std::uint16_t fits(NodeId n) const { return fits_[n.row()]; }
  std::span<const std::uint16_t> fits() const { return fits_; }
  /// The tiers' points as one number: higher is better, 0 = does not fit. Domain tiers are not in it.
  std::uint64_t key(NodeId n) const { return keys_[n.row()]; }
  /// The changes after this many were undone exactly, and it was refreshed since or has not seen them.
  void rewind(std::uint64_t change_count) { cursor_ = std::min(cursor_, change_count); }
  std::uint64_t cursor() const { return cursor_; }
  /// The best node by all tiers, ties to the lowest row; none if nothing fits.
  NodeId best(const State& state);
  /// Members that fit in each domain of a level, by DomainId.
  std::span<const std::uint32_t> room(const State& state, LevelId level);
  std::uint64_t room_everywhere() const { return total_; }
  NodeView node_view(const State& state, std::uint64_t draw) const;
  /// Whether demand and constraint are unchanged since the last refresh.
  bool is_of(const State& state) const { return edition_ == state.edition(demand_, constraint_); }

 private:
  void compute(State& state, NodeRange rows, std::uint64_t draw);
  void start_anew(State& state, std::uint64_t draw);
  void update(State& state, NodeId n, std::uint64_t draw);
  void find_group_best(const State& state, std::size_t group);
  void build_rooms(const State& state);

  const Profile* profile_;
  DemandId demand_;
  ConstraintId constraint_;
  bool is_drawn_ = false;            ///< a policy of the profile draws: nothing can be kept
  std::uint64_t cursor_ = 0;         ///< change count of the cluster up to which this is current
  std::uint64_t shape_version_ = 0;  ///< of the topology
  std::uint64_t edition_ = 0;        ///< of demand and constraint
  std::uint64_t redefinitions_seen_ = 0;
  bool is_fresh_ = false;
  bool has_rooms_ = false;
  std::uint64_t total_ = 0;
  std::vector<std::uint16_t> fits_;
  std::vector<std::uint64_t> keys_;
  std::vector<NodeId> group_best_;
  std::vector<std::uint8_t> is_group_stale_;
  std::vector<std::vector<std::uint32_t>> rooms_;  ///< [level][domain]
  std::vector<std::uint32_t> stamp_;               ///< per node: last refresh that recomputed it
  std::uint32_t refresh_number_ = 0;
  std::vector<Points> points_;  ///< scratch
  std::vector<std::uint16_t> fits_scratch_;
};

/// The views in use; the least recently used are dropped beyond a limit. Which views are kept never changes a decision,
/// only its cost.
class FitTables {
 public:
  static constexpr std::size_t kBytesMax = 96u << 20;  ///< all views together; a view costs about 14 bytes a node

  explicit FitTables(const Profile& profile, std::size_t bytes_max = kBytesMax)
      : profile_(&profile), bytes_max_(bytes_max) {}
  FitTables(FitTables&&) = default;
  /// A copy begins empty: tables are made again when they are needed.
  FitTables(const FitTables& other) : FitTables(*other.profile_, other.bytes_max_) {}
  /// The view, refreshed. The reference holds until the next call.
  FitTable& get(State& state, DemandId demand, ConstraintId constraint, std::uint64_t draw);
  /// The view if it exists, not refreshed.
  FitTable* find(DemandId demand, ConstraintId constraint);
  /// All changes of the cluster since then were undone exactly: views that have not seen them need not look at them.
  /// Cost: O(views + changes seen).
  void pass_over_undone_changes(State& state, std::uint64_t since);
  void forget_all() { fit_tables_.clear(); }
  /// Drops views of rows that were reassigned. Cost: O(views).
  void forget_outdated(const State& state);
  std::size_t size() const { return fit_tables_.size(); }

 private:
  struct Slot {
    std::unique_ptr<FitTable> view;
    std::uint64_t last_use = 0;
  };
  const Profile* profile_;
  std::size_t bytes_max_;
  std::map<std::pair<DemandId, ConstraintId>, Slot> fit_tables_;
  std::uint64_t uses_ = 0;
};

}  // namespace ashlar
