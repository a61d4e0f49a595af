#include "engine/explain/start_times.h"

#include <algorithm>

#include "engine/reserve/backfill.h"
#include "engine/reserve/reservations.h"

namespace ashlar {
namespace {

/// The job ahead that holds it, or itself.
JobId job_with_reservation(const PendingQueue& pending, JobId job) {
  const PendingQueue::Class& job_class = pending.class_at(pending.class_id(job));
  return job_class.held.contains(pending.entry_of(job)) ? job_class.behind : job;
}

/// The reserved time of that head in the book, completed for those ahead of it; max() if there is none.
Millis reserved_in(Reservations book, State& state, const Engine& engine, const PendingQueue::Head& head, Millis now) {
  const Reservations::HeadsAhead ahead = book.heads_ahead(state, engine.pending(), head);
  if (ahead.heads.size() >= Reservations::kMax) return Millis::max();
  FitTables fit_tables(engine.profile());
  const auto reserve = [&](const PendingQueue::Head& blocked) {
    Trial trial(state);
    Rng draws(1);
    return book.to({trial, fit_tables, engine.profile(), draws}, engine.pending(), blocked, now);
  };
  for (const PendingQueue::Head& blocked : ahead.heads) reserve(blocked);
  const Reservation made = reserve(head);
  return made.at == Millis::max() ? made.at : made.reserved_at(now);
}

}  // namespace

std::optional<StartTimes> start_times(const State& state, const Engine& engine, JobId job, Millis now) {
  const PendingQueue& pending = engine.pending();
  if (!backfill_rule(engine.profile()).makes_reservations || !pending.contains(job)) return std::nullopt;
  const JobId whose = job_with_reservation(pending, job);
  if (!pending.contains(whose)) return std::nullopt;
  const PendingQueue::Head head = pending.head_of(whose);
  const PendingQueue::Head* first = pending.first_waiting(head.queue);
  if (first == nullptr || *first != head) return std::nullopt;
  State copy = state;
  const Millis latest = reserved_in(engine.reservation_book(), copy, engine, head, now);
  if (latest == Millis::max()) return std::nullopt;
  const Millis expected = reserved_in(Reservations(EndsBy::kMedian), copy, engine, head, now);
  return StartTimes{whose, std::min(expected, latest), latest};
}

}  // namespace ashlar
