// How a promise is made: running jobs are taken off the state in the order of their known ends, inside a trial, until the waiting job can be placed; a
// galloping search needs O(log ends) placements. What then is left on the job's nodes is noted, and all is undone.
#include "engine/promise.h"

#include <algorithm>
#include <optional>

#include "engine/quota.h"

namespace ashlar {
namespace {

/// The first moment of the timeline after which `job` can be placed.
class EndSearch {
 public:
  EndSearch(const PlacementContext& context, JobId job) : context_(context), state_(context.trial.state()), job_(job), draws_(context.draws) {
    for (const Timeline::End& end : state_.timeline.ends()) {
      if (end.at == Millis::max()) break;
      if (moments_.empty() || moments_.back().at != end.at) moments_.push_back({end.at, ended_.size()});
      ended_.push_back(end.job);
      moments_.back().ends = ended_.size();
    }
    checkpoints_.push_back(0);
  }

  /// On success the trial holds the job placed with everybody gone who ends by then.
  std::optional<Millis> run() {
    std::size_t next = std::min(moments_.size(), std::max({enough_cards(), enough_quota(), std::size_t{1}}));
    std::size_t failed = next == 0 ? 0 : next - 1;  // so many moments are not enough
    for (std::size_t step = 1; failed < moments_.size(); step *= 2) {
      if (fits_after(next)) return moments_[between(failed, next) - 1].at;
      failed = next;
      next = std::min(moments_.size(), next + step);
    }
    return std::nullopt;
  }

 private:
  struct Moment {
    Millis at;
    std::size_t ends = 0;  ///< of jobs, up to and with this moment
  };

  /// The least number of moments that is enough, and the job placed after it.
  std::size_t between(std::size_t failed, std::size_t enough) {
    bool is_placed = true;
    while (enough - failed > 1) {
      const std::size_t middle = failed + (enough - failed) / 2;
      is_placed = fits_after(middle);
      (is_placed ? enough : failed) = middle;
    }
    if (!is_placed) fits_after(enough);
    return enough;
  }
  /// No fewer moments than these bring cards enough, wherever they are.
  std::size_t enough_cards() const {
    std::int64_t free = 0, asked = 0;
    for (const std::int64_t idle : state_.cluster.group_idle_cards()) free += std::max<std::int64_t>(idle, 0);
    const Job& j = state_.job(job_);
    const std::uint32_t needed = j.members_needed();
    std::vector<std::int64_t> asks;
    state_.each_member(job_, [&](MemberId, const Member& m) {
      const CardAsk& ask = state_.demand(m.demand).cards;
      if (!m.is_placed()) asks.push_back(ask.is_whole() ? ask.count : 0);
    });
    std::sort(asks.begin(), asks.end());
    for (std::size_t i = 0; i < asks.size() && i < needed; ++i) asked += asks[i];
    const auto ends = state_.timeline.ends();
    std::size_t count = 0;
    for (std::size_t e = 0; count < moments_.size() && free < asked; ++count)
      for (; e < moments_[count].ends; ++e) free += ends[e].cards;
    return count;
  }
  /// No fewer moments than these free as much of the job's queues as it needs.
  std::size_t enough_quota() const {
    std::optional<Reason> refusal = quota_refusal(state_, job_);
    if (!refusal || refusal->code != ReasonCode::kQuotaExhausted) return 0;
    const QueueId limiting(refusal->subject);
    const auto dimension = static_cast<std::size_t>(refusal->numbers[0]);
    std::int64_t lacking = state_.queues.used(limiting)[dimension] + quota_needed(state_, job_)[dimension] - state_.queues.quota(limiting)[dimension];
    std::size_t count = 0;
    for (std::size_t e = 0; count < moments_.size() && lacking > 0; ++count)
      for (; e < moments_[count].ends; ++e) lacking -= held_of(ended_[e], limiting)[dimension];
    return count;
  }
  /// What the job's members hold of a queue above it.
  QuotaVector held_of(JobId job, QueueId queue) const {
    QuotaVector held{};
    if (job == job_ || !state_.queues.is_within(state_.job(job).queue, queue)) return held;
    state_.each_member(job, [&](MemberId, const Member& m) {
      if (!m.is_placed()) return;
      for (std::size_t d = 0; d < kQuotaDimensions; ++d) held[d] += state_.quota_of_demand(m.demand)[d];
    });
    return held;
  }
  bool fits_after(std::size_t moments) {
    Trial& trial = context_.trial;
    // checkpoints_[k] is the trial's length after the ends of k moments.
    if (checkpoints_.size() > moments + 1) checkpoints_.resize(moments + 1);
    trial.rollback_to(checkpoints_.back());
    while (checkpoints_.size() <= moments) {
      const std::size_t k = checkpoints_.size() - 1;
      for (std::size_t e = k == 0 ? 0 : moments_[k - 1].ends; e < moments_[k].ends; ++e)
        if (ended_[e] != job_) trial.evict(ended_[e]);
      checkpoints_.push_back(trial.checkpoint());
    }
    if (quota_refusal(state_, job_)) return false;
    draws_ = context_.draws;
    return place_job({trial, context_.views, context_.profile, draws_, members_within_quota(state_, job_)}, job_).is_placed;
  }

  const PlacementContext& context_;
  State& state_;
  JobId job_;
  Rng draws_;
  std::vector<Moment> moments_;
  std::vector<JobId> ended_;
  std::vector<std::size_t> checkpoints_;
};

/// What the job's members ask at all: a resource that none of them asks can be used up by others.
void note_needs(const State& state, JobId job, std::vector<std::uint8_t>& asks_amount, bool& asks_cards) {
  state.each_member(job, [&](MemberId, const Member& m) {
    const Demand& demand = state.demand(m.demand);
    asks_cards = asks_cards || demand.cards.count > 0;
    for (const ResourceAmount& a : demand.amounts) {
      if (asks_amount.size() <= a.resource.row()) asks_amount.resize(a.resource.row() + 1, 0);
      asks_amount[a.resource.row()] = 1;
    }
  });
}

void note_spares(const Trial& trial, const State& state, JobId job, std::vector<Promise::Spare>& spares) {
  std::vector<std::uint8_t> asks_amount;
  bool asks_cards = false;
  note_needs(state, job, asks_amount, asks_cards);
  for (const Trial::Step& step : trial.steps())
    if (step.is_take) spares.push_back({step.node, Promise::kPlenty, {}});
  std::sort(spares.begin(), spares.end(), [](const Promise::Spare& a, const Promise::Spare& b) { return a.node < b.node; });
  spares.erase(std::unique(spares.begin(), spares.end(), [](const Promise::Spare& a, const Promise::Spare& b) { return a.node == b.node; }),
               spares.end());
  for (Promise::Spare& spare : spares) {
    if (asks_cards) spare.cards = state.cluster.idle_cards()[spare.node.row()];
    spare.amounts.assign(asks_amount.size(), Promise::kPlenty);
    for (std::size_t r = 0; r < asks_amount.size(); ++r)
      if (asks_amount[r] != 0 && r < state.cluster.resource_count()) spare.amounts[r] = state.cluster.free(ResourceId(r))[spare.node.row()];
  }
}

void note_quota_spares(const State& state, QueueId queue, std::vector<Promise::QuotaSpare>& spares) {
  if (queue.row() >= state.queues.rows()) return;
  for (; !queue.is_none(); queue = state.queues.parent(queue)) {
    Promise::QuotaSpare spare{queue, {}};
    bool has_limit = false;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      const std::int64_t limit = state.queues.quota(queue)[d];
      spare.left[d] = limit == kUnlimited ? Promise::kPlenty : limit - state.queues.used(queue)[d];
      has_limit = has_limit || limit != kUnlimited;
    }
    if (has_limit) spares.push_back(spare);
  }
}

/// The steps, all of one job, take what they count for from the queues above it; false if one of them has not that much.
bool take_quota(const State& state, std::span<const Trial::Step> steps, std::vector<Promise::QuotaSpare>& spares) {
  QuotaVector sum{};
  QueueId taker;
  for (const Trial::Step& step : steps) {
    if (!step.is_take) continue;
    const Member& m = state.member(step.member);
    taker = state.job(m.job).queue;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) sum[d] += state.quota_of_demand(m.demand)[d];
  }
  bool is_enough = true;
  for (Promise::QuotaSpare& spare : spares) {
    if (taker.is_none() || !state.queues.is_within(taker, spare.queue)) continue;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      spare.left[d] -= sum[d];
      is_enough = is_enough && (sum[d] == 0 || spare.left[d] >= 0);
    }
  }
  return is_enough;
}

auto spare_of(auto& spares, NodeId node) {
  const auto it = std::lower_bound(spares.begin(), spares.end(), node, [](const Promise::Spare& s, NodeId n) { return s.node < n; });
  return it == spares.end() || it->node != node ? spares.end() : it;
}

/// A share of a card is charged as a whole one: the promised job may need the very card.
void take_from(Promise::Spare& spare, const Demand& demand) {
  spare.cards -= demand.cards.count;
  for (const ResourceAmount& a : demand.amounts)
    if (a.resource.row() < spare.amounts.size()) spare.amounts[a.resource.row()] -= a.amount;
}

bool is_enough(const Promise::Spare& spare) {
  return spare.cards >= 0 && std::all_of(spare.amounts.begin(), spare.amounts.end(), [](std::int64_t amount) { return amount >= 0; });
}

}  // namespace

bool Promise::allows(const State& state, std::span<const Trial::Step> steps) const {
  std::vector<QuotaSpare> quotas = quota_spares;
  if (!take_quota(state, steps, quotas)) return false;
  std::vector<Spare> left;  // only of nodes that are touched
  for (const Trial::Step& step : steps) {
    const auto promised = spare_of(spares, step.node);
    if (!step.is_take || promised == spares.end()) continue;
    const Demand& demand = state.demand(state.member(step.member).demand);
    if (!demand.ports.empty()) return false;  // whose ports they are then is not worked out
    auto it = std::find_if(left.begin(), left.end(), [&](const Spare& s) { return s.node == step.node; });
    if (it == left.end()) it = left.insert(left.end(), *promised);
    take_from(*it, demand);
    if (!is_enough(*it)) return false;
  }
  return true;
}

bool Promise::spares_quota_for(const State& state, JobId job) const {
  const QueueId queue = state.job(job).queue;
  const QuotaVector needed = quota_needed(state, job);
  return std::all_of(quota_spares.begin(), quota_spares.end(), [&](const QuotaSpare& spare) {
    if (!state.queues.is_within(queue, spare.queue)) return true;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      if (needed[d] > 0 && needed[d] > spare.left[d]) return false;
    return true;
  });
}

void Promise::withhold(Trial& trial) const {
  const Cluster& cluster = trial.state().cluster;
  for (const Spare& spare : spares) {
    Demand kept;
    kept.cards.count =
        static_cast<std::int32_t>(std::max<std::int64_t>(cluster.idle_cards()[spare.node.row()] - std::max<std::int64_t>(spare.cards, 0), 0));
    for (std::size_t r = 0; r < spare.amounts.size() && r < cluster.resource_count(); ++r) {
      const std::int64_t free = cluster.free(ResourceId(r))[spare.node.row()];
      if (const std::int64_t over = free - std::max<std::int64_t>(spare.amounts[r], 0); over > 0) kept.amounts.push_back({ResourceId(r), over});
    }
    if (kept.cards.count > 0 || !kept.amounts.empty()) trial.withhold(spare.node, std::move(kept));
  }
}

void Promise::charge(const State& state, std::span<const Trial::Step> steps) {
  take_quota(state, steps, quota_spares);
  for (const Trial::Step& step : steps)
    if (const auto it = spare_of(spares, step.node); step.is_take && it != spares.end())
      take_from(*it, state.demand(state.member(step.member).demand));
}

void Promises::refresh(const State& state, const Agenda& agenda, std::span<const NodeId> losses) {
  if (promises_.size() > 2 * kMax) {  // of jobs that somebody has overtaken in the order; should they be first again, they get another
    std::erase_if(promises_, [&](const Promise& p) {
      const Agenda::Head* first = agenda.first_blocked(p.shape.queue);
      return first == nullptr || first->entry.job != p.entry.job;
    });
  }
  std::erase_if(promises_, [&](const Promise& p) {
    if (!state.is_live(p.entry.job) || !agenda.contains(p.entry.job)) return true;
    return std::any_of(losses.begin(), losses.end(), [&](NodeId n) { return spare_of(p.spares, n) != p.spares.end(); });
  });
}

const Promise& Promises::to(const PlacementContext& context, const Agenda::Head& blocked, const ShapeKey& shape, Millis now) {
  const State& state = context.trial.state();
  auto it = std::find_if(promises_.begin(), promises_.end(), [&](const Promise& p) { return p.entry.job == blocked.entry.job; });
  if (it != promises_.end()) {
    const bool has_news = it->gains_seen != state.gains() || it->at < now;
    const bool is_due = (has_news && now - it->made_at >= kRenewedAfter) || it->queue_changes_seen != state.queues.change_count();
    if (it->shape == shape && it->entry == blocked.entry && !is_due) return *it;
    *it = Promise{};
  } else {
    it = promises_.insert(promises_.end(), Promise{});
  }
  it->entry = blocked.entry;
  it->shape = shape;
  it->made_at = now;
  it->gains_seen = state.gains();
  it->queue_changes_seen = state.queues.change_count();
  if (const auto at = EndSearch(context, blocked.entry.job).run()) {
    it->at = *at;
    note_spares(context.trial, state, blocked.entry.job, it->spares);
    note_quota_spares(state, state.job(blocked.entry.job).queue, it->quota_spares);
  }
  context.trial.rollback_to(0);
  return *it;
}

const Promise* Promises::find(JobId job) const {
  const auto it = std::find_if(promises_.begin(), promises_.end(), [&](const Promise& p) { return p.entry.job == job; });
  return it == promises_.end() ? nullptr : &*it;
}

void Promises::account(const State& state, const Agenda::Entry& entry, Millis end, std::span<const Trial::Step> steps) {
  std::erase_if(promises_, [&](const Promise& p) { return entry < p.entry || entry.job == p.entry.job; });
  for (Promise& p : promises_)
    if (end > p.at) p.charge(state, steps);
}

}  // namespace ashlar
