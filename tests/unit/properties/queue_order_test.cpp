// The order in two levels against plain sorting: whatever happens, the job that starts next is the first of all waiting
// jobs that fit, sorted anew after each start by the shares of their queues and the order of jobs.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "engine/engine.h"
#include "engine/place/placement.h"
#include "engine/quota.h"
#include "history.h"

namespace ashlar {
namespace {

constexpr QueueId kRootQueue{0u};

/// Billionths of what the queue may use: the largest share over all that is limited or that nodes have.
std::int64_t plain_share(const State& state, QueueId queue) {
  const QueueTree& queues = state.queues();
  std::int64_t capacity[] = {0, 0, 0};
  for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
    if (!state.cluster().is_live(NodeId(n))) continue;
    const NodeFacts& facts = state.cluster().facts(NodeId(n));
    capacity[0] += 1000 * facts.devices.count;
    const auto of = [&](ResourceId r) { return r.row() < facts.allocatable.size() ? facts.allocatable[r.row()] : 0; };
    capacity[1] += of(resource::kCpu);
    capacity[2] += of(resource::kMemory);
  }
  std::int64_t share = 0;
  const auto count = [&](std::int64_t used, std::int64_t limit) {
    if (used <= 0) return;
    const auto billionths = static_cast<unsigned __int128>(used) * 1'000'000'000;
    share = std::max(
        share, limit <= 0 ? INT64_MAX : static_cast<std::int64_t>(billionths / static_cast<unsigned __int128>(limit)));
  };
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
    std::int64_t limit = kUnlimited;
    for (QueueId q = queue; !q.is_none(); q = queues.parent(q))
      if (limit == kUnlimited) limit = queues.quota(q)[d];
    count(queues.used(queue)[d], limit == kUnlimited ? capacity[d] : limit);
  }
  for (std::size_t k = 0; k < queues.keys().size(); ++k) {
    std::int64_t limit = kUnlimited;
    for (QueueId q = queue; !q.is_none(); q = queues.parent(q))
      if (limit == kUnlimited) limit = queues.limit(k, q);
    if (limit != kUnlimited) count(queues.used(k, queue), limit);
  }
  return share;
}

/// The keys from below the root to the queue, as long as the deepest tree.
std::vector<OrderKey> plain_path(const State& state, const QueueKeys& keys, QueueId queue) {
  std::vector<OrderKey> path;
  for (QueueId q = queue; !q.is_none(); q = q.row() < state.queues().rows() ? state.queues().parent(q) : kRootQueue)
    path.insert(path.begin(), keys.key(q));
  if (path.size() > 1) path.erase(path.begin());
  path.resize(QueueTree::kDepthMax, path.back());
  return path;
}

using PlainPlace = std::tuple<bool, std::vector<OrderKey>, OrderKey, std::uint64_t, std::uint32_t>;

/// All waiting jobs in the order of the moment, found by sorting.
class PlainOrder {
 public:
  PlainOrder(const State& state, Engine engine) : state_(state), engine_(std::move(engine)) {}

  std::vector<JobId> started(Millis now) {
    std::vector<JobId> started;
    for (JobId job = next(); !job.is_none(); job = next()) {
      seen_.insert(job);
      if (quota_refusal(state_, job)) continue;
      Trial trial(state_);
      Rng draws(1);
      const PlacementContext context{trial, engine_.fit_tables(), engine_.profile(), draws,
                                     members_within_quota(state_, job)};
      if (!place_job(context, job).is_placed) continue;
      trial.commit();
      Ledger(state_).start(job, now);
      started.push_back(job);
    }
    return started;
  }

 private:
  JobId next() const {
    QueueKeys keys(*engine_.profile().queue_order, Millis(0));
    for (std::size_t row = 0; row < state_.queues().rows(); ++row)
      keys.set(QueueId(row), {plain_share(state_, QueueId(row)), 0});
    PlainPlace best;
    JobId first;
    for (std::size_t row = 0; row < state_.job_rows(); ++row) {
      const JobId job(row);
      if (!state_.is_live(job) || seen_.contains(job) || !state_.job(job).is_in_backlog) continue;
      const Job& j = state_.job(job);
      PlainPlace place{j.waits_for_surplus(), plain_path(state_, keys, j.queue), engine_.profile().order->waiting(j),
                       j.backlog_seq, job.value};
      if (!first.is_none() && !(place < best)) continue;
      best = std::move(place);
      first = job;
    }
    return first;
  }

  State state_;
  Engine engine_;
  std::set<JobId> seen_;
};

std::vector<JobId> jobs_started(const Plan& plan) {
  std::vector<JobId> jobs;
  for (const Action& action : plan.actions)
    if (const auto* bind = std::get_if<Bind>(&action))
      if (std::find(jobs.begin(), jobs.end(), bind->job) == jobs.end()) jobs.push_back(bind->job);
  return jobs;
}

Profile least_share_profile(Blocking blocking) {
  Profile profile = profile_with(blocking);
  profile.queue_order = find_queue_order("least-share");
  return profile;
}

template <class Step>
void play_by_share(const std::vector<Move>& moves, const Profile& profile, OutsideOptions options, const Step& step) {
  State state;
  Engine engine(profile);
  Outside outside(options);
  Millis look_again_at = Millis::max();
  const auto decide = [&](const std::vector<Event>& batch) {
    for (const Event& event : batch) apply(state, event);
    look_again_at = step(state, engine, outside);
  };
  decide(outside.begin());
  for (const Move& move : moves) {
    decide(outside.act(move, state));
    for (int again = 0; again < 20 && look_again_at <= outside.now(); ++again) decide({});
  }
}

RC_GTEST_PROP(QueueOrder, StartsAreThoseOfPlainSortingAfterEachStart, ()) {
  const OutsideOptions options{.has_foreign = false};
  play_by_share(*some_moves(), least_share_profile(Blocking::kSkip), options,
                [&](State& state, Engine& engine, Outside& outside) {
                  const std::vector<JobId> expected = PlainOrder(state, engine).started(outside.now());
                  const Plan plan = engine.decide(state, outside.now());
                  outside.learn(plan);
                  RC_ASSERT(jobs_started(plan) == expected);
                  return plan.look_again_at;
                });
}

RC_GTEST_PROP(QueueOrder, KeysAndFirstHeadsFollowEveryChangeOfUsage, ()) {
  const Blocking blocking = *rc::gen::element(Blocking::kEasy, Blocking::kStrict);
  play_by_share(*some_moves(), least_share_profile(blocking), {.has_company = true},
                [&](State& state, Engine& engine, Outside& outside) {
                  const Plan plan = engine.decide(state, outside.now());
                  outside.learn(plan);
                  const PendingQueue& pending = engine.pending();
                  const QueueKeys& keys = pending.queue_keys();
                  std::vector<std::pair<PlainPlace, JobId>> heads;
                  // jobs may name queues that are not defined yet
                  const std::size_t rows = state.queues().rows();
                  for (std::size_t row = 0; row < std::max<std::size_t>(rows, Outside::kQueues); ++row) {
                    RC_ASSERT(keys.key(QueueId(row)).major == (row < rows ? plain_share(state, QueueId(row)) : 0));
                    if (const PendingQueue::Head* head = pending.first_waiting(QueueId(row)); head != nullptr)
                      heads.push_back({{false, plain_path(state, keys, QueueId(row)), head->entry.key, head->entry.turn,
                                        head->entry.job.value},
                                       head->entry.job});
                  }
                  std::sort(heads.begin(), heads.end());
                  std::vector<JobId> plain, kept;
                  for (const auto& [place, job] : heads) plain.push_back(job);
                  pending.each_first_head([&](const PendingQueue::Head& head) {
                    kept.push_back(head.entry.job);
                    return true;
                  });
                  RC_ASSERT(kept == plain);
                  return plan.look_again_at;
                });
}

}  // namespace
}  // namespace ashlar
