#include "engine/victims/candidates.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "engine/quota.h"
#include "engine/victims/borrowing.h"
#include "engine/victims/lost_work.h"
#include "engine/victims/siblings.h"

namespace ashlar {
namespace {

/// Whether, and from when on, a running job gives way to a waiting one.
struct Rule {
  StopReason reason = StopReason::kNone;
  Millis from = Millis::max();
};

/// Of jobs of one priority, which run much longer yet than the waiting one, by the profile's order.
class LongerOnes {
 public:
  LongerOnes(const OrderPolicy& order, const Job& waiting, Millis now)
      : order_(order), waiting_(waiting), key_(order.waiting(waiting)), now_(now) {}
  bool has(const Job& running) const {
    return order_.gives_way_to != nullptr && running.priority == waiting_.priority &&
           key_ < order_.gives_way_to(running, now_);
  }
  /// When to look whether it has become one; max(): it will not. That is when another eighth of the time has passed for
  /// which the job has waited, or a minute.
  Millis look_at(const Job& running) const {
    if (order_.gives_way_at == nullptr) return Millis::max();
    const Millis at = order_.gives_way_at(running, key_, now_);
    const Millis waited = now_ - waiting_.queued_at;
    return at == Millis::max() ? at : std::max(at, now_ + std::max(kLeast, Millis(waited.value / 8)));
  }

 private:
  static constexpr Millis kLeast{60'000};
  const OrderPolicy& order_;
  const Job& waiting_;
  OrderKey key_;
  Millis now_;
};

/// A running job of another queue.
struct Borrower {
  QueueId queue;
  std::int32_t priority = 0;
  bool is_longer = false;  ///< see LongerOnes
};

/// What the job may ask of other queues: what is guaranteed to its own, or, while it borrows, what those borrow.
class Claim {
 public:
  Claim(const State& state, JobId job)
      : rules_(state.queues().stops(state.job(job).queue)),
        queue_(state.job(job).queue),
        priority_(state.job(job).priority),
        needs_(quota_counters_needed(state, job)) {}

  bool asks_for_longer() const { return rules_.longer_while_borrowing; }
  Borrower borrower(const Job& running, const LongerOnes& longer) const {
    return {running.queue, running.priority, asks_for_longer() && longer.has(running)};
  }
  Rule rule(const QueueTree& queues, const Job& running, const LongerOnes& longer, Millis now) const {
    const Borrower borrower = this->borrower(running, longer);
    if (const StopReason is_now = reason(queues, queues, borrower); is_now != StopReason::kNone) return {is_now, now};
    if (!asks_for_longer() || borrower.is_longer) return {};
    const Millis at = longer.look_at(running);
    if (at == Millis::max()) return {};
    return {reason(queues, queues, {borrower.queue, borrower.priority, true}), at};
  }
  /// Whether there may be a rule for a job of that queue, by the lowest priority of those that run there.
  bool may_be_of(const QueueTree& queues, QueueId other, std::int32_t lowest) const {
    if (queues.shares().is_empty()) return false;
    return asks_for_longer() || reason(queues, {other, lowest, false}) != StopReason::kNone;
  }
  /// None: it does not stop for this one.
  StopReason reason(const QueueTree& queues, const Borrower& running) const { return reason(queues, queues, running); }
  /// The same, with other queues as they are in `others`.
  StopReason reason(const QueueTree& queues, const QueueTree& others, const Borrower& running) const {
    const auto [borrower, priority, is_longer] = running;
    const bool is_lower = priority < priority_;
    const bool may_reclaim =
        rules_.reclaims == StopRules::Reclaims::kAny || (rules_.reclaims == StopRules::Reclaims::kLower && is_lower);
    const bool may_while_borrowing = (is_lower || is_longer) && priority <= rules_.while_borrowing;
    if (!may_reclaim && !may_while_borrowing) return StopReason::kNone;
    const auto siblings = siblings_above(queues, queue_, borrower);
    if (!siblings) return StopReason::kNone;
    const bool is_inside = stays_within(queues, siblings->its);
    if (!(is_inside ? may_reclaim : may_while_borrowing)) return StopReason::kNone;
    for (QueueId q = borrower;; q = queues.parent(q)) {
      if (!has_more(others, is_inside ? siblings->its : QueueId::none(), q)) return StopReason::kNone;
      if (q == siblings->other) return is_inside ? StopReason::kReclaimed : StopReason::kWhileBorrowing;
    }
  }

 private:
  /// Whether the queue, with the job, stays within all guarantees that it names, and names one of what the job needs.
  bool stays_within(const QueueTree& queues, QueueId queue) const {
    bool names_any = false;
    for (const QueueShares::Column& column : queues.shares().columns()) {
      if (!is_named(column, queue)) continue;
      const std::int64_t needed = needed_of(queues, column);
      if (queues.used(column.of, queue) > QueueShares::guarantee(column, queue) - needed) return false;
      names_any = names_any || needed > 0;
    }
    return names_any;
  }
  /// Whether the other queue has more than its guarantee of something that the job needs; and that this queue is sure
  /// to get, if there is one.
  bool has_more(const QueueTree& queues, QueueId queue, QueueId other) const {
    return std::ranges::any_of(queues.shares().columns(), [&](const QueueShares::Column& column) {
      return (queue.is_none() || is_named(column, queue)) && needed_of(queues, column) > 0 &&
             queues.used(column.of, other) > QueueShares::guarantee(column, other);
    });
  }
  static bool is_named(const QueueShares::Column& column, QueueId queue) {
    return QueueShares::guarantee(column, queue) > 0 || QueueShares::stated(column, queue) != QuotaShare::kNotNamed;
  }
  std::int64_t needed_of(const QueueTree& queues, const QueueShares::Column& column) const {
    return amount_of_column(queues, column, needs_);
  }

  const StopRules& rules_;
  QueueId queue_;
  std::int32_t priority_;
  std::vector<std::int64_t> needs_;
};

/// The rule for one job of another queue after the other. Of a queue those of one priority have the same, unless longer
/// ones are told apart.
class RulesOfQueue {
 public:
  RulesOfQueue(const Claim& claim, const QueueTree& queues, const LongerOnes& longer, Millis now)
      : claim_(claim), queues_(queues), longer_(longer), now_(now) {}
  Rule rule(const Job& running) {
    if (claim_.asks_for_longer()) return claim_.rule(queues_, running, longer_, now_);
    if (running.queue != queue_ || running.priority != priority_) {
      last_ = claim_.rule(queues_, running, longer_, now_);
      queue_ = running.queue;
      priority_ = running.priority;
    }
    return last_;
  }

 private:
  const Claim& claim_;
  const QueueTree& queues_;
  const LongerOnes& longer_;
  Millis now_;
  QueueId queue_;
  std::int32_t priority_ = 0;
  Rule last_;
};

/// Of a job of the same queue.
Rule own_rule(const StopRules& rules, const LongerOnes& longer, const Job& waiting, const Job& running, Millis now) {
  if (rules.own == StopRules::Own::kNever || running.stopping.is_unstoppable) return {};
  if (running.priority < waiting.priority) return {StopReason::kLowerPriority, now};
  if (running.priority > waiting.priority) return {};
  if (rules.own == StopRules::Own::kLowerOrNewer && running.queued_at > waiting.queued_at)
    return {StopReason::kNewer, now};
  if (rules.own != StopRules::Own::kLowerOrLonger) return {};
  if (longer.has(running)) return {StopReason::kLonger, now};
  const Millis at = longer.look_at(running);
  return at == Millis::max() ? Rule{} : Rule{StopReason::kLonger, at};
}

/// What queues use without what gives way.
class QueuesWithout {
 public:
  explicit QueuesWithout(const State& state) : state_(state), queues_(state.queues()) {}
  const QueueTree& queues() const { return queues_; }
  /// Takes off what its placed members use that have not given way yet.
  void give_back(const Victim& victim) {
    const QueueId queue = state_.job(victim.job).queue;
    std::vector<std::int64_t> by_key(queues_.keys().size());
    each_placed(state_, victim, [&](MemberId id, const Member& m) {
      if (victim.is_whole() ? gone_.contains(id) : !gone_.insert(id).second) return;
      queues_.charge(queue, state_.quota_of_member(m), -1);
      if (!by_key.empty()) add_by_key(state_, id, m.node, m.devices, by_key);
    });
    for (std::size_t key = 0; key < by_key.size(); ++key) queues_.charge(key, queue, -by_key[key]);
  }

 private:
  const State& state_;
  QueueTree queues_;
  std::set<MemberId> gone_;  ///< by themselves
};

bool may_be_stopped(const Job& running) { return running.is_ours && !running.is_hold; }

/// Whether a job of lower priority runs in the job's queue, or a newer one of its own where the rules ask for that.
bool has_lower(const State& state, const StopRules& rules, const Job& waiting) {
  if (rules.own == StopRules::Own::kNever || state.running().in(waiting.queue).empty()) return false;
  const std::int64_t below = std::int64_t{waiting.priority} + (rules.own == StopRules::Own::kLowerOrNewer ? 1 : 0);
  return state.running().lowest_priority(waiting.queue) < below;
}

bool may_stop_own(const State& state, const StopRules& rules, const Job& waiting) {
  return rules.own == StopRules::Own::kLowerOrLonger || has_lower(state, rules, waiting);
}

/// From when on the running job may be stopped.
Millis protected_until(const QueueTree& queues, const Job& running, bool is_own) {
  const Millis by_queue =
      is_own ? queues.protected_from_own(running.queue) : queues.protected_from_others(running.queue);
  return running.started_at + std::max(by_queue, running.stopping.protected_for);
}

/// Jobs and members beyond their minima, in the order in which those give way that differ in nothing else.
class GivesWayBefore {
 public:
  GivesWayBefore(const State& state, Millis now, Candidates::First first)
      : state_(state), now_(now), first_(first), lost_work_(state, now) {}
  std::vector<Victim> in_order(const std::vector<Victim>& jobs) const {
    std::vector<std::pair<Key, Victim>> keyed;
    for (const Victim& job : jobs) {
      for (const MemberId member : surplus_members(state_, job.job)) keyed.emplace_back(Key{}, Victim{job.job, member});
      keyed.emplace_back(Key{}, job);
    }
    for (auto& [key, victim] : keyed) {
      const Job& job = state_.job(victim.job);
      key = {victim.is_whole() && first_ != Candidates::First::kLowestPriority, lost(victim), job.priority,
             -job.started_at.value, ~job.start_seq};
    }
    std::ranges::stable_sort(keyed, {}, [](const auto& of) -> const Key& { return of.first; });
    std::vector<Victim> sorted;
    for (const auto& of : keyed) sorted.push_back(of.second);
    return sorted;
  }

 private:
  using Key = std::tuple<bool, std::int64_t, std::int32_t, std::int64_t, std::uint64_t>;
  /// Zero where the order does not ask for it.
  std::int64_t lost(const Victim& victim) const {
    if (first_ == Candidates::First::kLowestPriority) return 0;
    const bool is_by_device = first_ == Candidates::First::kLeastLostByDevice;
    return is_by_device ? state_.job(victim.job).lost_if_stopped(now_).value : lost_work_.of(victim);
  }
  const State& state_;
  Millis now_;
  Candidates::First first_;
  LostWork lost_work_;
};

}  // namespace

AnyCandidate::AnyCandidate(const State& state, const OrderPolicy& order, Millis now) : state_(state), order_(order) {
  const RunningJobs& running = state.running();
  if (order.gives_way_to == nullptr) return;
  gives_way_to_.assign(running.rows(), OrderKey{INT64_MIN, INT64_MIN});
  for (std::size_t row = 0; row < running.rows(); ++row)
    for (const JobId job : running.in(QueueId(row)))
      gives_way_to_[row] = std::max(gives_way_to_[row], order.gives_way_to(state.job(job), now));
}

bool AnyCandidate::exists_for(JobId job) const {
  const Job& waiting = state_.job(job);
  if (waiting.stopping.stops_none) return false;
  const QueueTree& queues = state_.queues();
  if (has_lower(state_, queues.stops(waiting.queue), waiting)) return true;
  const StopRules::Own own = queues.stops(waiting.queue).own;
  const std::size_t row = waiting.queue.row();
  const OrderKey key = order_.waiting(waiting);
  const auto has_longer = [&](std::size_t queue) { return queue < gives_way_to_.size() && key < gives_way_to_[queue]; };
  if (own == StopRules::Own::kLowerOrLonger && has_longer(row)) return true;
  if (queues.shares().is_empty()) return false;
  const Claim claim(state_, job);
  for (std::size_t other = 0; other < state_.running().rows(); ++other) {
    const QueueId queue(other);
    if (state_.running().in(queue).empty()) continue;
    const bool is_longer = claim.asks_for_longer() && has_longer(other);
    const std::int32_t lowest = state_.running().lowest_priority(queue);
    if (claim.reason(queues, {queue, lowest, is_longer}) != StopReason::kNone) return true;
  }
  return false;
}

StopReason stop_reason(const State& state, const OrderPolicy& order, JobId job, JobId candidate, Millis now) {
  const Job &waiting = state.job(job), &running = state.job(candidate);
  const QueueTree& queues = state.queues();
  const LongerOnes longer(order, waiting, now);
  if (running.queue == waiting.queue)
    return own_rule(queues.stops(waiting.queue), longer, waiting, running, now).reason;
  const Claim claim(state, job);
  return claim.reason(queues, claim.borrower(running, longer));
}

Candidates::Candidates(const State& state, const OrderPolicy& order, JobId job, Millis now, First first,
                       const std::set<JobId>& started)
    : state_(state), order_(order), job_(job), now_(now) {
  const Job& waiting = state.job(job);
  const QueueTree& queues = state.queues();
  const StopRules& rules = queues.stops(waiting.queue);
  const Claim claim(state, job);
  const LongerOnes longer(order, waiting, now);
  const std::vector<JobId> spared = state.gave_way().ahead_of(job);
  const bool may_stop_its_own = first == First::kLowestPriority || spared.empty();
  RulesOfQueue of_queue(claim, queues, longer, now);
  const auto look_at = [&](JobId id, bool is_own) {
    if (id == job || std::ranges::binary_search(spared, id)) return;
    const Job& running = state.job(id);
    const Rule rule = is_own ? own_rule(rules, longer, waiting, running, now) : of_queue.rule(running);
    if (rule.reason == StopReason::kNone) return;
    const Millis until = std::max(rule.from, protected_until(queues, running, is_own));
    if (until > now || started.contains(id))
      more_at_ = std::min(more_at_, until);
    else
      (is_own ? own_ : running.stopping.is_unstoppable ? unstoppable_ : others_).push_back({id});
  };
  for (std::size_t row = 0; row < state.running().rows(); ++row) {
    const QueueId queue(row);
    const bool is_own = queue == waiting.queue;
    const bool may_have_some = !state.running().in(queue).empty() &&
                               (is_own ? may_stop_its_own && may_stop_own(state, rules, waiting)
                                       : claim.may_be_of(queues, queue, state.running().lowest_priority(queue)));
    if (!may_have_some) continue;
    for (const JobId id : state.running().in(queue)) look_at(id, is_own);
  }
  const GivesWayBefore gives_way(state, now, first);
  own_ = gives_way.in_order(own_);
  others_ = gives_way.in_order(others_);
}

Candidates Candidates::on_its_nodes() const {
  std::vector<ConstraintId> constraints;
  state_.each_needed(job_, [&](MemberId, const Member& m) {
    if (std::ranges::find(constraints, m.constraint) == constraints.end()) constraints.push_back(m.constraint);
  });
  const auto is_elsewhere = [&](const Victim& victim) {
    bool is_any = false;
    each_placed(state_, victim, [&](MemberId, const Member& m) {
      is_any = is_any || std::ranges::any_of(constraints, [&](ConstraintId id) {
                 return state_.cluster().allowed(id, kNodeRules).test(m.node.row());
               });
    });
    return !is_any;
  };
  Candidates there = *this;
  for (std::vector<Victim>* victims : {&there.own_, &there.others_, &there.unstoppable_})
    std::erase_if(*victims, is_elsewhere);
  return there;
}

/// Of the unstoppable ones those that are beyond what is guaranteed to their queues, with all such jobs that started no
/// later: as if there were no others.
void Candidates::add_unstoppable(const QueueTree& left, std::vector<Victim>& order) const {
  const Claim claim(state_, job_);
  const LongerOnes longer(order_, state_.job(job_), now_);
  QueuesWithout theirs(state_);
  std::vector<JobId> running;
  for (const Timeline::End& end : state_.timeline().ends()) {
    const Job& job = state_.job(end.job);
    if (!may_be_stopped(job)) continue;
    if (job.stopping.is_unstoppable)
      running.push_back(end.job);
    else
      theirs.give_back({end.job});
  }
  std::ranges::sort(running, std::ranges::greater{},
                    [&](JobId id) { return std::tuple(state_.job(id).started_at, state_.job(id).start_seq); });
  for (const JobId id : running) {
    const Job& job = state_.job(id);
    const bool is_candidate = std::ranges::find(unstoppable_, Victim{id}) != unstoppable_.end();
    if (is_candidate && claim.reason(left, theirs.queues(), claim.borrower(job, longer)) != StopReason::kNone)
      order.push_back({id});
    theirs.give_back({id});
  }
}

Candidates::Order Candidates::in_order(const Victim& first) const {
  Order order;
  if (!others_.empty() || !unstoppable_.empty()) {
    QueuesWithout left(state_);
    std::vector<Victim> borrowers = others_;
    if (!first.job.is_none())
      std::stable_partition(borrowers.begin(), borrowers.end(), [&](const Victim& one) { return one == first; });
    const Claim claim(state_, job_);
    const LongerOnes longer(order_, state_.job(job_), now_);
    std::vector<std::uint8_t> is_inside(state_.queues().rows());  // a queue that only gives back stays so
    for (const Victim& borrower : borrowers) {
      std::uint8_t& is_left = is_inside[state_.job(borrower.job).queue.row()];
      if (is_left == 0) {
        const Borrower running = claim.borrower(state_.job(borrower.job), longer);
        is_left = claim.reason(left.queues(), running) == StopReason::kNone ? 1 : 0;
      }
      (is_left != 0 ? order.left_out : order.victims).push_back(borrower);
      if (is_left == 0) left.give_back(borrower);
    }
    if (!unstoppable_.empty()) add_unstoppable(left.queues(), order.victims);
  }
  order.victims.insert(order.victims.end(), own_.begin(), own_.end());
  return order;
}

}  // namespace ashlar
