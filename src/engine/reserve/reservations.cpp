#include "engine/reserve/reservations.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/quota.h"
#include "engine/reserve/earliest_start.h"

namespace ashlar {

namespace {

bool is_before(const PendingQueue& pending, const Reservation& a, const Reservation& b) {
  return pending.is_before(a.entry, a.job_class.queue, b.entry, b.job_class.queue);
}

/// The queue for whose quota the head waits; none if it waits for anything else.
QueueId limit_of_verdict(const PendingQueue& pending, const PendingQueue::Head& blocked) {
  const PendingQueue::Class& job_class = pending.class_at(blocked.job_class);
  return job_class.is_active ? QueueId::none() : limiting_queue(job_class.verdict);
}

bool is_against_all(const Reservation& made) { return made.at != Millis::max() && made.limiting.is_none(); }

std::vector<JobId> jobs_against_all(std::span<const Reservation> reservations) {
  std::vector<JobId> jobs;
  for (const Reservation& made : reservations)
    if (is_against_all(made)) jobs.push_back(made.entry.job);
  return jobs;
}

Millis holds_from(const Profile& profile, const Job& job) {
  return profile.ageing == Millis(0) ? Millis::max() : job.queued_at + profile.ageing;
}

/// Undoes all that was tried in the trial, since `changes_before` of the cluster; no cache looks at it again.
void undo(const PlacementContext& context, Availability& availability, std::uint64_t changes_before) {
  context.trial.rollback_to(0);
  context.fit_tables.pass_over_undone_changes(context.trial.state(), changes_before);
  availability.forget_undone_changes(context.trial.state().cluster());
}

/// The trial holds the job as it will start at that time.
void note_found(const PlacementContext& context, Millis at, EndsBy by, Reservation& made) {
  const State& state = context.trial.state();
  const JobId job = made.entry.job;
  made.at = at;
  made.lasts = state.job(job).late_end_if_started(at);
  made.ends = by == EndsBy::kLate ? made.lasts : state.job(job).end_if_started(at);
  each_placement(context.trial.steps(), [&](const Trial::Placement& step) {
    const bool is_mixed = state.cluster().mixed_layout(step.node) != nullptr;
    if (state.member(step.member).job == job)
      made.places.push_back({step.member, step.node, is_mixed ? step.devices : DeviceMask{}});
  });
  made.note_spares(state, context.trial.steps());
  made.note_quota_spares(state);
}

/// Where no end that is known is enough, the job holds the nodes where it has room once others have ended.
void note_drained(const PlacementContext& context, EarliestStart& drain, EndsBy by, Reservation& made) {
  if (!drain.run_draining(made.holds_from)) return;
  note_found(context, made.holds_from, by, made);
  made.is_draining = true;
}

}  // namespace

template <class Predicate>
void Reservations::drop(const State& state, const PendingQueue& pending, Predicate&& is_dropped) {
  std::vector<const Reservation*> dropped;
  for (const Reservation& p : reservations_)
    if (is_dropped(p)) dropped.push_back(&p);
  if (dropped.empty()) return;
  std::vector<JobId> gone;
  for (const Reservation* p : sorted(pending)) {
    const auto rests_on = [&](const Reservation* other) {
      return p == other || (is_before(pending, *other, *p) && other->concerns(state, p->job_class.queue));
    };
    if (std::none_of(dropped.begin(), dropped.end(), rests_on)) continue;
    dropped.push_back(p);
    gone.push_back(p->entry.job);
  }
  forget([&](const Reservation& p) { return std::find(gone.begin(), gone.end(), p.entry.job) != gone.end(); });
}

std::vector<const Reservation*> Reservations::sorted(const PendingQueue& pending) const {
  std::vector<const Reservation*> sorted;
  for (const Reservation& p : reservations_) sorted.push_back(&p);
  std::sort(sorted.begin(), sorted.end(), [&](const auto* a, const auto* b) { return is_before(pending, *a, *b); });
  return sorted;
}

std::vector<JobId> Reservations::in_order(const PendingQueue& pending) const {
  std::vector<JobId> jobs;
  jobs.reserve(reservations_.size());
  for (const Reservation* p : sorted(pending)) jobs.push_back(p->entry.job);
  return jobs;
}

void Reservations::drop_all() {
  forget([](const Reservation&) { return true; });
}

void Reservations::drop_reordered(const PendingQueue& pending, std::span<const JobId> before) {
  const std::vector<JobId> now = in_order(pending);
  const auto first = std::mismatch(now.begin(), now.end(), before.begin(), before.end()).first;
  if (first != now.end())
    forget([&](const Reservation& p) { return std::find(first, now.end(), p.entry.job) != now.end(); });
}

template <class Predicate>
void Reservations::forget(Predicate&& is_forgotten) {
  std::vector<JobId> gone;
  for (const Reservation& p : reservations_)
    if (is_forgotten(p)) gone.push_back(p.entry.job);
  if (gone.empty()) return;
  const auto is_of_gone = [&](const auto& claim) {
    return std::find(gone.begin(), gone.end(), claim.job) != gone.end();
  };
  std::erase_if(former_,
                [&](const Reservation& p) { return std::find(gone.begin(), gone.end(), p.entry.job) != gone.end(); });
  const auto first_gone = std::stable_partition(reservations_.begin(), reservations_.end(), [&](const Reservation& p) {
    return std::find(gone.begin(), gone.end(), p.entry.job) == gone.end();
  });
  former_.insert(former_.end(), std::make_move_iterator(first_gone), std::make_move_iterator(reservations_.end()));
  if (former_.size() > kFormerMax)
    former_.erase(former_.begin(), former_.end() - static_cast<std::ptrdiff_t>(kFormerMax));
  reservations_.erase(first_gone, reservations_.end());
  ++next_edition_;
  for (Reservation& p : reservations_) {
    std::size_t erased = std::erase_if(p.quota_claims, is_of_gone);
    for (Reservation::Spare& spare : p.spares) erased += std::erase_if(spare.claims, is_of_gone);
    if (erased > 0) p.edition = next_edition_++;
  }
}

void Reservations::refresh(const State& state, const PendingQueue& pending, std::span<const NodeId> changed_nodes) {
  std::erase_if(former_, [&](const Reservation& p) { return !pending.contains(p.entry.job); });
  // of jobs overtaken in the order; if they become first again, they get a new one
  if (reservations_.size() > 2 * kMax) {
    drop(state, pending, [&](const Reservation& p) {
      const PendingQueue::Head* first = pending.first_blocked(p.job_class.queue);
      return first == nullptr || first->entry.job != p.entry.job;
    });
  }
  drop(state, pending, [&](const Reservation& p) {
    if (!state.is_live(p.entry.job) || !pending.contains(p.entry.job)) return true;
    return std::any_of(changed_nodes.begin(), changed_nodes.end(), [&](NodeId n) { return p.find(n) != nullptr; });
  });
}

std::vector<const Reservation*> Reservations::ahead_of(const State& state, const PendingQueue& pending,
                                                       const PendingQueue::Entry& entry, QueueId queue) const {
  std::vector<const Reservation*> ahead;
  for (const Reservation& p : reservations_)
    if (pending.is_before(p.entry, p.job_class.queue, entry, queue) && p.at != Millis::max() &&
        p.concerns(state, queue))
      ahead.push_back(&p);
  std::sort(ahead.begin(), ahead.end(), [&](const auto* a, const auto* b) { return is_before(pending, *a, *b); });
  return ahead;
}

QueueId Reservations::limiting(const PendingQueue& pending, const PendingQueue::Head& blocked,
                               const Reservation* made) const {
  const QueueId limiting = limit_of_verdict(pending, blocked);
  if (limiting.is_none()) return limiting;
  if (made == nullptr) made = find(blocked.entry.job);
  return made != nullptr && is_against_all(*made) ? QueueId::none() : limiting;
}

Reservations::HeadsAhead Reservations::heads_ahead(const State& state, const PendingQueue& pending,
                                                   const PendingQueue::Head& head) const {
  HeadsAhead ahead;
  std::optional<std::vector<JobId>> against_all;  // there may be as many reservations as there are limits
  const auto binds_all = [&](JobId job) {
    if (!against_all) against_all = jobs_against_all(reservations_);
    return std::ranges::find(*against_all, job) != against_all->end();
  };
  pending.each_first_head([&](const PendingQueue::Head& first) {
    if (!pending.is_before(first, head)) return false;
    const QueueId limiting = limit_of_verdict(pending, first);
    if (!limiting.is_none() && !state.queues().is_within(head.queue, limiting) && !binds_all(first.entry.job))
      return true;
    ahead.is_beyond_limit = ahead.heads.size() == kMax;
    if (ahead.is_beyond_limit) return false;
    if (ahead.heads.empty()) ahead.heads.reserve(kMax);
    ahead.heads.push_back(first);
    return true;
  });
  return ahead;
}

bool Reservations::is_kept(const State& state, const PendingQueue& pending, const PendingQueue::Head& blocked,
                           Millis now) const {
  const Reservation* made = find(blocked.entry.job);
  return made != nullptr && is_of(*made, pending, blocked) && !made->is_due(state, now);
}

bool Reservations::is_of(const Reservation& made, const PendingQueue& pending,
                         const PendingQueue::Head& blocked) const {
  return made.job_class == pending.class_at(blocked.job_class).key && made.entry == blocked.entry &&
         made.limiting == limiting(pending, blocked, &made);
}

const Reservation& Reservations::to(const PlacementContext& context, const PendingQueue& pending,
                                    const PendingQueue::Head& blocked, Millis now) {
  const State& state = context.trial.state();
  const PendingQueue::Class& job_class = pending.class_at(blocked.job_class);
  const JobId job = blocked.entry.job;
  const auto it = std::find_if(reservations_.begin(), reservations_.end(),
                               [&](const Reservation& p) { return p.entry.job == job; });
  if (it != reservations_.end() && !it->is_due(state, now) && is_of(*it, pending, blocked) &&
      (!std::exchange(it->may_be_earlier, false) || !can_be_earlier(context, pending, *it, now)))
    return *it;
  const QueueId limiting = this->limiting(pending, blocked, it == reservations_.end() ? nullptr : &*it);
  const std::uint64_t changes_before = state.cluster().change_count();
  std::vector<const Reservation*> ahead;
  std::optional<EarliestStart> search;
  if (it != reservations_.end() && may_be_renewed(state, pending, blocked, now, *it)) {
    ahead = ahead_of(state, pending, blocked.entry, blocked.queue);
    search.emplace(context, job, expected_ends(state, now), availability_, ahead);
    if (renew(context, *search, now, *it)) {
      undo(context, availability_, changes_before);
      return *it;
    }
  }
  std::vector<Reservation> claimed;  // those that make room for this job, as they are now
  for (const Reservation& p : reservations_)
    if (p.entry.job != job && p.has_claims_of(job)) claimed.push_back(p);
  // Beside a reservation of a job that is not the first of its queue at present none is made; if it becomes first
  // again, all behind it are remade.
  forget([&](const Reservation& p) {
    const PendingQueue::Head* first = pending.first_waiting(p.job_class.queue);
    return first == nullptr || first->entry != p.entry;
  });
  // Those behind are remade beside this one if it binds their jobs; those ahead stay, the caller has requested them.
  drop(state, pending, [&](const Reservation& p) {
    const bool is_bound = limiting.is_none() || state.queues().is_within(p.job_class.queue, limiting);
    return p.entry.job == job ||
           (is_bound && pending.is_before(blocked.entry, blocked.queue, p.entry, p.job_class.queue));
  });
  Reservation made{.entry = blocked.entry,
                   .job_class = job_class.key,
                   .limiting = limiting,
                   .made_at = now,
                   .holds_from = holds_from(context.profile, state.job(job)),
                   .unforeseen_frees_seen = state.unforeseen_frees(),
                   .queue_changes_seen = state.queues().change_count()};
  if (!search || !ahead.empty()) {
    ahead = ahead_of(state, pending, blocked.entry, blocked.queue);
    search.emplace(context, job, expected_ends(state, now), availability_, ahead);
  }
  const QuotaVector counted = quota_needed(state, job);
  if (const auto at = search->run()) {
    note_found(context, *at, by_, made);
    claim_from_those_ahead(state, made, ahead, counted);
  } else if (made.holds_from <= now) {
    EarliestStart drain(context, job, expected_ends(state, now), availability_, ahead);
    note_drained(context, drain, by_, made);
  }
  undo(context, availability_, changes_before);
  for (Reservation& p : reservations_)
    for (const Reservation& before : claimed)
      if (p.entry.job == before.entry.job && p.is_like(before)) p.edition = before.edition;
  const auto before =
      std::find_if(former_.begin(), former_.end(), [&](const Reservation& p) { return p.entry.job == job; });
  made.edition = before != former_.end() && made.is_like(*before) ? before->edition : next_edition_++;
  if (before != former_.end()) former_.erase(before);
  return reservations_.emplace_back(std::move(made));
}

void Reservations::claim_from_those_ahead(const State& state, const Reservation& made,
                                          std::span<const Reservation* const> ahead, const QuotaVector& counted) {
  for (Reservation& p : reservations_) {
    if (p.at <= made.at || p.at >= made.lasts || std::find(ahead.begin(), ahead.end(), &p) == ahead.end()) continue;
    for (const Reservation::Place& place : made.places)
      if (Reservation::Spare* spare = p.find(place.node))
        spare->claims.push_back(claim_of(state, place.member, place.node));
    p.quota_claims.push_back({made.entry.job, made.job_class.queue, counted});
    p.edition = next_edition_++;
    for (const Reservation::Place& place : made.places)
      add_by_key(state, place.member, place.node, state.member(place.member).devices, p.quota_claims.back().by_key);
  }
}

bool Reservations::may_be_renewed(const State& state, const PendingQueue& pending, const PendingQueue::Head& blocked,
                                  Millis now, const Reservation& made) const {
  return by_ == EndsBy::kLate && is_of(made, pending, blocked) &&
         made.queue_changes_seen == state.queues().change_count() && made.at > now && made.at != Millis::max() &&
         made.lasts == state.job(blocked.entry.job).late_end_if_started(made.at);
}

bool Reservations::renew(const PlacementContext& context, EarliestStart& search, Millis now, Reservation& made) {
  const State& state = context.trial.state();
  if (!search.is_still(made)) return false;
  const std::vector<Reservation::Spare> spares_before = std::exchange(made.spares, {});
  const std::vector<Reservation::QuotaSpare> quota_before = std::exchange(made.quota_spares, {});
  const std::vector<Reservation::QuotaKept> kept_before = made.quota_kept;
  made.made_at = now;
  made.unforeseen_frees_seen = state.unforeseen_frees();
  made.note_spares(state, context.trial.steps());
  made.note_quota_spares(state);
  for (const Reservation::Spare& before : spares_before)
    for (const Reservation::Claim& claim : before.claims)
      if (Reservation::Spare* spare = made.find(before.node); spare != nullptr && claim.job != made.entry.job)
        spare->claims.push_back(claim);
  if (made.spares != spares_before || made.quota_spares != quota_before || made.quota_kept != kept_before)
    made.edition = next_edition_++;
  return true;
}

ExpectedEnds Reservations::expected_ends(const State& state, Millis now) {
  availability_.bring_up(state, now);
  if (by_ == EndsBy::kMedian) return {state, now, by_};
  return {state, availability_.put_off()};
}

bool Reservations::can_be_earlier(const PlacementContext& context, const PendingQueue& pending,
                                  const Reservation& reservation, Millis now) {
  const State& state = context.trial.state();
  const std::uint64_t changes_before = state.cluster().change_count();
  const std::vector<const Reservation*> ahead =
      ahead_of(state, pending, reservation.entry, reservation.job_class.queue);
  const bool can = EarliestStart(context, reservation.entry.job, expected_ends(state, now), availability_, ahead)
                       .run(reservation.at)
                       .has_value();
  undo(context, availability_, changes_before);
  return can;
}

const Reservation* Reservations::find(JobId job) const {
  const auto it = std::find_if(reservations_.begin(), reservations_.end(),
                               [&](const Reservation& p) { return p.entry.job == job; });
  return it == reservations_.end() ? nullptr : &*it;
}

void Reservations::account(const State& state, const PendingQueue& pending, const PendingQueue::Entry& entry,
                           Millis end, std::span<const Trial::Step> steps) {
  const QueueId queue = state.job(entry.job).queue;
  const auto is_behind = [&](const Reservation& p) {
    return pending.is_before(entry, queue, p.entry, p.job_class.queue);
  };
  // Only a job with a reserved place of its own that takes another or ends at another time leaves more than was
  // assumed.
  const Reservation* own = find(entry.job);
  const bool is_otherwise =
      own != nullptr && own->at != Millis::max() && !(end == own->lasts && own->has_places_of(steps));
  forget([&](const Reservation& p) { return entry.job == p.entry.job; });
  drop(state, pending,
       [&](const Reservation& p) {  // those of jobs behind, and those by which it is not bound, may be broken
         if (p.at == Millis::max()) return is_behind(p);
         return (is_behind(p) || !p.concerns(state, queue)) && end > p.at && !p.allows(state, steps, Beside::kItsNeeds);
       });
  for (Reservation& p : reservations_) {
    if (end > p.at) p.charge(state, steps);
    p.may_be_earlier = p.may_be_earlier || (is_otherwise && is_behind(p));
  }
}

}  // namespace ashlar
