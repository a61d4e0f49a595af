#include "engine/reserve/earliest_start.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/grown.h"
#include "engine/place/lifted_holds.h"
#include "engine/place/nomination.h"
#include "engine/place/tables/node_rating.h"
#include "engine/quota.h"
#include "engine/reserve/slots.h"
#include "policy/node/device_fit.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {

namespace {

/// Most searches list fewer ends and moments than that.
constexpr std::size_t kListedMostly = 32;

/// Whether the request can have exactly these devices.
bool are_free(const Cluster& cluster, NodeId node, const DeviceRequest& request, const DeviceMask& devices) {
  if (devices.is_empty() || devices.among(cluster.devices()[node.row()]) != devices) return false;
  const auto milli = cluster.device_free_milli(node);
  const auto mib = cluster.device_free_mib(node);
  const DeviceMemories memories = cluster.device_memories(node);
  bool are_so = true;
  devices.each([&](int device) {
    const auto i = static_cast<std::size_t>(device);
    are_so = are_so && (request.is_whole() ? milli[i] == kWholeDevice && mib[i] == memories[i]
                                           : shares_in_device(request, milli[i], mib[i], memories[i] != 0) > 0);
  });
  return are_so;
}

}  // namespace

ExpectedEnds::ExpectedEnds(const State& state, Millis now, EndsBy by)
    : as_of_{by, now}, ends_(state.timeline().ends()), next_(ends_.begin()) {
  for (; next_ != ends_.end() && (next_->at <= now || by == EndsBy::kMedian); ++next_) {
    put_off_.push_back(*next_);
    put_off_.back().at = by == EndsBy::kMedian ? state.job(next_->job).expected_end(now) : put_off(next_->at, now);
  }
  std::make_heap(put_off_.begin(), put_off_.end(), std::greater<>());  // few of them are listed
}

ExpectedEnds::ExpectedEnds(const State& state, const PutOffEnds& put_off)
    : as_of_{EndsBy::kLate, put_off.now()},
      kept_(&put_off),
      next_kept_(put_off.begin()),
      ends_(state.timeline().ends()),
      next_(ends_.after(put_off.now())) {
  listed_.reserve(kListedMostly);
}

const Timeline::End* ExpectedEnds::next_put_off() const {
  if (kept_ != nullptr) return next_kept_ == kept_->end() ? nullptr : &next_kept_->end;
  return put_off_.empty() ? nullptr : &put_off_.front();
}

void ExpectedEnds::pass_put_off() const {
  if (kept_ != nullptr) {
    ++next_kept_;
    return;
  }
  std::pop_heap(put_off_.begin(), put_off_.end(), std::greater<>());
  put_off_.pop_back();
}

void ExpectedEnds::add_unknown(const State& state, Millis since) {
  for (std::size_t queue = 0; queue < state.running().rows(); ++queue)
    for (const JobId job : state.running().in(QueueId(queue)))
      if (as_of_.of(state.job(job)) == Millis::max()) unknown_.push_back({{}, state.job(job).devices_total, job});
  std::ranges::sort(unknown_, {}, [&](const Timeline::End& end) {
    const Job& job = state.job(end.job);
    const auto turn = static_cast<std::int64_t>(job.start_seq);
    return std::pair(job.started_at > since, job.started_at > since ? turn : -turn);
  });
  for (std::size_t i = 0; i < unknown_.size(); ++i) unknown_[i].at = kUnknown + Millis(static_cast<std::int64_t>(i));
}

bool ExpectedEnds::reaches(std::size_t count) const {
  while (listed_.size() < count) {
    const Timeline::End* end = next_put_off();
    const bool is_put_off = end != nullptr && (next_ == ends_.end() || *end < *next_);
    if (!is_put_off) end = next_ == ends_.end() ? nullptr : &*next_;
    if (end == nullptr || end->at == Millis::max()) {
      if (unknown_listed_ == unknown_.size()) break;
      listed_.push_back(unknown_[unknown_listed_++]);
      continue;
    }
    listed_.push_back(*end);
    if (is_put_off)
      pass_put_off();
    else
      ++next_;
  }
  return listed_.size() >= count;
}

EarliestStart::EarliestStart(const PlacementContext& context, JobId job, ExpectedEnds ends, Availability& availability,
                             std::span<const Reservation* const> ahead)
    : context_(context),
      state_(context.trial.state()),
      job_(job),
      availability_(availability),
      ahead_(ahead),
      draws_(context.draws),
      ends_(std::move(ends)) {
  lasts_ = state_.job(job).late_end_if_started(Millis(0));
  for (const Reservation* p : ahead)
    if (p->ends != Millis::max()) others_.push_back(p->ends);
  std::sort(others_.begin(), others_.end());
  for (const Hold& hold : state_.holds())
    if (hold.is_later() && lasts_ != Millis::max()) too_late_.push_back(hold.from - lasts_ + Millis(1));
  moments_.reserve(kListedMostly);
  checkpoints_.push_back(0);
}

bool EarliestStart::reaches(std::size_t count) {
  while (moments_.size() < count) {
    const Millis end = ends_.reaches(ends_listed_ + 1) ? ends_[ends_listed_].at : Millis::max();
    const Millis other = others_listed_ < others_.size() ? others_[others_listed_] : Millis::max();
    const Millis at = std::min(end, other);
    if (at == Millis::max()) break;
    while (others_listed_ < others_.size() && others_[others_listed_] == at) ++others_listed_;
    while (ends_.reaches(ends_listed_ + 1) && ends_[ends_listed_].at == at) ++ends_listed_;
    moments_.push_back({at, ends_listed_});
  }
  return moments_.size() >= count;
}

std::optional<Millis> EarliestStart::run(Millis before) {
  start_over();
  // Where quota and what is free now decide, nothing need be known of what else becomes idle.
  const std::size_t quota_moments = enough_quota();
  if (waits_for_quota_ && reaches(quota_moments) && moments_[quota_moments - 1].at < before) {
    if (fit_after(quota_moments, Freed::kQuota) == Fit::kPlaced) {
      evict_beside(quota_moments);
      return moments_[quota_moments - 1].at;
    }
    start_over();
  }
  const Millis at = enough_devices();
  if (at >= before) return std::nullopt;
  return search_from(moments_needed(at), before);
}

bool EarliestStart::run_draining(Millis since) {
  start_over();
  ends_.add_unknown(state_, since);
  const std::size_t known = count_before(ExpectedEnds::kUnknown);
  return search_from(std::max(moments_needed(Millis(0)), known + 1), Millis::max()).has_value();
}

std::optional<Millis> EarliestStart::search_from(std::size_t first, Millis before) {
  while (reaches(first) && moments_[first - 1].at < before) {
    const std::size_t enough = least_within(first, std::min(stretch_from(first), before));
    if (enough == 0) continue;
    if (freed_ == Freed::kQuota) evict_beside(enough);
    return moments_[enough - 1].at;
  }
  return std::nullopt;
}

bool EarliestStart::is_still(const Reservation& made) {
  if (!ahead_.empty() || !state_.yielding().empty() || !state_.queues().keys().empty() || !state_.nominations().empty())
    return false;
  if (!is_earliest(made.at)) return false;
  const std::size_t count = count_before(made.at + Millis(1));
  if (count == 0 || moments_[count - 1].at != made.at) return false;
  free_until(count, Freed::kQuota);
  std::vector<NodeId> nodes;
  for (const Reservation::Place& place : made.places) nodes.push_back(place.node);
  evict_from(std::move(nodes), count);
  return !quota_refusal(state_, job_) && std::ranges::all_of(made.places, [&](const Reservation::Place& place) {
    return has_room(place) && seat(made, place);
  });
}

bool EarliestStart::is_earliest(Millis at) {
  const std::size_t quota_moments = enough_quota();
  if (!reaches(quota_moments) || moments_[quota_moments - 1].at > at) return false;
  if (moments_[quota_moments - 1].at == at) return true;
  const Millis idle = enough_devices();
  if (idle >= at) return idle == at;
  const std::size_t first = moments_needed(idle);
  return reaches(first) && moments_[first - 1].at >= at;
}

void EarliestStart::start_over() {
  context_.trial.rollback_to(0);
  checkpoints_.resize(1);
}

bool EarliestStart::has_room(const Reservation::Place& place) const {
  if (!state_.is_live(place.member)) return false;
  const Member& m = state_.member(place.member);
  std::uint16_t members = 0;
  NodeRating(context_.profile, m.demand, m.constraint).count(state_, {place.node.row(), 1}, {&members, 1});
  return members > 0;
}

Millis EarliestStart::enough_devices() {
  const NeededSlots needed = needed_slots(state_, job_);
  const Millis at = availability_.earliest_fit(state_, needed.largest);
  return at == Millis::max() ? at : std::max(at, availability_.earliest_fit(state_, needed.all));
}

std::size_t EarliestStart::moments_needed(Millis at) {
  std::size_t moments = enough_quota();
  while (reaches(moments) && moments_[moments - 1].at < at) ++moments;
  return moments;
}

std::size_t EarliestStart::count_before(Millis before, std::size_t most, std::size_t known) {
  std::size_t count = known;
  while (count < most && reaches(count + 1) && moments_[count].at < before) ++count;
  return count;
}

EarliestStart::Presence EarliestStart::presence_of(const Reservation& reservation, Millis at) const {
  const bool is_over = reservation.ends <= at;
  const bool is_before = lasts_ != Millis::max() && at + lasts_ <= reservation.at;
  return is_over || is_before ? Presence::kApart : Presence::kBeside;
}

Millis EarliestStart::stretch_from(std::size_t first) const {
  const Millis at = moments_[first - 1].at;
  Millis until = Millis::max();  // at that time a job with a reservation starts or ends, or a hold becomes too near
  for (const Millis too_late : too_late_)
    if (at < too_late) until = std::min(until, too_late);
  for (const Reservation* p : ahead_) {
    if (presence_of(*p, at) == Presence::kBeside)
      until = std::min(until, p->ends);
    else if (at < p->at)
      until = std::min(until, p->at - lasts_ + Millis(1));
  }
  return until;
}

std::size_t EarliestStart::least_within(std::size_t& first, Millis until) {
  // Within one stretch more ends never mean less capacity. Most searches end early in the first one, so its end, before
  // which there may be thousands, is looked at last.
  std::size_t failed = first - 1;
  std::size_t next = first;
  for (std::size_t step = 1; next > failed; step *= 2) {
    if (fits_after(next)) return between(failed, next);
    failed = next;
    next = count_before(until, failed + step, failed);
  }
  first = failed + 1;
  return 0;
}

std::size_t EarliestStart::between(std::size_t failed, std::size_t enough) {
  bool is_placed = true;
  while (enough - failed > 1) {
    const std::size_t middle = failed + (enough - failed) / 2;
    is_placed = fits_after(middle);
    (is_placed ? enough : failed) = middle;
  }
  if (!is_placed) fits_after(enough);
  return enough;
}

std::size_t EarliestStart::enough_quota() {
  if (!enough_quota_) enough_quota_ = std::max<std::size_t>(count_enough_quota(), 1);
  return *enough_quota_;
}

std::size_t EarliestStart::count_enough_quota() {
  std::optional<Reason> refusal = quota_refusal(state_, job_);
  if (!refusal || refusal->code != ReasonCode::kQuotaExhausted) return 0;
  waits_for_quota_ = true;
  if (refusal->numbers[0] >= static_cast<std::int64_t>(kQuotaDimensions)) return 0;  // by key: a weaker bound
  const QueueId limiting(refusal->subject);
  const auto dimension = static_cast<std::size_t>(refusal->numbers[0]);
  std::int64_t lacking = quota_needed(state_, job_)[dimension] -
                         (state_.queues().quota(limiting)[dimension] - state_.queues().counted(dimension, limiting));
  std::size_t count = 0;
  for (; lacking > 0 && reaches(count + 1); ++count)
    while (ends_given_back_ < moments_[count].ends) {
      const QueueId queue = state_.job(ends_[ends_given_back_].job).queue;
      const QuotaVector given = give_back_next();
      if (lacking > 0 && state_.queues().is_within(queue, limiting)) lacking -= given[dimension];
    }
  return count;
}

void EarliestStart::free_until(std::size_t moments, Freed freed) {
  Trial& trial = context_.trial;
  if (std::exchange(freed_, freed) != freed) checkpoints_.resize(1);
  if (freed == Freed::kAll && !deciding_) {
    trial.rollback_to(0);
    deciding_.emplace(state_, context_.profile, job_);
  }
  if (freed == Freed::kAll ? deciding_->are_known() : state_.queues().keys().empty())
    return free_at_once(moments, freed);
  // checkpoints_[k] is the trial's length after the ends of k moments.
  if (checkpoints_.size() > moments + 1) checkpoints_.resize(moments + 1);
  trial.rollback_to(checkpoints_.back());
  while (checkpoints_.size() <= moments) {
    const std::size_t k = checkpoints_.size() - 1;
    for (std::size_t e = k == 0 ? 0 : moments_[k - 1].ends; e < moments_[k].ends; ++e) {
      if (ends_[e].job == job_) continue;
      if (freed == Freed::kQuota)
        trial.give_back_quota(ends_[e].job);
      else
        trial.evict(ends_[e].job);
    }
    checkpoints_.push_back(trial.checkpoint());
  }
}

void EarliestStart::free_at_once(std::size_t moments, Freed freed) {
  Trial& trial = context_.trial;
  trial.rollback_to(0);
  const std::size_t ends = moments_[moments - 1].ends;
  sum_given_back(ends);
  for (const GivenBack& given : given_back_) trial.give_back_quota(given.queue, given.amounts);
  if (freed == Freed::kAll) evict_where_it_decides(ends);
}

void EarliestStart::sum_given_back(std::size_t ends) {
  if (ends < ends_given_back_) {
    given_back_.clear();
    given_at_.clear();
    ends_given_back_ = 0;
  }
  while (ends_given_back_ < ends) give_back_next();
}

QuotaVector EarliestStart::give_back_next() {
  const JobId job = ends_[ends_given_back_++].job;
  QuotaVector given{};
  if (job == job_ || state_.job(job).is_hold) return given;
  state_.each_member(job, [&](MemberId, const Member& m) {
    if (!m.is_placed()) return;
    const QuotaVector amounts = state_.quota_of_member(m);
    give_back(state_.job(job).queue, amounts);
    add_saturated(given, amounts);
  });
  return given;
}

/// A sum beyond int64 goes on in a second one.
void EarliestStart::give_back(QueueId queue, const QuotaVector& amounts) {
  std::uint32_t& at = grown(given_at_, queue.row());
  QuotaVector sum = amounts;
  bool is_beyond = at == 0;
  for (std::size_t d = 0; d < kQuotaDimensions && !is_beyond; ++d)
    is_beyond = __builtin_add_overflow(given_back_[at - 1].amounts[d], amounts[d], &sum[d]);
  if (!is_beyond) {
    given_back_[at - 1].amounts = sum;
    return;
  }
  given_back_.push_back({queue, amounts});
  at = static_cast<std::uint32_t>(given_back_.size());
}

void EarliestStart::evict_where_it_decides(std::size_t ends) {
  if (ends < ends_counted_) {
    deciding_->start_anew();
    ends_counted_ = 0;
  }
  for (; ends_counted_ < ends; ++ends_counted_)
    if (ends_[ends_counted_].job != job_) deciding_->free(ends_[ends_counted_].job);
  std::vector<std::uint8_t> decides = deciding_->list();
  for (const Reservation* p : ahead_)
    for (const Reservation::Place& place : p->places)
      if (place.node.row() < decides.size()) decides[place.node.row()] = 1;
  const auto decides_on = [&](NodeId n) { return n.row() < decides.size() && decides[n.row()] != 0; };
  for (std::size_t e = 0; e < ends; ++e) {
    bool is_there = false;
    state_.each_member(
        ends_[e].job, [&](MemberId, const Member& m) { is_there = is_there || (m.is_placed() && decides_on(m.node)); });
    if (is_there && ends_[e].job != job_) evict(ends_[e].job);
  }
}

void EarliestStart::evict_beside(std::size_t moments) {
  std::vector<NodeId> taken;
  each_placement(context_.trial.steps(), [&](const Trial::Placement& step) { taken.push_back(step.node); });
  evict_from(std::move(taken), moments);
}

void EarliestStart::evict_from(std::vector<NodeId> nodes, std::size_t moments) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const Millis until = moments_[moments - 1].at;
  std::vector<Timeline::End> ended;
  for (const NodeId n : nodes)
    state_.each_on(n, [&](const Member& m) {
      const Job& j = state_.job(m.job);
      if (!j.is_started || m.job == job_) return;
      if (const Millis at = ends_.as_of().of(j); at <= until) ended.push_back({at, j.devices_total, m.job});
    });
  std::sort(ended.begin(), ended.end());
  ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
  for (const Timeline::End& end : ended) evict(end.job);
}

void EarliestStart::evict(JobId ended) {
  context_.trial.take_quota_again(ended);
  context_.trial.evict(ended);
}

bool EarliestStart::seat(const Reservation& reservation) {
  if (!state_.yielding().empty()) context_.trial.expect_end(reservation.entry.job, reservation.lasts);
  return std::ranges::all_of(reservation.places,
                             [&](const Reservation::Place& place) { return seat(reservation, place); });
}

bool EarliestStart::seat(const Reservation& reservation, const Reservation::Place& place) {
  if (!state_.is_live(place.member) || !state_.cluster().is_live(place.node)) return false;
  const Member& m = state_.member(place.member);
  if (m.job != reservation.entry.job || m.is_placed()) return false;
  const DeviceRequest& request = state_.demand(m.demand).devices;
  const Constraint& asked = state_.cluster().constraint(m.constraint);
  // On unlike devices those that were found then leave the right ones to the others.
  DeviceMask devices = are_free(state_.cluster(), place.node, request, place.devices)
                           ? place.devices
                           : choose_devices(state_.cluster(), place.node, request, asked);
  if (devices.count() < request.count && drop_outranked(m.job, place.node))
    devices = choose_devices(state_.cluster(), place.node, request, asked);
  if (devices.count() < request.count) {
    LiftedHolds lifted(context_.trial, usable_holds(state_, m.job, reservation.lasts, place.node));
    devices = choose_devices(state_.cluster(), place.node, request, asked);
    if (devices.count() < request.count) return false;
    context_.trial.place(place.member, place.node, devices);
    lifted.put_back();
    return true;
  }
  context_.trial.place(place.member, place.node, devices);
  return true;
}

bool EarliestStart::drop_outranked(JobId job, NodeId node) {
  bool has_dropped = false;
  for (const MemberId m : outranked_nominations(state_, job)) {
    if (!node.is_none() && state_.member(m).node != node) continue;
    context_.trial.evict(m);
    has_dropped = true;
  }
  return has_dropped;
}

bool EarliestStart::place(Millis at) {
  draws_ = context_.draws;
  // Members above the minimum are the first to give way: no job waits for them.
  const PlacementContext context{
      context_.trial, context_.fit_tables, context_.profile, draws_, state_.job(job_).members_needed(), at};
  return place_job(context, job_).is_placed ||
         (drop_outranked(job_, NodeId::none()) && place_job(context, job_).is_placed);
}

bool EarliestStart::fits_after(std::size_t moments) {
  if (waits_for_quota_)
    if (const Fit fit = fit_after(moments, Freed::kQuota); fit != Fit::kNoRoom) return fit == Fit::kPlaced;
  return fit_after(moments, Freed::kAll) == Fit::kPlaced;
}

EarliestStart::Fit EarliestStart::fit_after(std::size_t moments, Freed freed) {
  free_until(moments, freed);
  Trial& trial = context_.trial;
  const Millis at = moments_[moments - 1].at;
  std::vector<const Reservation*> later;
  for (const Reservation* p : ahead_) {
    if (presence_of(*p, at) == Presence::kApart) continue;
    if (p->at > at || (p->is_draining && at < ExpectedEnds::kUnknown))
      later.push_back(p);
    else if (!seat(*p))
      return Fit::kNoRoom;
  }
  if (quota_refusal(state_, job_)) return Fit::kNoQuota;
  for (const Reservation* p : later)
    if (!p->spares_quota_for(state_, job_)) return Fit::kNoQuota;
  const std::size_t before = trial.checkpoint();
  for (const Reservation* p : later) p->block(trial, job_, Beside::kItsNeeds);
  const bool is_placed = place(at);
  trial.unblock();
  const std::span<const Trial::Step> placed = std::span(trial.steps()).subspan(before);
  const bool fits = is_placed && std::all_of(later.begin(), later.end(), [&](const Reservation* p) {
                      return p->allows(state_, placed, Beside::kItsNeeds);
                    });
  return fits ? Fit::kPlaced : Fit::kNoRoom;
}

}  // namespace ashlar
