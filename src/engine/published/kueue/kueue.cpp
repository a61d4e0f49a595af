#include "engine/published/kueue/kueue.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "engine/published/in_turns.h"
#include "engine/published/kueue/heads.h"
#include "engine/published/kueue/victims.h"
#include "engine/quota.h"
#include "engine/victims/stop_for.h"

namespace ashlar::kueue {
namespace {

/// What Kueue does not know: a queue that its administrator has closed, a quota beside what is guaranteed and borrowed.
std::optional<Reason> gate_refusal(const State& state, JobId job) {
  const QueueTree& queues = state.queues();
  const QuotaVector needed = quota_needed(state, job);
  if (std::optional<Reason> refusal = quota_refusal(state, job); refusal && is_of_gate(refusal->code)) return refusal;
  for (QueueId q = state.job(job).queue; !q.is_none() && q.row() < queues.rows(); q = queues.parent(q)) {
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      const std::int64_t limit = queues.stated_quota(q)[d], used = queues.used(q)[d];
      if (limit == kUnlimited || needed[d] == 0 || needed[d] <= limit - used) continue;
      const auto number = static_cast<std::int64_t>(d);
      if (needed[d] > limit) return Reason{ReasonCode::kExceedsQuota, q.value, {number, needed[d], limit}};
      return Reason{ReasonCode::kQuotaExhausted, q.value, {number, used, limit}};
    }
  }
  return std::nullopt;
}

class Decision {
 public:
  Decision(EngineData& e, State& state, Cycle& cycle)
      : e_(e), state_(state), cycle_(cycle), cohorts_(state, e.pending) {}

  void run() {
    while (!is_full(e_, cycle_) && take_turn()) {
    }
    if (is_full(e_, cycle_))
      cycle_.plan.look_again_at = cycle_.plan.at;
    else
      report_those_that_wait(e_, state_, cycle_, [&](JobId job) { return refusal(job); });
  }

 private:
  /// The first jobs of all queues once. False: there are none left that were not laid aside.
  bool take_turn() {
    std::vector<Head> heads = first_jobs(state_, e_.pending, laid_aside_);
    if (heads.empty()) return false;
    for (Head& head : heads) nominate(head);
    sort(state_, cohorts_, e_.profile->queue_order->turns, heads);
    blocked_.clear();
    for (const Head& head : heads) {
      ++cycle_.plan.examined;
      if (is_full(e_, cycle_)) return true;
      if (!settle(head)) laid_aside_.insert(head.job);
    }
    for (const auto& [queue, amounts] : blocked_) cohorts_.add(queue, amounts, -1);
    return true;
  }
  /// Whether it fits, or others may be stopped for it, as things are at the begin of the turn.
  void nominate(Head& head) {
    head.requested = cohorts_.requested(head.job);
    const QueueId queue = state_.job(head.job).queue;
    for (std::size_t c = 0; c < cohorts_.columns(); ++c) {
      if (head.requested[c] == 0) continue;
      head.height = std::max(head.height, cohorts_.height_with(c, queue, head.requested[c]).height);
      if (head.requested[c] > cohorts_.available(c, queue)) head.contested.push_back(c);
    }
    if (head.contested.empty() || gate_refusal(state_, head.job)) return;
    head.may_stop_others = e_.profile->stops_in_turns() && std::ranges::all_of(head.contested, [&](std::size_t c) {
                             return may_preempt(head, queue, c);
                           });
    if (head.may_stop_others) head.has_victims = victims_for(head, head.contested).has_value();
  }
  /// Of one resource alone.
  bool may_preempt(const Head& head, QueueId queue, std::size_t column) {
    const std::int64_t amount = head.requested[column];
    if (amount > cohorts_.potential(column, queue)) return false;
    const StopRules& rules = state_.queues().stops(queue);
    const bool is_fair = e_.profile->queue_order->turns == Turns::kKueueFair;
    const bool may_while_borrowing =
        is_fair ? rules.reclaims != StopRules::Reclaims::kNever : rules.while_borrowing != StopRules::kNobody;
    const Cohorts::Height height = cohorts_.height_with(column, queue, amount);
    const bool is_below_the_top = !cohorts_.parent(queue).is_none() && !height.is_whole_tree;
    return amount <= cohorts_.nominal(column, queue) || is_below_the_top || may_while_borrowing;
  }
  std::optional<Found> victims_for(const Head& head, const std::vector<std::size_t>& contested) {
    return Victims(e_, state_, cohorts_, cycle_, head.job, false).find(contested);
  }

  /// False: it waits.
  bool settle(const Head& head) {
    if (gate_refusal(state_, head.job)) return false;
    if (head.contested.empty()) return start_if_it_fits(head.job);
    if (head.has_victims) {
      if (start_if_it_fits(head.job)) return true;  // an earlier one has stopped what was in its way
      const std::optional<Found> found = victims_for(head, lacking(head));
      if (!found) return false;
      std::vector<Stop> stops;
      for (const Candidate& victim : found->victims) stops.push_back({{victim.job}, victim.reason});
      stop_for(e_, state_, cycle_, e_.pending.entry_of(head.job), stops, found->places);
      return true;
    }
    if (head.may_stop_others) block(head);
    return false;
  }
  std::vector<std::size_t> lacking(const Head& head) const {
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < cohorts_.columns(); ++c)
      if (head.requested[c] > 0 && head.requested[c] > cohorts_.available(c, state_.job(head.job).queue))
        columns.push_back(c);
    return columns;
  }
  bool start_if_it_fits(JobId job) {
    return Victims(e_, state_, cohorts_, cycle_, job, true).is_admitted(true) &&
           start_where_it_fits(e_, state_, cycle_, job);
  }
  /// Keeps what it waits for from those behind it in this turn, where others could not be stopped for it.
  void block(const Head& head) {
    const QueueId queue = state_.job(head.job).queue;
    if (state_.queues().stops(queue).reclaims == StopRules::Reclaims::kAny) return;
    Amounts kept(cohorts_.columns());
    for (std::size_t c = 0; c < kept.size(); ++c) {
      if (head.requested[c] == 0 || cohorts_.nominal(c, queue) == kUnlimited) continue;
      kept[c] = std::max<std::int64_t>(0, std::min(head.requested[c], cohorts_.keepable(c, queue, head.height > 0)));
    }
    cohorts_.add(queue, kept, 1);
    blocked_.emplace_back(queue, std::move(kept));
  }

  std::optional<Reason> refusal(JobId job) const {
    if (std::optional<Reason> gate = gate_refusal(state_, job)) return gate;
    const QueueId queue = state_.job(job).queue;
    const Amounts requested = cohorts_.requested(job);
    for (std::size_t c = 0; c < cohorts_.columns(); ++c) {
      const std::int64_t available = cohorts_.available(c, queue), potential = cohorts_.potential(c, queue);
      if (requested[c] == 0 || requested[c] <= available) continue;
      const std::int64_t number = quota_number(state_.queues().shares().columns()[c].of);
      if (requested[c] > potential)
        return Reason{ReasonCode::kExceedsQuota, queue.value, {number, requested[c], potential}};
      const std::int64_t used = cohorts_.used(c, queue);
      return Reason{ReasonCode::kQuotaExhausted, queue.value, {number, used, used + available}};
    }
    return std::nullopt;
  }

  EngineData& e_;
  State& state_;
  Cycle& cycle_;
  Cohorts cohorts_;
  std::set<JobId> laid_aside_;  ///< in this decision
  std::vector<std::pair<QueueId, Amounts>> blocked_;
};

}  // namespace

void start(EngineData& e, State& state, Cycle& cycle) {
  if (e.pending.size() > 0) Decision(e, state, cycle).run();
}

}  // namespace ashlar::kueue
