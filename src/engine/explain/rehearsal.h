// Rehearsal: a waiting job on a copy of the state, where it and its limits can be changed. Whether it would start then
// is tried by the engine's own steps; tries are counted, and each costs a placement.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/explain/explain.h"
#include "engine/reserve/reservation.h"

namespace ashlar {

/// How the job is changed before it is tried.
struct ChangedJob {
  std::optional<LevelId> within;           ///< in place of its own
  std::uint32_t members_max = UINT32_MAX;  ///< at most this many of its waiting members, the first by rank
  std::int32_t devices_max = INT32_MAX;    ///< no member requests more whole devices
  static constexpr std::uint32_t kNoGroup = UINT32_MAX - 1, kEachGroup = UINT32_MAX;
  std::uint32_t free_group = kNoGroup;   ///< this group, or each, has no domain of its own
  std::uint32_t small_group = kNoGroup;  ///< members_max is of this group; the others have their minimum and no surplus
};

/// The job on a copy of the state, where it can be changed and tried.
class Rehearsal {
 public:
  Rehearsal(const State& state, const Engine& engine, JobId job, ResourceId counts_devices);

  State& state() { return state_; }
  JobId job() const { return job_; }
  std::uint32_t needed() const { return needed_; }
  const Workload& original() const { return original_; }
  bool is_used_up() const { return tries_ >= tries_max_; }
  int tries() const { return tries_; }
  std::size_t placed() const { return placed_.size(); }
  /// Of one group of a gang.
  std::size_t placed_of(std::uint32_t group) const;
  /// The needed members unchanged, those with most devices first.
  std::vector<MemberSpec> needed_members() const;
  ResourceId counts_devices() const { return counts_devices_; }

  /// Whether it would start with this change.
  bool starts(const ChangedJob& change);
  /// Whether it would start unchanged if no limit applied but those by device class.
  bool starts_without_limits();
  /// The changed job, in the copy.
  void become(const ChangedJob& change);

  /// The limits by device class that it would exceed where it fits best without them, and by how much.
  std::vector<Remedy::Limit> class_limits_in_the_way();
  /// Whether it would start unchanged if these limits were raised so far.
  bool starts_with(std::span<const Remedy::Limit> raised);

 private:
  /// By `times` what is missing.
  void raise(const Remedy::Limit& limit, std::int64_t times);
  /// By the engine's own steps: anywhere, then on what the reservations leave over.
  bool is_placed_beside_reservations();
  /// The reservations of queue heads ahead of it: as the engine has them, or computed here if it has not made them yet.
  void reserve_for_those_ahead();
  std::uint32_t members_within_quota_or_needed() const;
  DemandId with_devices(DemandId demand, std::int32_t most);
  /// Those of its waiting members that are left.
  using Members = std::vector<std::pair<MemberId, Member>>;
  Members kept_members(const ChangedJob& change) const;
  /// The job's groups as changed, if those waiting members are left; a row of the copy.
  GangSpecId groups_of(const ChangedJob& change, const Members& kept);

  State state_;
  const Engine& engine_;
  FitTables fit_tables_;
  JobId job_;
  ResourceId counts_devices_;
  Workload original_;
  GangSpecId changed_spec_;  ///< a row that the state does not have
  std::optional<PendingQueue::Entry> entry_;
  std::vector<Reservation> ahead_;
  Members placed_, waiting_;
  std::uint32_t needed_ = 0;
  std::map<std::pair<DemandId, std::int32_t>, DemandId> fewer_;
  int tries_ = 0, tries_max_ = 0;
};

}  // namespace ashlar
