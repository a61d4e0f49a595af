// Reservations: those of the first waiting job of each queue, which is reserved the earliest time at which it can be
// placed on named nodes, by the late ends, its quota, constraints and topology. A job behind it that may still run
// then starts only on what is left over.
#pragma once

#include <span>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "engine/place/placement.h"
#include "engine/reserve/availability.h"
#include "engine/reserve/earliest_start.h"
#include "engine/reserve/reservation.h"

namespace ashlar {

class Reservations {
 public:
  /// With kMedian for reports only: when each would start if every job ran for its p50.
  explicit Reservations(EndsBy by = EndsBy::kLate) : availability_(by), by_(by) {}

  /// At most this many jobs hold a reservation at a time, the first in order; later ones wait unprotected. Bounds the
  /// work of a decision.
  static constexpr std::size_t kMax = 8;
  /// Drops reservations whose nodes changed, and those of jobs that no longer wait. `changed_nodes` are the nodes whose
  /// capacity something unforeseen reduced.
  void refresh(const State& state, const PendingQueue& pending, std::span<const NodeId> changed_nodes);
  /// The first waiting jobs of queues, in order, that come before a job of that queue and have a reservation against
  /// it, or are to get one.
  struct HeadsAhead {
    std::vector<PendingQueue::Head> heads;
    bool is_beyond_limit = false;  ///< there are more
  };
  HeadsAhead heads_ahead(const State& state, const PendingQueue& pending, const PendingQueue::Head& head) const;
  /// The reservation of such a job, made now if there is none, beside those of jobs ahead of it. `context.trial` is
  /// empty and stays so.
  const Reservation& to(const PlacementContext& context, const PendingQueue& pending, const PendingQueue::Head& blocked,
                        Millis now);
  /// Whether to() would not ask anew: it has one, for the job as it waits now, and nothing is due.
  bool is_kept(const State& state, const PendingQueue& pending, const PendingQueue::Head& blocked, Millis now) const;
  /// These placements were decided and last until `end` at most: reservations of jobs ahead of `entry` have less left
  /// over, later ones must be recomputed.
  void account(const State& state, const PendingQueue& pending, const PendingQueue::Entry& entry, Millis end,
               std::span<const Trial::Step> steps);
  /// The jobs with reservations, in order.
  std::vector<JobId> in_order(const PendingQueue& pending) const;
  /// The order of queues has changed since they were in that order: drops those that others have overtaken, and all
  /// behind them.
  void drop_reordered(const PendingQueue& pending, std::span<const JobId> before);
  void drop_all();
  /// The state is another one from now on: what was derived from the former one is made anew.
  void forget_caches() { availability_ = Availability(by_); }

  /// Grows whenever a reservation is dropped or leaves to others what it did not leave before.
  std::uint64_t changes() const { return next_edition_; }
  /// nullptr if the job holds none.
  const Reservation* find(JobId job) const;
  std::span<const Reservation> all() const { return reservations_; }

 private:
  friend struct EngineFields;
  /// Drops those selected by the predicate, and those behind them that were made beside one that goes: whose jobs it
  /// binds.
  template <class Predicate>
  void drop(const State& state, const PendingQueue& pending, Predicate&& is_dropped);
  /// Drops those selected by the predicate and no others.
  template <class Predicate>
  void forget(Predicate&& is_forgotten);
  /// Whether the reservation's job can start before the reserved time by now. `context.trial` is empty and stays so.
  bool can_be_earlier(const PlacementContext& context, const PendingQueue& pending, const Reservation& reservation,
                      Millis now);
  /// Those ahead that start while the job of this one runs have that much less left over; `counted`: what it uses of
  /// its queue. Its job is placed in the trial.
  void claim_from_those_ahead(const State& state, const Reservation& made, std::span<const Reservation* const> ahead,
                              const QuotaVector& counted);
  /// Whether it was made for that head as it waits now.
  bool is_of(const Reservation& made, const PendingQueue& pending, const PendingQueue::Head& blocked) const;
  /// Whether it is worth to ask whether its time and places have changed, before it is made anew.
  bool may_be_renewed(const State& state, const PendingQueue& pending, const PendingQueue::Head& blocked, Millis now,
                      const Reservation& made) const;
  /// Brings a reservation up to date whose time and places have not changed, without a search; false if it must be made
  /// anew: then the trial may hold what was tried, and `search` starts over.
  bool renew(const PlacementContext& context, EarliestStart& search, Millis now, Reservation& made);
  /// Also the availability, as of now. Void after the next call.
  ExpectedEnds expected_ends(const State& state, Millis now);
  /// The queue whose quota that head waits for: its reservation binds only jobs of that queue; none: it binds all. A
  /// reservation against all stays so. `made`: the reservation it has, if the caller has it at hand.
  QueueId limiting(const PendingQueue& pending, const PendingQueue::Head& blocked, const Reservation* made) const;
  std::vector<const Reservation*> sorted(const PendingQueue& pending) const;
  /// Those beside which a reservation of this job must be made.
  std::vector<const Reservation*> ahead_of(const State& state, const PendingQueue& pending,
                                           const PendingQueue::Entry& entry, QueueId queue) const;

  std::vector<Reservation> reservations_;
  /// Of those dropped the latest are kept; a job whose former one is not gets a new edition, so those that it held are
  /// looked at again. A head that others overtake may wait for days.
  static constexpr std::size_t kFormerMax = 16 * kMax;
  std::vector<Reservation> former_;  ///< of jobs that may get a like one again; at most one for each job
  std::uint64_t next_edition_ = 1;
  Availability availability_;  ///< a cache
  EndsBy by_;
};

}  // namespace ashlar
