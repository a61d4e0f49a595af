// EarliestStart: the earliest time at which a waiting job can be placed, by the late (or median) ends expected now and
// beside the reservations of jobs ahead of it. Running jobs are removed from the state in the order of their ends,
// inside a trial; a galloping search needs O(log ends) placements for each stretch of time between the starts and ends
// of the reserved jobs.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "engine/reserve/availability.h"
#include "engine/reserve/deciding_nodes.h"
#include "engine/reserve/reservation.h"

namespace ashlar {

/// The known ends of running jobs, expected at `now`, in order: those that outlast their estimate are put off. Listed
/// as far as they are asked for; void after a change of the timeline. Cost: O(jobs that outlast their estimate), by the
/// median O(jobs).
class ExpectedEnds {
 public:
  ExpectedEnds(const State& state, Millis now, EndsBy by = EndsBy::kLate);
  /// The late ends, as of the last time that those were brought up; they must outlive this.
  ExpectedEnds(const State& state, const PutOffEnds& put_off);
  /// Of those of which no end is known, a moment each after all that is known. First those that ran at that time, the
  /// newest first: what has run for long mostly runs on for long. Those that have started since come last, in order, so
  /// that no start changes the order of others.
  static constexpr Millis kUnknown{std::int64_t{1} << 58};
  void add_unknown(const State& state, Millis since);
  /// Whether there are this many.
  bool reaches(std::size_t count) const;
  /// One of those reached.
  const Timeline::End& operator[](std::size_t i) const { return listed_[i]; }
  /// By what, and as of when, they are expected.
  const EndsAt& as_of() const { return as_of_; }

  struct Iterator {
    const ExpectedEnds* ends;
    std::size_t i = 0;
    const Timeline::End& operator*() const { return (*ends)[i]; }
    void operator++() { ++i; }
    bool operator==(std::default_sentinel_t /*end*/) const { return !ends->reaches(i + 1); }
  };
  Iterator begin() const { return {this}; }
  static std::default_sentinel_t end() { return std::default_sentinel; }

 private:
  /// The first that ends at another time than the timeline has, and is not listed; nullptr if there is none.
  const Timeline::End* next_put_off() const;
  void pass_put_off() const;

  EndsAt as_of_;
  /// those that end at another time than the timeline has, and are not listed: a heap, or kept elsewhere
  mutable std::vector<Timeline::End> put_off_;
  const PutOffEnds* kept_ = nullptr;
  mutable PutOffEnds::Iterator next_kept_{nullptr};
  Timeline::Ends ends_;
  std::vector<Timeline::End> unknown_;
  mutable std::size_t unknown_listed_ = 0;
  mutable std::vector<Timeline::End> listed_;
  mutable Timeline::Ends::Iterator next_;
};

class EarliestStart {
 public:
  /// The reservations ahead and the availability rest on the same ends.
  EarliestStart(const PlacementContext& context, JobId job, ExpectedEnds ends, Availability& availability,
                std::span<const Reservation* const> ahead);

  /// The earliest time before `before`. On success the trial holds the placed job, without the jobs that end by then
  /// and with the jobs with reservations that run then.
  std::optional<Millis> run(Millis before = Millis::max());
  /// The same where no end that is known is enough: as few jobs as possible without a known end are expected to end, in
  /// the order of ExpectedEnds::add_unknown. Whether there is a place then.
  bool run_draining(Millis since);
  /// Whether it is still the reserved time, found without a search: too little ends before it, and at it the reserved
  /// nodes have room. On success the trial is as after run(). False where that does not tell; run() may follow in
  /// the same state, and goes on with what is known by then.
  bool is_still(const Reservation& made);

 private:
  struct Moment {
    Millis at;
    std::size_t ends = 0;  ///< of jobs, up to and with this moment
  };
  enum class Presence : std::uint8_t { kApart, kBeside };

  /// Whether the reservation's job and this one, started at that time, overlap.
  Presence presence_of(const Reservation& reservation, Millis at) const;

  /// The earliest moment from number `first` on, before that time, at which the job is placed.
  std::optional<Millis> search_from(std::size_t first, Millis before);
  /// Whether there are this many moments. They are listed as far as needed so far.
  bool reaches(std::size_t count);
  /// Number of moments before that time, of the first `most`; it is known of the first `known` that they are.
  std::size_t count_before(Millis before, std::size_t most = SIZE_MAX, std::size_t known = 0);
  /// Before that time the same jobs with reservations overlap this one, and the same holds begin before it ends, as
  /// after moment number `first`; max(): always.
  Millis stretch_from(std::size_t first) const;
  /// The least number of moments before that time, from `first` on, that is enough, with the job placed; 0 if none is,
  /// and `first` is the next one then.
  std::size_t least_within(std::size_t& first, Millis until);
  /// The least number of moments that is enough, and the job placed after it.
  std::size_t between(std::size_t failed, std::size_t enough);
  /// When enough devices are idle where the job needs them, at the earliest; max() if never. The trial is empty.
  Millis enough_devices();
  /// At least this many moments are needed: up to that time, and until there is enough quota. At least 1.
  std::size_t moments_needed(Millis at);
  /// Whether nothing ends early enough for a start before that time. False where that does not tell.
  bool is_earliest(Millis at);
  /// A lower bound on the moments needed to free as much of the job's queues as it needs, at least 1. The trial is
  /// empty when it is first asked for.
  std::size_t enough_quota();
  std::size_t count_enough_quota();
  /// Empties the trial.
  void start_over();
  /// What of the jobs that have ended counts as free.
  enum class Freed : std::uint8_t {
    kQuota,  ///< their quota alone: the job is placed on what is free now
    kAll,
  };
  enum class Fit : std::uint8_t { kNoQuota, kNoRoom, kPlaced };

  /// Whether the job can be placed after this many ends, with jobs with reservations in place. A job that waits for
  /// quota mostly finds room on what is free now, which costs a fraction of evicting all that ends until then.
  bool fits_after(std::size_t moments);
  Fit fit_after(std::size_t moments, Freed freed);
  /// Places the job, to start then; over other schedulers' nominations that it outranks if there is no other way.
  bool place(Millis at);
  /// Removes those of that job's outranked nominations that are on this node, or anywhere if none is named; returns
  /// whether there were any.
  bool drop_outranked(JobId job, NodeId node);
  void free_until(std::size_t moments, Freed freed);
  /// The same from an empty trial, in few steps: the quota of each queue at once, and evictions only where they decide.
  void free_at_once(std::size_t moments, Freed freed);
  /// Adds up what is given back by that many ends, by queue. The trial is empty.
  void sum_given_back(std::size_t ends);
  /// Adds what the next one gives back, and returns it.
  QuotaVector give_back_next();
  void give_back(QueueId queue, const QuotaVector& amounts);
  /// Evicts those that have ended where it matters for the job's place, or for that of one ahead.
  void evict_where_it_decides(std::size_t ends);
  /// The job was placed on what is free now. On the nodes that it takes, those that have ended are gone too, so that it
  /// is known what it leaves over.
  void evict_beside(std::size_t moments);
  /// The same, on these nodes. Cost: O(members that are there).
  void evict_from(std::vector<NodeId> nodes, std::size_t moments);
  void evict(JobId ended);
  /// Puts a job with a reservation on its nodes; false if something unforeseen is in the way of its devices.
  bool seat(const Reservation& reservation);
  bool seat(const Reservation& reservation, const Reservation::Place& place);
  /// Whether the node can take the member by all rules about nodes, devices or not.
  bool has_room(const Reservation::Place& place) const;

  const PlacementContext& context_;
  State& state_;
  JobId job_;
  Availability& availability_;
  std::span<const Reservation* const> ahead_;
  Millis lasts_;  ///< at most, from its start; max() if unknown
  Rng draws_;
  ExpectedEnds ends_;
  std::vector<Millis> others_;    ///< ends of jobs with reservations
  std::vector<Millis> too_late_;  ///< from when on the job would last into a hold that begins later
  std::size_t ends_listed_ = 0, others_listed_ = 0;
  std::vector<Moment> moments_;
  bool waits_for_quota_ = false;
  std::optional<std::size_t> enough_quota_;
  Freed freed_ = Freed::kAll;  ///< in the trial, by the steps up to the checkpoints
  std::vector<std::size_t> checkpoints_;
  struct GivenBack {
    QueueId queue;
    QuotaVector amounts{};
  };
  std::vector<GivenBack> given_back_;      ///< by the first `ends_given_back_` ends
  std::vector<std::uint32_t> given_at_;    ///< by queue: its last one there, from 1; 0 = none
  std::optional<DecidingNodes> deciding_;  ///< after the first `ends_counted_` ends
  std::size_t ends_given_back_ = 0, ends_counted_ = 0;
};

}  // namespace ashlar
