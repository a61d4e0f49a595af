#include "engine/published/preempt_by_count.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/pending/requeue.h"
#include "engine/place/advance.h"
#include "engine/place/placement.h"
#include "engine/quota.h"
#include "policy/victim/by_count.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

struct Running {
  OrderKey key;
  std::uint64_t turn = 0;
  JobId job;
  /// No two have the same turn. In this form the compiler inlines it in the sort; with `!=` it emits a call or a
  /// quarter more instructions.
  bool operator<(const Running& o) const {
    if (key.major < o.key.major) return true;
    if (o.key.major < key.major) return false;
    if (key.minor < o.key.minor) return true;
    if (o.key.minor < key.minor) return false;
    return turn < o.turn;
  }
};

/// Listed by their ends, they are already in order, except for equal ones, which are ordered by what remains.
void sort_by_key_and_turn(std::vector<Running>& running) {
  const auto is_key_less = [](const Running& a, const Running& b) { return a.key < b.key; };
  if (!std::is_sorted(running.begin(), running.end(), is_key_less)) return std::sort(running.begin(), running.end());
  for (auto equal = running.begin(); equal != running.end();) {
    const auto end = std::find_if(equal, running.end(), [&](const Running& r) { return r.key != equal->key; });
    std::sort(equal, end);
    equal = end;
  }
}

std::vector<Running> running_in_order(const State& state, const OrderPolicy& order, Millis now) {
  std::vector<Running> running;
  const Timeline::Ends ends = state.timeline().ends();
  running.reserve(ends.size());
  for (const Timeline::End& end : ends)
    if (state.job(end.job).is_ours)
      running.push_back({order.running(state.job(end.job), now), state.job(end.job).start_seq, end.job});
  sort_by_key_and_turn(running);
  return running;
}

std::int64_t devices_of(const Cluster& cluster) {
  std::int64_t sum = 0;
  for (const std::int32_t c : cluster.devices()) sum += c;
  return sum;
}

/// The first job of every class, smallest first; a class is dropped when its size exceeds what is left.
class WaitingWalk {
 public:
  explicit WaitingWalk(const PendingQueue& pending) : pending_(pending) {
    pending.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
      heads_.push_back(pending.head_of(id, *job_class.jobs.begin()));
    });
    std::make_heap(heads_.begin(), heads_.end(), std::greater<>());
  }
  bool is_empty() const { return heads_.empty(); }
  const PendingQueue::Head& top() const { return heads_.front(); }
  void drop_class() {
    std::pop_heap(heads_.begin(), heads_.end(), std::greater<>());
    heads_.pop_back();
  }
  void advance() {
    const PendingQueue::Head head = top();
    drop_class();
    const auto& jobs = pending_.class_at(head.job_class).jobs;
    const auto it = jobs.upper_bound(head.entry);
    if (it == jobs.end()) return;
    heads_.push_back(pending_.head_of(head.job_class, *it));
    std::push_heap(heads_.begin(), heads_.end(), std::greater<>());
  }

 private:
  const PendingQueue& pending_;
  std::vector<PendingQueue::Head> heads_;
};

/// What the walk has used of the queues' quotas. If no queue has a limit, as in the published replays, nothing is
/// counted.
class QueueShares {
 public:
  QueueShares(const State& state, const std::vector<Running>& running) : state_(state) {
    if (!state.queues().has_limits()) return;
    left_ = state.queues();
    for (const Running& r : running) left_->charge(state.job(r.job).queue, held_by(r.job), -1);
  }
  /// Whether the queue admits it; if so, counts it.
  bool take_waiting(JobId job) {
    if (!left_) return true;
    const QueueId queue = state_.job(job).queue;
    const QuotaVector amounts = quota_needed(state_, job);
    if (left_->refusal(queue, amounts)) return false;
    left_->charge(queue, amounts, 1);
    started_.insert(queue);
    return true;
  }
  /// A lowered limit stops no job: a running job gives way only to one that starts under the same limit, and never at
  /// the instant at which it started itself, so that two of the same key do not alternate forever.
  bool take_running(JobId job, Millis now) {
    if (!left_) return true;
    const QueueId queue = state_.job(job).queue;
    const QuotaVector amounts = held_by(job);
    if (const auto refusal = left_->refusal(queue, amounts); refusal && state_.job(job).started_at < now) {
      const auto is_below = [&](QueueId q) { return left_->is_within(q, QueueId(refusal->subject)); };
      if (std::any_of(started_.begin(), started_.end(), is_below)) return false;
    }
    left_->charge(queue, amounts, 1);
    return true;
  }

 private:
  QuotaVector held_by(JobId job) const {
    QuotaVector sum{};
    state_.each_member(job, [&](MemberId, const Member& m) {
      if (m.is_placed()) add_saturated(sum, state_.quota_of_member(m));
    });
    return sum;
  }

  const State& state_;
  std::optional<QueueTree> left_;
  std::set<QueueId> started_;  ///< queues in which waiting jobs start
};

CountMarks mark(const State& state, const PendingQueue& pending, const std::vector<Running>& running, Millis now) {
  CountMarks marks;
  CountWalk walk(devices_of(state.cluster()));
  QueueShares shares(state, running);
  WaitingWalk waiting(pending);
  std::size_t r = 0;
  while (walk.left() > 0 && (r < running.size() || !waiting.is_empty())) {
    const bool is_waiting_next =
        !waiting.is_empty() && (r == running.size() || waiting.top().entry.key <= running[r].key);
    if (!is_waiting_next) {
      const JobId job = running[r++].job;
      const std::int64_t devices = state.job(job).devices_total;
      if (devices <= walk.left() && shares.take_running(job, now))
        walk.next(devices, true);
      else
        marks.stop.push_back(job);
      continue;
    }
    const PendingQueue::Head head = waiting.top();
    const std::int64_t devices = pending.class_at(head.job_class).devices;
    if (devices > walk.left() || !shares.take_waiting(head.entry.job)) {
      waiting.drop_class();
    } else {
      walk.next(devices, false);
      marks.start.push_back(head.entry.job);
      waiting.advance();
    }
  }
  for (; r < running.size(); ++r) marks.stop.push_back(running[r].job);
  return marks;
}

/// What the stopped jobs held, to tell for whom each of them is stopped.
class Vacated {
 public:
  /// Before it is taken off; its eviction is that action of the plan.
  void add(const State& state, JobId job, std::size_t action) {
    state.each_member(job, [&](MemberId, const Member& m) {
      if (m.is_placed()) places_.push_back({m.node, m.devices, action});
    });
  }
  /// Each is stopped for the first job that gets any of its devices.
  void name_successors(std::vector<Action>& actions) {
    std::stable_sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) { return a.node < b.node; });
    for (const Action& action : actions) {
      const Bind* bind = std::get_if<Bind>(&action);
      if (bind == nullptr) continue;
      auto it = std::lower_bound(places_.begin(), places_.end(), bind->node,
                                 [](const Place& place, NodeId node) { return place.node < node; });
      for (; it != places_.end() && it->node == bind->node; ++it) {
        JobId& successor = std::get<Evict>(actions[it->action]).for_job;
        if (successor.is_none() && it->devices.overlaps(bind->devices)) successor = bind->job;
      }
    }
  }

 private:
  struct Place {
    NodeId node;
    DeviceMask devices;
    std::size_t action = 0;
  };
  std::vector<Place> places_;
};

void stop(EngineData& e, State& state, Cycle& cycle, JobId job) {
  Trial trial(state);
  trial.evict(job);
  trial.commit();
  Ledger(state).stop(job, cycle.plan.at);
  Ledger(state).settle_backlog(job);
  cycle.plan.actions.push_back(Evict{job, e.profile->grace});
}

}  // namespace

void preempt_by_count(EngineData& e, State& state, Cycle& cycle) {
  if (e.pending.size() == 0) return;  // running jobs have their devices, so a walk without waiting jobs stops none
  const Millis now = cycle.plan.at;
  const std::vector<Running> running = running_in_order(state, *e.profile->order, now);
  const CountMarks marks = mark(state, e.pending, running, now);
  bool has_changed = !marks.stop.empty();
  Vacated vacated;
  for (const JobId job : marks.stop) {
    vacated.add(state, job, cycle.plan.actions.size());
    stop(e, state, cycle, job);
  }
  absorb_changes(e, state, cycle);
  for (const JobId job : marks.start) {
    ++cycle.plan.examined;
    Trial trial(state);
    // Checked again: the surplus of one that was just placed counts too.
    if (quota_refusal(state, job) ||
        !place_job({trial, e.fit_tables, *e.profile, e.draws, members_within_quota(state, job), now}, job).is_placed)
      continue;
    has_changed = true;
    commit(e, state, cycle, trial, e.pending.entry_of(job));
  }
  vacated.name_successors(cycle.plan.actions);
  const std::int64_t cadence = std::max<std::int64_t>(e.profile->cadence.value, 1);
  if (has_changed) {
    cycle.plan.look_again_at = now + Millis(cadence);
  } else if (e.profile->order->changes_at != nullptr) {
    for (const Running& r : running)
      cycle.plan.look_again_at =
          std::min(cycle.plan.look_again_at, e.profile->order->changes_at(state.job(r.job), now));
    if (const std::int64_t at = cycle.plan.look_again_at.value; at != Millis::max().value)
      cycle.plan.look_again_at = Millis((at + cadence - 1) / cadence * cadence);
  }
}

}  // namespace ashlar
