// EarliestStart: the earliest time at which a waiting job can be placed, by the ends expected now and beside the reservations to jobs ahead of it. Running jobs are
// taken off the state in the order of their ends, inside a trial; a galloping search needs O(log ends) placements for each stretch of time between the
// starts and ends of the promised jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/reserve/reservation.h"

namespace ashlar {

/// Ends of running jobs as they are to be expected at `now`, in order: those that outlast their estimate are put off. They are written to `ends` where
/// there are such, else they are the timeline's own.
std::span<const Timeline::End> expected_ends(const State& state, Millis now, std::vector<Timeline::End>& ends);

class EarliestStart {
 public:
  EarliestStart(const PlacementContext& context, JobId job, Millis now, std::span<const Reservation* const> ahead);

  /// The earliest time before `before`. On success the trial holds the job placed, with everybody gone who ends by then and the promised jobs that run then
  /// in place.
  std::optional<Millis> run(Millis before = Millis::max());

 private:
  struct Moment {
    Millis at;
    std::size_t ends = 0;  ///< of jobs, up to and with this moment
  };
  enum class Presence : std::uint8_t { kApart, kBeside };

  /// Do the promised job and this one, started at that time, run at the same time?
  Presence presence_of(const Reservation& reservation, Millis at) const;
  static constexpr std::size_t kAll = SIZE_MAX;

  /// Are there this many moments? They are listed as far as was needed so far.
  bool reaches(std::size_t count);
  /// Number of moments before that time; kAll for max().
  std::size_t count_before(Millis before);
  /// The last moment up to which the same promised jobs are beside this one as after moment number `first`; kAll: it is the last of all.
  std::size_t stretch_from(std::size_t first);
  /// The least number of moments in first..last that is enough, with the job placed; 0 if none is.
  std::size_t least_within(std::size_t first, std::size_t last);
  /// The least number of moments that is enough, and the job placed after it.
  std::size_t between(std::size_t failed, std::size_t enough);
  /// No fewer moments than these bring devices enough, wherever they are.
  std::size_t enough_devices();
  /// No fewer moments than these free as much of the job's queues as it needs.
  std::size_t enough_quota();
  /// What the job's members hold of a queue above it.
  QuotaVector held_of(JobId job, QueueId queue) const;
  /// With the ends of this many moments gone and what is promised in place: can the job be placed?
  bool fits_after(std::size_t moments);
  /// The job is placed, over other schedulers' nominations that it outranks where that is the only way.
  bool place();
  /// Takes off those of that job's outranked nominations that are on this node, or anywhere if none is named; were there any?
  bool drop_outranked(JobId job, NodeId node);
  void evict_until(std::size_t moments);
  /// Puts a promised job on its nodes; false if something unforeseen is in its way.
  bool seat(const Reservation& reservation);

  const PlacementContext& context_;
  State& state_;
  JobId job_;
  std::span<const Reservation* const> ahead_;
  Millis lasts_;  ///< so long at most, from its start; max() if unknown
  Rng draws_;
  std::vector<Timeline::End> put_off_;  ///< the ends, where some are not as the timeline says
  std::span<const Timeline::End> ends_;
  std::vector<Millis> others_;  ///< ends of promised jobs
  std::size_t ends_listed_ = 0, others_listed_ = 0;
  std::vector<Moment> moments_;
  std::vector<std::size_t> checkpoints_;
};

}  // namespace ashlar
