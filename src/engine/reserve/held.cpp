#include "engine/reserve/held.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "engine/quota.h"

namespace ashlar {
namespace {

/// Rounds in which held jobs are woken although none has started since, beyond one for each first job of a queue.
/// Nothing but their own order and reservations can wake them then, and these become final in order: no reservation
/// holds the first job of all, so it is parked when it is looked at, and its reservation, made now, is kept for
/// Reservation::kRenewedAfter; after k rounds that is true of the k first ones. So there are as many rounds as first
/// jobs, at most (of 29,000 decisions of drawn busy worlds 9 need more than one), and those beyond are a fault. Without
/// a limit it would be a decision without an end.
constexpr std::size_t kWakeRoundsBeyondHeads = 16;

HeldSeen present(const EngineData& e, const State& state) {
  return {e.reservations.changes(), e.pending.head_changes(),
          state.queues().has_limits() ? state.cluster().digest() : 0};
}

bool is_due(const Reservation& reservation, const State& state, Millis now) {
  return reservation.may_be_earlier || reservation.is_due(state, now);
}

/// Whether the job's reservation holds others, or takes from what one that does leaves to them.
bool bears_on_held(const EngineData& e, JobId job) {
  if (e.pending.holders().contains(job)) return true;
  const auto reservations = e.reservations.all();
  return std::any_of(reservations.begin(), reservations.end(), [&](const Reservation& reservation) {
    return reservation.has_claims_of(job) && e.pending.holders().contains(reservation.entry.job);
  });
}

/// Whether it is the first of its queue: else another has come ahead of it and has its turn. The reservation of a job
/// that is not is never renewed, so it is not waited for.
bool is_first_waiting(const EngineData& e, JobId job) {
  if (!e.pending.contains(job)) return false;
  const PendingQueue::Head head = e.pending.head_of(job);
  const PendingQueue::Head* first = e.pending.first_waiting(e.pending.class_at(head.job_class).key.queue);
  return first != nullptr && *first == head;
}

bool has_due_holder(const EngineData& e, const State& state, Millis now) {
  const auto reservations = e.reservations.all();
  return std::any_of(reservations.begin(), reservations.end(), [&](const Reservation& reservation) {
    const JobId job = reservation.entry.job;
    return is_due(reservation, state, now) && is_first_waiting(e, job) && bears_on_held(e, job);
  });
}

/// A holder as it is now.
struct Present {
  bool is_awake = false;      ///< looked at in this decision, before those that it holds
  std::uint64_t edition = 0;  ///< of its reservation; 0: it holds nobody any more
};

/// The reservation is renewed if it is due, or the job or those ahead of it are others than when it was made.
Present look_at(EngineData& e, State& state, Cycle& cycle, JobId job) {
  const Millis now = cycle.plan.at;
  if (!e.pending.contains(job)) return {};
  const PendingQueue::Head head = e.pending.head_of(job);
  const PendingQueue::Class& job_class = e.pending.class_at(head.job_class);
  if (job_class.is_active && job_class.jobs.contains(head.entry)) return {.is_awake = true};
  if (!is_first_waiting(e, job)) return {};
  const auto renew = [&](const PendingQueue::Head& waiting) {
    const Reservation* made = e.reservations.find(waiting.entry.job);
    if (e.reservations.is_kept(state, e.pending, waiting, now) && !made->may_be_earlier) return;
    ++cycle.plan.examined;
    Trial trial(state);
    Rng draws(e.draws.state());
    e.reservations.to({trial, e.fit_tables, *e.profile, draws}, e.pending, waiting, now);
  };
  // those that have come ahead of it take from what it was reserved
  for (const PendingQueue::Head& ahead : e.reservations.heads_ahead(state, e.pending, head).heads) renew(ahead);
  renew(head);
  const Reservation* reservation = e.reservations.find(job);
  return {.edition = reservation->edition};
}

/// All holders, and those whose reservations bear on theirs, looked at in their order: a reservation is made beside
/// those ahead of it.
std::map<JobId, Present> look_at_holders(EngineData& e, State& state, Cycle& cycle) {
  std::vector<PendingQueue::Head> holders;
  std::map<JobId, Present> present;
  for (const auto& [job, classes] : e.pending.holders()) present[job] = {};
  for (const Reservation& reservation : e.reservations.all())
    if (bears_on_held(e, reservation.entry.job)) present[reservation.entry.job] = {};
  for (const auto& [job, at] : present)
    if (e.pending.contains(job)) holders.push_back(e.pending.head_of(job));
  std::sort(holders.begin(), holders.end(), [&](const auto& a, const auto& b) { return e.pending.is_before(a, b); });
  for (const PendingQueue::Head& head : holders) present[head.entry.job] = look_at(e, state, cycle, head.entry.job);
  // a reservation made behind one of them has changed it, or been dropped with it
  for (auto& [job, at] : present)
    if (const Reservation* reservation = e.reservations.find(job); !at.is_awake && at.edition != 0)
      at.edition = reservation == nullptr ? 0 : reservation->edition;
  return present;
}

std::size_t wake_limit(const EngineData& e) {
  return std::min<std::size_t>(kWakeRoundsBeyondHeads + e.pending.first_head_count(), std::max(e.wake_rounds_max, 1u));
}

void count_anew_after_a_start(Cycle& cycle) {
  if (std::exchange(cycle.actions_of_rounds, cycle.plan.actions.size()) != cycle.plan.actions.size())
    cycle.wake_rounds = cycle.early_wakes = 0;
}

/// Whether one more round is within the limit. If not, the decision ends when all that is awake has been looked at, and
/// the next one begins with that round: later, since at once it would only be a faulty decision in pieces.
bool may_wake_again(EngineData& e, Cycle& cycle) {
  count_anew_after_a_start(cycle);
  if (++cycle.wake_rounds <= wake_limit(e)) return true;
  ++e.cut_short;
  cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, cycle.plan.at + Reservation::kRenewedAfter);
  return false;
}

void wake(EngineData& e, Cycle& cycle, const std::vector<PendingQueue::Head>& classes) {
  for (const PendingQueue::Head& head : classes) {
    e.pending.wake_held(head.job_class);
    cycle.set_aside.erase(head.job_class);
    if (cycle.has_begun && !cycle.is_listed_whole) cycle.work.add(head);
  }
}

}  // namespace

void wake_held(EngineData& e, State& state, Cycle& cycle) {
  if (e.pending.held_classes().empty()) return;
  const Millis now = cycle.plan.at;
  if (present(e, state) == e.held_seen && !has_due_holder(e, state, now)) return;
  const bool has_limits = state.queues().has_limits();
  const std::map<JobId, Present> holders = look_at_holders(e, state, cycle);
  const auto has_changed = [&](const PendingQueue::Holder& holder) {
    const Present& at = holders.at(holder.job);
    return !at.is_awake && at.edition != holder.edition;
  };
  // A job whose order has changed may be behind those that it held; its reservation is like before. A class notes the
  // holders of all its held jobs, some of which are ahead of a job that holds the later ones: only the last one counts.
  const auto is_overtaken = [&](const PendingQueue::Holder& holder, const PendingQueue::Head& last_held) {
    return e.pending.contains(holder.job) && !e.pending.is_before(e.pending.head_of(holder.job), last_held);
  };
  // Where more heads are ahead than may have a reservation, others may have taken the holder's turn. Not asked of the
  // number of changes: a job that is woken and held again is itself a head that changes.
  const auto is_past_limit = [&](const PendingQueue::Class& job_class, const PendingQueue::Head& last_held) {
    const auto ahead = e.reservations.heads_ahead(state, e.pending, last_held).heads;
    return std::any_of(job_class.holders.begin(), job_class.holders.end(), [&](const auto& holder) {
      const auto is_it = [&](const PendingQueue::Head& first) { return first.entry.job == holder.job; };
      return !holders.at(holder.job).is_awake && std::none_of(ahead.begin(), ahead.end(), is_it);
    });
  };
  QuotaLeft quota(state);
  std::vector<PendingQueue::Head> woken;
  for (const PendingQueue::Head& head : e.pending.held_classes()) {
    const PendingQueue::Class& job_class = e.pending.class_at(head.job_class);
    const PendingQueue::Head last_held = e.pending.head_of(head.job_class, *job_class.held.rbegin());
    if ((job_class.is_beyond_limit && is_past_limit(job_class, last_held)) ||
        std::any_of(job_class.holders.begin(), job_class.holders.end(),
                    [&](const auto& h) { return has_changed(h) || is_overtaken(h, last_held); }) ||
        ((has_limits || !state.queues().held_above(head.queue).is_none()) &&
         !quota.admits(head.entry.job)))  // what its queue had left was given to others, or it is held itself
      woken.push_back(head);
  }
  if (!woken.empty() && !may_wake_again(e, cycle)) {
    e.held_seen = {};
    return;
  }
  wake(e, cycle, woken);
  e.held_seen = present(e, state);
  const auto is_awake = [](const auto& holder) { return holder.second.is_awake; };
  if (std::any_of(holders.begin(), holders.end(), is_awake)) e.held_seen = {};  // gone through again after it
}

void wake_held_by(EngineData& e, State& state, Cycle& cycle, JobId holder) {
  const Present at = look_at(e, state, cycle, holder);
  std::vector<PendingQueue::Head> woken;
  for (const PendingQueue::Head& head : e.pending.held_classes()) {
    const std::vector<PendingQueue::Holder>& holders = e.pending.class_at(head.job_class).holders;
    if (!at.is_awake && std::any_of(holders.begin(), holders.end(),
                                    [&](const auto& h) { return h.job == holder && h.edition != at.edition; }))
      woken.push_back(head);
  }
  count_anew_after_a_start(cycle);
  if (!woken.empty() && ++cycle.early_wakes <= wake_limit(e)) wake(e, cycle, woken);
}

void look_again_at_held(EngineData& e, State& state, Cycle& cycle) {
  const Millis now = cycle.plan.at;
  for (const Reservation& reservation : e.reservations.all()) {
    if (!is_first_waiting(e, reservation.entry.job) || !bears_on_held(e, reservation.entry.job)) continue;
    const Millis next = is_due(reservation, state, now) ? now : reservation.next_look(state, now);
    cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, next);
  }
}

}  // namespace ashlar
