// jobs: jobs and members as rows: what waits, and what is placed where. A job is a gang of members, and a single pod a
// gang of one; members form a list in rank order, since pods are added and removed one by one. Rows are reused after
// Ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"
#include "model/demand.h"
#include "model/workload.h"

namespace ashlar {

struct Member {
  enum class Phase : std::uint8_t { kAbsent, kWaiting, kAssumed, kBound };
  JobId job;
  DemandId demand;
  ConstraintId constraint;
  LabelSetId labels;   ///< as which it is counted where it is placed; none = it is not counted
  NodeId node;         ///< where it is placed; none while it waits
  DeviceMask devices;  ///< the devices it holds there
  MemberId next;       ///< next rank of the same job
  Phase phase = Phase::kAbsent;
  bool is_placed() const { return !node.is_none(); }
};

struct Job {
  QueueId queue;
  std::int32_t priority = 0;
  std::uint32_t members_min = 0;
  std::uint32_t members_present = 0;
  std::uint32_t members_placed = 0;
  LevelId within, prefer;
  MemberId first, last;
  bool is_live = false;
  bool is_ours = true;
  /// capacity that is held: belongs to no queue and counts against no quota, since what runs there later does
  bool is_hold = false;
  bool is_in_backlog = false;
  /// at least members_min were placed together; has an end on the timeline while it lasts
  bool is_started = false;
  bool is_each_needed = false;  ///< no member is surplus, see Workload::members_min
  std::uint32_t evictions = 0;
  std::uint64_t backlog_seq = 0;  ///< order of entering the backlog, monotonic
  std::uint64_t start_seq = 0;    ///< order of starting, monotonic
  Millis submitted;
  Millis queued_at;             ///< when it took its position in the order: submitted, or evicted since
  Estimate estimate;            ///< of the whole run
  std::int64_t order_hint = 0;  ///< see Workload::order_hint
  Millis started_at;
  Millis remaining = Millis::max();  ///< still to run when it last started or stopped; max = unknown
  Millis served;                     ///< time run before the last start
  /// entry on the timeline while started: by the median, in the past if the job outlasts it
  Millis end_at;
  std::int64_t devices_total = 0;  ///< devices of all members, fractions rounded up per member

  /// This many of the waiting members must be placed together next: up to the minimum, then one by one.
  std::uint32_t members_needed() const { return members_min > members_placed ? members_min - members_placed : 1; }
  /// True if only members above the minimum are left to place. They are the first to give way.
  bool waits_for_surplus() const { return !is_each_needed && members_placed >= members_min; }
  /// When it is expected to end if it starts now, by the median; Millis::max() if unknown.
  Millis end_if_started(Millis now) const {
    const Millis left = remaining != Millis::max() ? remaining : estimate.p90;
    return left == Millis::max() ? Millis::max() : now + left;
  }
  /// By when it will have ended in nine of ten cases if it starts now: later by the difference of p90 and p50. Without
  /// a p90 the same as above.
  Millis late_end_if_started(Millis now) const {
    const Millis end = end_if_started(now);
    const bool has_both = remaining != Millis::max() && estimate.is_known() && estimate.p90 != Millis::max();
    return has_both && end != Millis::max() && estimate.p90 > estimate.p50 ? end + (estimate.p90 - estimate.p50) : end;
  }
  /// The expected end of a started job, always after `now`. One that outlasts its median is expected by its p90; one
  /// that outlasts that too is given 1 s more, doubled each time that it has not ended by then (expired predictions are
  /// put off in growing steps, as in Tsafrir, Etsion, Feitelson, Backfilling using system-generated predictions, TPDS
  /// 2007).
  Millis expected_end(Millis now) const {
    if (end_at > now) return end_at;
    const Millis late = late_end_if_started(started_at);
    if (late > now) return late;
    const Millis lacking = now - late;  // more than any step can make up at the end of time
    Millis more(1000);
    while (more <= lacking) {
      if (more.value > Millis::max().value / 2) return Millis::max();
      more = more + more;
    }
    return more > Millis::max() - late ? Millis::max() : late + more;
  }
  /// The expected duration of the whole run has changed; time already run, or lost, stays as it is.
  void revise(const Estimate& revised) {
    if (!revised.is_known())
      remaining = Millis::max();
    else if (estimate.is_known() && remaining != Millis::max())
      remaining = std::max(Millis(0), remaining + (revised.p50 - estimate.p50));
    else
      remaining = std::max(Millis(0), revised.p50 - served);
    estimate = revised;
  }
};

}  // namespace ashlar
