// Workload: a job as submitted. A gang of members, or a single pod as a gang of one; its queue, priority and order, and
// what is known of its duration. Members are rows of their own, since pods are bound, lost and replaced one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"

namespace ashlar {

/// What is known of a job's run time. Unknown is Millis::max().
struct Estimate {
  Millis p50 = Millis::max();
  Millis p90 = Millis::max();
  bool is_known() const { return p50 != Millis::max(); }
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// One pod of a job: its row, needs, allowed nodes and labels.
struct MemberSpec {
  MemberId member;
  DemandId demand;
  ConstraintId constraint;
  LabelSetId labels = {};  ///< as which it is counted where it is placed; none = it is not counted
  friend bool operator==(const MemberSpec&, const MemberSpec&) = default;
};

/// A job. All-or-nothing at `members_min`; members above it are elastic: surplus, which gives way to every minimum.
/// `members_min` 0: any member may start by itself and none is surplus, as in a gang that has run and gets lost members
/// back. `members` is in rank order.
struct Workload {
  JobId job;
  QueueId queue{0u};
  std::int32_t priority = 0;
  std::uint32_t members_min = 1;
  LevelId within;  ///< hard: all members in one domain of this level; none = anywhere
  LevelId prefer;  ///< soft: the same, if possible
  Millis submitted;
  Estimate estimate;
  bool is_ours = true;  ///< false: another scheduler's, or a static pod; accounted, never decided
  /// free number for order policies that take one from the trace (QSSF's noisy estimate in ms)
  std::int64_t order_hint = 0;
  std::vector<MemberSpec> members;
};

}  // namespace ashlar
