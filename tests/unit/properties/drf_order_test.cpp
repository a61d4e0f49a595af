// The queue order "drf" against a tournament played anew before each start: at every level the best job below each
// queue stands for it. Jobs that cannot start may stand for their queue or not: the engine does not look at all of them
// again in each decision.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "base/decay.h"
#include "engine/engine.h"
#include "engine/place/placement.h"
#include "engine/quota.h"
#include "history.h"

namespace ashlar {
namespace {

using Wide = __int128;

/// What a counter of quotas is, with all that is known of it.
struct Counter {
  QuotaKey of;
  std::optional<std::size_t> key;  ///< of QueueTree::keys; none: a dimension
  std::size_t dimension = 0;

  std::int64_t used(const QueueTree& queues, QueueId queue) const {
    return key ? queues.used(*key, queue) : queues.used(queue)[dimension];
  }
  std::int64_t limit(const QueueTree& queues, QueueId queue) const {
    return key ? queues.limit(*key, queue) : queues.quota(queue)[dimension];
  }
};

std::int64_t all_nodes_have(const State& state, const QuotaKey& key) {
  std::int64_t sum = 0;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
    if (!state.cluster().is_live(NodeId(n))) continue;
    const NodeFacts& facts = state.cluster().facts(NodeId(n));
    if (!key.device_class.is_none() && state.cluster().models()[n] != key.device_class) continue;
    if (key.resource.is_none())
      sum += 1000 * facts.devices.count;
    else if (key.resource.row() < facts.allocatable.size())
      sum += facts.allocatable[key.resource.row()];
  }
  return sum;
}

std::vector<Counter> counters_of(const State& state) {
  std::vector<Counter> counters;
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    counters.push_back({quota_key(static_cast<std::int64_t>(d)), std::nullopt, d});
  const auto keys = state.queues().keys();
  for (std::size_t k = 0; k < keys.size(); ++k) counters.push_back({keys[k], k, 0});
  return counters;
}

/// Guarantees of one counter, found by recursion over the tree.
class PlainGuarantees {
 public:
  PlainGuarantees(const State& state, const QuotaKey& of) : queues_(state.queues()), of_(of) {
    divide(QueueId(0u), all_nodes_have(state, of));
  }
  /// The root, of which no other is a sibling, has none.
  bool is_named(QueueId queue) const {
    return queue != QueueId(0u) && (stated(queue) != QuotaShare::kNotNamed || of(queue) > 0);
  }
  /// 0 of a queue that appeared with its first start.
  std::int64_t of(QueueId queue) const {
    return queue != QueueId(0u) && of_queue_.contains(queue) ? of_queue_.at(queue) : 0;
  }

 private:
  std::int64_t stated(QueueId queue) const {
    const QueueShares::Column* column = queues_.shares().find(of_);
    return column == nullptr ? QuotaShare::kNotNamed : QueueShares::stated(*column, queue);
  }
  std::vector<QueueId> below(QueueId queue) const {
    std::vector<QueueId> out;
    for (std::size_t row = 1; row < queues_.rows(); ++row)
      if (queues_.parent(QueueId(row)) == queue) out.emplace_back(row);
    return out;
  }
  std::int64_t wanted(QueueId queue) const {
    if (stated(queue) != QuotaShare::kNotNamed) return stated(queue);
    std::int64_t sum = 0;
    for (const QueueId q : below(queue)) sum += wanted(q);
    return sum;
  }
  void divide(QueueId queue, std::int64_t amount) {
    of_queue_[queue] = amount;
    std::int64_t sum = 0;
    for (const QueueId q : below(queue)) sum += wanted(q);
    for (const QueueId q : below(queue))
      divide(q, sum > amount ? static_cast<std::int64_t>(static_cast<Wide>(wanted(q)) * amount / sum) : wanted(q));
  }

  const QueueTree& queues_;
  QuotaKey of_;
  std::map<QueueId, std::int64_t> of_queue_;
};

/// What queues have used of each counter, by the rule of the engine's documentation.
class PlainHistory {
 public:
  static constexpr Millis kHalfLife{200'000};

  void look(const State& state, const std::vector<Counter>& counters, Millis now) {
    for (std::size_t row = 0; row < state.queues().rows(); ++row) {
      Past& past = pasts_[row];
      std::vector<std::int64_t> held;
      for (const Counter& counter : counters) held.push_back(counter.used(state.queues(), QueueId(row)));
      if (held == past.held) continue;
      settle(past, now);
      past.held = held;
      past.averages.resize(held.size());
    }
    const auto all_recorded = state.queues().recorded_usage();
    for (const QueueTree::RecordedUsage& recorded : all_recorded) record(state, counters, recorded, now);
    const bool is_told = !all_recorded.empty();
    if (const std::int64_t step = now.value / (kHalfLife.value / 1440); step != step_ || is_told) {
      step_ = step;
      for (auto& [row, past] : pasts_) {
        settle(past, now);
        past.at_step = past.averages;
      }
    }
  }
  double average(QueueId queue, std::size_t counter) const {
    const auto past = pasts_.find(queue.row());
    return past == pasts_.end() || counter >= past->second.at_step.size() ? 0 : past->second.at_step[counter];
  }

 private:
  struct Past {
    Millis since;
    std::vector<double> averages, at_step;
    std::vector<std::int64_t> held;
  };
  /// An average that would come to this amount if nothing more was used, of the queue and so of those above it.
  void record(const State& state, const std::vector<Counter>& counters, const QueueTree::RecordedUsage& recorded,
              Millis now) {
    const auto is_it = [&](const Counter& counter) { return counter.of == recorded.of; };
    const auto counter = static_cast<std::size_t>(std::ranges::find_if(counters, is_it) - counters.begin());
    const double average =
        static_cast<double>(recorded.amount) * 0.69314718055994530942 / static_cast<double>(kHalfLife.value);
    double more = 0;
    for (QueueId q = recorded.queue; !q.is_none(); q = state.queues().parent(q)) {
      Past& past = pasts_[q.row()];
      settle(past, now);
      if (past.averages.size() <= counter) past.averages.resize(counter + 1);
      if (q == recorded.queue) more = average - past.averages[counter];
      past.averages[counter] = q == recorded.queue ? average : past.averages[counter] + more;
    }
  }
  static void settle(Past& past, Millis now) {
    if (now <= past.since) return;
    const double left = share_left(Millis(now.value - past.since.value), kHalfLife);
    for (std::size_t c = 0; c < past.averages.size(); ++c) {
      const auto held = static_cast<double>(c < past.held.size() ? past.held[c] : 0);
      past.averages[c] = held + (past.averages[c] - held) * left;
    }
    past.since = now;
  }

  std::map<std::size_t, Past> pasts_;
  std::int64_t step_ = -1;
};

/// A job with the keys of the queues above it, from the level where it stands down.
struct Candidate {
  bool is_surplus = false;
  std::vector<std::tuple<bool, std::int64_t, std::int64_t>> keys;
  OrderKey order;
  std::uint64_t turn = 0;
  JobId job;

  bool operator<(const Candidate& o) const {
    if (is_surplus != o.is_surplus) return o.is_surplus;
    for (std::size_t level = 0; level < std::max(keys.size(), o.keys.size()); ++level) {
      const auto& mine = keys[std::min(level, keys.size() - 1)];
      const auto& its = o.keys[std::min(level, o.keys.size() - 1)];
      if (mine != its) return mine < its;
    }
    return std::tie(order, turn, job) < std::tie(o.order, o.turn, o.job);
  }
};

class PlainTournament {
 public:
  /// `history`: null if none is kept.
  PlainTournament(const State& state, Engine engine, const PlainHistory* history)
      : state_(state), engine_(std::move(engine)), history_(history), counters_(counters_of(state)) {
    for (const Counter& counter : counters_) {
      guarantees_.emplace_back(state_, counter.of);
      capacities_.push_back(all_nodes_have(state_, counter.of));
    }
  }

  /// Whether the job wins the tournament, some jobs that cannot start aside.
  bool may_be_next(JobId job) {
    list_heads();
    aside_.clear();
    return wins(job, heads_.begin());
  }
  /// What the plan starts with that job.
  void start(const Plan& plan, JobId job) {
    Trial trial(state_);
    for (const Action& action : plan.actions)
      if (const auto* bind = std::get_if<Bind>(&action); bind != nullptr && bind->job == job)
        trial.place(bind->member, bind->node, bind->devices);
    trial.commit();
    Ledger(state_).start(job, plan.at);
    seen_.insert(job);
  }
  bool could_start(JobId job) {
    if (quota_refusal(state_, job)) return false;
    Trial trial(state_);
    Rng draws(1);
    return place_job({trial, engine_.fit_tables(), engine_.profile(), draws, members_within_quota(state_, job)}, job)
        .is_placed;
  }
  /// A job that could have started and did not.
  JobId left_over() {
    for (std::size_t row = 0; row < state_.job_rows(); ++row)
      if (is_waiting(JobId(row)) && could_start(JobId(row))) return JobId(row);
    return JobId::none();
  }

 private:
  using Heads = std::map<QueueId, std::vector<JobId>>;

  bool is_waiting(JobId job) const {
    return state_.is_live(job) && !seen_.contains(job) && state_.job(job).is_in_backlog;
  }
  bool goes_before(JobId a, JobId b) const {
    const auto order = [&](JobId job) {
      const Job& j = state_.job(job);
      return std::tuple(j.waits_for_surplus(), engine_.profile().order->waiting(j), j.backlog_seq);
    };
    return order(a) < order(b);
  }
  /// By queue those that may stand for it: in order, up to the first that can start.
  void list_heads() {
    heads_.clear();
    for (std::size_t row = 0; row < state_.job_rows(); ++row)
      if (is_waiting(JobId(row))) heads_[state_.job(JobId(row)).queue].push_back(JobId(row));
    for (auto& [queue, jobs] : heads_) {
      std::ranges::sort(jobs, [&](JobId a, JobId b) { return goes_before(a, b); });
      const auto first = std::ranges::find_if(jobs, [&](JobId job) { return could_start(job); });
      if (first != jobs.end()) jobs.erase(first + 1, jobs.end());
    }
  }
  /// Tries all ways to set jobs of these queues aside, and of those after them.
  bool wins(JobId job, Heads::const_iterator queue) {
    if (queue == heads_.end()) {
      const auto first = best_below(QueueId(0u));
      return first && first->job == job;
    }
    const std::set<JobId> before = aside_;
    const auto next = std::next(queue);
    for (const JobId head : queue->second) {  // those before it are aside
      if (wins(job, next)) return true;
      aside_.insert(head);
    }
    const bool does = !could_start(queue->second.back()) && wins(job, next);  // none of the queue is looked at
    aside_ = before;
    return does;
  }
  std::int64_t nearest_limit(const Counter& counter, QueueId queue, std::int64_t capacity) const {
    for (QueueId q = queue; !q.is_none(); q = state_.queues().parent(q))
      if (const std::int64_t limit = counter.limit(state_.queues(), q); limit != kUnlimited) return limit;
    return capacity;
  }
  bool stays_inside(QueueId queue, JobId job) const {
    const std::vector<std::int64_t> needs = quota_counters_needed(state_, job);
    bool names_any = false;
    for (std::size_t c = 0; c < counters_.size(); ++c) {
      if (!guarantees_[c].is_named(queue) || state_.queues().shares().find(counters_[c].of) == nullptr) continue;
      names_any = true;
      if (counters_[c].used(state_.queues(), queue) + (c < needs.size() ? needs[c] : 0) > guarantees_[c].of(queue))
        return false;
    }
    return names_any;
  }
  std::int64_t share(QueueId queue) const {
    Wide most = 0;
    for (std::size_t c = 0; c < counters_.size(); ++c) {
      const bool is_shared = state_.queues().shares().find(counters_[c].of) != nullptr;
      const std::int64_t used = counters_[c].used(state_.queues(), queue);
      const std::int64_t guarantee = is_shared ? guarantees_[c].of(queue) : 0;
      const bool counts =
          counters_[c].key == std::nullopt || is_shared || nearest_limit(counters_[c], queue, kUnlimited) != kUnlimited;
      if (!counts) continue;
      const std::int64_t above = nearest_limit(counters_[c], state_.queues().parent(queue), capacities_[c]);
      const Wide weight = state_.queues().rank(queue).weight;
      if (history_ != nullptr) {
        const double beyond = std::max(history_->average(queue, c) - static_cast<double>(guarantee), 0.0);
        const double share =
            beyond * 1e9 /
            (static_cast<double>(above) * (static_cast<double>(state_.queues().rank(queue).weight) / 1000));
        most = std::max(most, beyond <= 0 ? Wide{0} : above <= 0 ? Wide{1} << 61 : static_cast<Wide>(share + 0.5));
        continue;
      }
      if (used <= guarantee) continue;
      most = std::max(most, above <= 0 ? Wide{1} << 61
                                       : static_cast<Wide>(used - guarantee) * 1'000'000'000 * 1000 / (above * weight));
    }
    return static_cast<std::int64_t>(std::min(most, Wide{1} << 61));
  }
  std::tuple<bool, std::int64_t, std::int64_t> key(QueueId queue, JobId first) const {
    return {!stays_inside(queue, first), share(queue), -std::int64_t{state_.queues().rank(queue).priority}};
  }
  bool is_known(QueueId queue) const { return queue.row() < state_.queues().rows(); }
  /// The best job of the queue and of those below it, with its keys from the queue down.
  std::optional<Candidate> best_of(QueueId queue) const {
    std::optional<Candidate> best = best_below(queue);
    if (best) best->keys.insert(best->keys.begin(), key(queue, best->job));
    return best;
  }
  std::optional<Candidate> best_below(QueueId queue) const {
    std::optional<Candidate> best;
    const auto offer = [&](const Candidate& c) {
      if (!best || c < *best) best = c;
    };
    std::map<QueueId, Candidate> own;  // the first job of each queue here: those not known yet stand below the root
    for (std::size_t row = 0; row < state_.job_rows(); ++row) {
      const JobId job(row);
      if (!is_waiting(job) || aside_.contains(job)) continue;
      const Job& j = state_.job(job);
      if (is_known(j.queue) ? j.queue != queue : queue != QueueId(0u)) continue;
      const Candidate head{j.waits_for_surplus(), {}, engine_.profile().order->waiting(j), j.backlog_seq, job};
      if (const auto [known, is_new] = own.emplace(j.queue, head); !is_new && head < known->second)
        known->second = head;
    }
    for (auto& [of, head] : own) {
      head.keys = {is_known(of) ? key(of, head.job) : std::tuple{true, std::int64_t{0}, std::int64_t{0}}};
      offer(head);
    }
    for (std::size_t row = 1; row < state_.queues().rows(); ++row)
      if (state_.queues().parent(QueueId(row)) == queue)
        if (const auto below = best_of(QueueId(row))) offer(*below);
    return best;
  }

  State state_;
  Engine engine_;
  const PlainHistory* history_;
  std::vector<Counter> counters_;
  std::vector<PlainGuarantees> guarantees_;
  std::vector<std::int64_t> capacities_;
  std::set<JobId> seen_;  ///< started
  Heads heads_;
  std::set<JobId> aside_;  ///< cannot start, and do not stand for their queues
};

std::vector<JobId> jobs_in(const Plan& plan) {
  std::vector<JobId> jobs;
  for (const Action& action : plan.actions)
    if (const auto* bind = std::get_if<Bind>(&action))
      if (std::ranges::find(jobs, bind->job) == jobs.end()) jobs.push_back(bind->job);
  return jobs;
}

void starts_are_those_of_tournaments(bool has_history) {
  Profile profile = profile_with(Blocking::kSkip);
  profile.queue_order = find_queue_order("drf");
  profile.half_life = has_history ? PlainHistory::kHalfLife : Millis(0);
  State state;
  Engine engine(profile);
  PlainHistory history;
  Outside outside({.has_foreign = false, .has_shares = true});
  Millis look_again_at = Millis::max();
  const auto decide = [&](const std::vector<Event>& batch) {
    for (const Event& event : batch) apply(state, event);
    history.look(state, counters_of(state), outside.now());
    PlainTournament tournament(state, engine, has_history ? &history : nullptr);
    const Plan plan = engine.decide(state, outside.now());
    outside.learn(plan);
    for (const JobId job : jobs_in(plan)) {
      RC_ASSERT(tournament.may_be_next(job));
      tournament.start(plan, job);
    }
    if (plan.look_again_at > outside.now()) RC_ASSERT(tournament.left_over() == JobId::none());
    history.look(state, counters_of(state), outside.now());
    look_again_at = plan.look_again_at;
  };
  decide(outside.begin());
  for (const Move& move : *some_moves()) {
    decide(outside.act(move, state));
    for (int again = 0; again < 20 && look_again_at <= outside.now(); ++again) decide({});
  }
}

RC_GTEST_PROP(DrfOrder, StartsAreThoseOfATournamentBeforeEachStart, ()) { starts_are_those_of_tournaments(false); }

RC_GTEST_PROP(DrfOrder, StartsFollowWhatWasUsedBefore, ()) { starts_are_those_of_tournaments(true); }

}  // namespace
}  // namespace ashlar
