// Workload: a job as submitted. A gang of members, or a single pod as a gang of one; its queue, priority and order, and
// what is known of its duration. Members are rows of their own, since pods are bound, lost and replaced one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"
#include "model/stop_terms.h"

namespace ashlar {

/// What is known of a job's run time: half of the jobs of its kind exceed p50, one in ten exceeds p90. Unknown is
/// Millis::max(); where only one is known, it stands for both.
struct Estimate {
  Millis p50 = Millis::max();
  Millis p90 = Millis::max();
  bool is_known() const { return p50 != Millis::max(); }
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// One pod of a job: its row, needs, allowed nodes, labels and group.
struct MemberSpec {
  MemberId member;
  DemandId demand;
  ConstraintId constraint;
  LabelSetId labels = {};   ///< as which it is counted where it is placed; none = it is not counted
  std::uint32_t group = 0;  ///< its number in the job's GangSpec
  friend bool operator==(const MemberSpec&, const MemberSpec&) = default;
};

/// A job. All-or-nothing at `members_min`; members above it are elastic: surplus, which gives way to every minimum.
/// `members_min` 0: any member may start by itself and none is surplus, as in a gang that has run and gets lost members
/// back. `members` is in rank order. With groups it starts when each has its own minimum: then `members_min` says no
/// more than whether it is 0.
struct Workload {
  JobId job;
  QueueId queue{0u};
  std::int32_t priority = 0;
  std::uint32_t members_min = 1;
  /// Whose it is, a hash of the name of a namespace for example; 0: not known. Searches in vain for jobs of one tenant
  /// have a part of the time.
  std::uint32_t tenant = 0;
  LevelId within;   ///< hard: all members in one domain of this level; none = anywhere
  LevelId prefer;   ///< soft: the same, if possible
  GangSpecId spec;  ///< its groups; none = one group without a domain of its own
  Millis submitted;
  /// Since when it has run, if it ran before it was submitted here; max() = from when it is placed
  Millis runs_since = Millis::max();
  Millis saved_at = Millis::max();  ///< when its last checkpoint was complete; max() = it has none
  Estimate estimate;
  StopTerms stopping;
  bool is_ours = true;  ///< false: another scheduler's, or a static pod; accounted, never decided
  /// free number for order policies that take one from the trace (QSSF's noisy estimate in ms)
  std::int64_t order_hint = 0;
  std::vector<MemberSpec> members;
};

}  // namespace ashlar
