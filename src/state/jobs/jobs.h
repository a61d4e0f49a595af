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
#include "state/time/timeline.h"

namespace ashlar {

struct Member {
  enum class Phase : std::uint8_t { kAbsent, kWaiting, kAssumed, kBound };
  JobId job;
  DemandId demand;
  ConstraintId constraint;
  LabelSetId labels;        ///< as which it is counted where it is placed; none = it is not counted
  NodeId node;              ///< where it is placed; none while it waits
  std::uint16_t group = 0;  ///< its number in the job's GangSpec
  Phase phase = Phase::kAbsent;
  bool is_leaving = false;  ///< it waits, and its pod is not gone from where it was, see Ledger::give_way
  DeviceMask devices;       ///< the devices it holds there
  DeviceGrantsId grants;    ///< what it holds of them; none = as much of each as it requests
  MemberId next;            ///< next rank of the same job
  bool is_placed() const { return !node.is_none(); }
};

static_assert(sizeof(Member) == 48);  // a million of them are 48 MB

struct Job {
  QueueId queue;
  std::int32_t priority = 0;
  std::uint32_t members_min = 0;  ///< with groups: the sum of their minima
  std::uint32_t members_present = 0;
  std::uint32_t members_placed = 0;
  std::uint32_t members_leaving = 0;  ///< while there are any it is not in the backlog
  LevelId within, prefer;
  MemberId first, last;
  bool is_live = false;
  bool is_ours = true;
  /// capacity that is held: belongs to no queue and counts against no quota, since what runs there later does
  bool is_hold = false;
  bool is_in_backlog = false;
  /// at least members_min were placed together; has an end on the timeline while it lasts
  bool is_started = false;
  bool has_given_way = false;   ///< it waits for its pods to be gone, see Ledger::give_way
  bool is_refused = false;      ///< it came while its queue was draining, and has not started since
  bool is_each_needed = false;  ///< no member is surplus, see Workload::members_min
  GangSpecId spec;              ///< its groups; none = one group without a domain of its own
  /// placed members that are missing to the minima of its groups; 0 without groups, or if each member is needed
  std::uint32_t groups_lack = 0;
  std::uint32_t evictions = 0;
  std::uint32_t tenant = 0;       ///< see Workload::tenant
  std::uint64_t backlog_seq = 0;  ///< order of entering the backlog, monotonic
  std::uint64_t start_seq = 0;    ///< order of starting, monotonic
  Millis submitted;
  Millis queued_at;             ///< when it took its position in the order: submitted, or evicted since
  Estimate estimate;            ///< of the whole run
  std::int64_t order_hint = 0;  ///< see Workload::order_hint
  Millis started_at;
  Millis runs_since = Millis::max();  ///< until it starts first, see Workload::runs_since
  Millis saved_at = Millis::max();    ///< its last checkpoint; max() = none
  StopTerms stopping;
  Millis remaining = Millis::max();  ///< still to run when it last started or stopped; max = unknown
  Millis served;                     ///< time run before the last start
  /// entry on the timeline while started: by when it will have ended in nine of ten cases, in the past if it outlasts
  /// that
  Millis end_at;
  /// By when it will have ended in nine of ten cases: while it runs, and in a trial that starts it. max() = unknown
  Millis ends_by = Millis::max();
  std::int64_t devices_total = 0;  ///< devices of all members, fractions rounded up per member

  /// Members that are missing to its minimum, or to those of its groups.
  std::uint32_t members_lacking() const {
    return std::max(groups_lack, members_min > members_placed ? members_min - members_placed : 0);
  }
  /// This many of the waiting members must be placed together next: up to the minimum, then one by one. The first in
  /// the order of State::each_waiting.
  std::uint32_t members_needed() const { return std::max(members_lacking(), 1u); }
  /// True if only members above the minimum are left to place. They are the first to give way.
  bool waits_for_surplus() const { return !is_each_needed && members_lacking() == 0; }
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
  /// The expected end of a started job by the median, always after `now`. One that outlasts it is expected by its late
  /// end.
  Millis expected_end(Millis now) const {
    const Millis median = end_if_started(started_at);
    return median > now ? median : late_end(now);
  }
  /// Run time that is lost if it is stopped now: what it has run since its last checkpoint, and its restart.
  Millis lost_if_stopped(Millis now) const {
    const Millis ran = std::max(now - started_at, Millis(0));
    const Millis since_saved = saved_at == Millis::max() ? ran : std::clamp(now - saved_at, Millis(0), ran);
    return since_saved + std::min(stopping.restart, served + ran);
  }
  /// By when a started job will have ended in nine of ten cases, always after `now`: put off if it outlasts that.
  Millis late_end(Millis now) const { return end_at > now ? end_at : put_off(end_at, now); }
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
