// Victims by priority against a count of what could be stopped: nobody waits for whom others may be stopped, nobody is
// stopped in vain, and evictions end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

constexpr std::uint32_t kNodes = 3, kJobs = 12, kSizes = 8;
constexpr QueueId kLeft{1u}, kRight{2u};

DemandId demand_of(std::uint32_t gpus) { return DemandId(20 + gpus); }

constexpr std::string_view kByWhatIsLeft = "priority-remaining";

Profile with_victims(VictimRule rule, std::string_view order = "priority-age") {
  Profile profile = *builtin_profile("ashlar");
  profile.blocking = Blocking::kSkip;
  profile.victim = rule;
  profile.order = find_order(order);
  return profile;
}

/// Jobs of one member on nodes of eight GPUs, in queues that may have guarantees.
class World {
 public:
  explicit World(std::uint32_t seed, std::int64_t left = 0, std::int64_t right = 0,
                 VictimRule rule = VictimRule::kPriority, std::string_view order = "priority-age")
      : draws_(seed),
        rule_(rule),
        priorities_(seed % 2 == 0 ? 4 : 2),
        state_(small_state(1 + seed % kNodes)),
        engine_(with_victims(rule, order)),
        has_estimates_(order == kByWhatIsLeft) {
    for (std::uint32_t gpus = 1; gpus <= kSizes; ++gpus)
      tell(state_, DemandDefined{demand_of(gpus),
                                 {.amounts = {{resource::kPods, 1}},
                                  .devices = {static_cast<int>(gpus), MilliGpu(1000), MiB(0)}}});
    define(kLeft, left);
    define(kRight, right);
  }

  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(draws_() % below); }
  State& state() { return state_; }
  std::int64_t guarantee(QueueId queue) const { return guarantees_.at(queue); }
  std::int64_t used(QueueId queue) const { return state_.queues().used(queue)[0] / 1000; }
  const Job& job(JobId job) const { return state_.job(job); }
  std::int64_t gpus(JobId job) const { return state_.job(job).devices_total; }
  QueueId queue(JobId job) const { return state_.job(job).queue; }
  std::int32_t priority(JobId job) const { return state_.job(job).priority; }
  NodeId node(JobId job) const { return state_.member(state_.job(job).first).node; }
  std::int64_t free(NodeId node) const { return state_.cluster().idle_devices()[node.row()]; }
  std::vector<JobId> running() const {
    return those([&](JobId job) { return !node(job).is_none(); });
  }
  std::vector<JobId> waiting() const {
    return those([&](JobId job) { return node(job).is_none(); });
  }

  void set_rules(QueueId queue, const StopRules& rules) {
    rules_[queue] = rules;
    define(queue, guarantees_[queue]);
  }
  const StopRules& rules(QueueId queue) { return rules_[queue]; }
  Millis now() const { return at(now_); }
  /// Itself, or through others that are there.
  bool has_given_way(JobId job, JobId for_job) {
    return std::ranges::any_of(gave_way_[job], [&](JobId other) {
      return state_.is_live(other) && (other == for_job || has_given_way(other, for_job));
    });
  }
  bool has_given_way_to_any(JobId job) {
    return std::ranges::any_of(gave_way_[job], [&](JobId other) { return state_.is_live(other); });
  }
  /// For one that is there: then it stops none of its own queue, if work is to be lost once.
  bool has_given_way_at_cost(JobId job) { return rule_ == VictimRule::kLostWork && has_given_way_to_any(job); }
  void wait_until(Millis time) { now_ = std::max(now_, (time.value + 999) / 1000); }

  /// Whether the running one needs much longer yet, in milliseconds and worked out anew.
  bool is_much_longer(JobId running, JobId waiting) const {
    const auto left = [&](JobId job, double run) {
      const double expected = static_cast<double>(state_.job(job).estimate.p50.value);
      const double ran = static_cast<double>(state_.job(job).served.value) + run;
      return std::max(expected - ran, 0.3 * ran);
    };
    const auto off = [&](JobId job) { return static_cast<double>(state_.job(job).submitted.value) / 7; };
    const double its = left(running, static_cast<double>((now() - state_.job(running).started_at).value));
    return std::min(its / 2, its - 60'000) + off(running) > left(waiting, 0) + off(waiting);
  }
  bool has_estimates() const { return has_estimates_; }
  JobId last_submitted() const { return JobId(jobs_ - 1); }

  /// Of jobs that are submitted from now on.
  void draw_stop_terms() { has_stop_terms_ = true; }
  void save_one() {
    const std::vector<JobId> running = this->running();
    if (!running.empty())
      tell(state_, CheckpointSaved{running[draw(static_cast<std::uint32_t>(running.size()))], at(++now_)}, at(now_));
  }
  void submit(QueueId queue) {
    Workload w = workload(jobs_, jobs_, 1, demand_of(1 + draw(kSizes)));
    w.queue = queue;
    w.priority = static_cast<std::int32_t>(draw(priorities_));
    w.submitted = at(++now_);
    if (has_estimates_) w.estimate.p50 = w.estimate.p90 = at(10 * (1 + draw(40)) * (1 + draw(20)));
    if (has_stop_terms_) w.stopping = {at(draw(3) * draw(9)), at(draw(2) * draw(20)), draw(5) == 0};
    tell(state_, Submitted{w}, at(now_));
    ++jobs_;
  }
  void end_one() {
    const std::vector<JobId> running = this->running();
    if (!running.empty()) tell(state_, Ended{running[draw(static_cast<std::uint32_t>(running.size()))]}, at(++now_));
  }
  Plan decide() {
    Plan plan = engine_.decide(state_, at(now_));
    for (const Action& action : plan.actions)
      if (const auto* evict = std::get_if<Evict>(&action)) gave_way_[evict->job].insert(evict->for_job);
    for (const Action& action : plan.actions)
      if (const auto* evict = std::get_if<Evict>(&action))
        tell(state_, Evicted{evict->job, state_.job(evict->job).remaining, {}}, at(now_));
      else if (const auto* bind = std::get_if<Bind>(&action))
        tell(state_, Bound{bind->member, bind->node, bind->devices}, at(now_));
    return plan;
  }

 private:
  static Millis at(std::int64_t second) { return Millis(second * 1000); }
  template <class Is>
  std::vector<JobId> those(Is&& is) const {
    std::vector<JobId> jobs;
    for (std::uint32_t job = 0; job < jobs_; ++job)
      if (state_.is_live(JobId(job)) && is(JobId(job))) jobs.emplace_back(job);
    return jobs;
  }
  void define(QueueId queue, std::int64_t guarantee) {
    QueueDefined defined{queue, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}};
    if (guarantee > 0) defined.shares.push_back({.of = quota_key(0), .guarantee = guarantee * 1000});
    defined.stops = rules_[queue];
    tell(state_, defined, at(now_));
    guarantees_[queue] = guarantee;
  }

  std::mt19937 draws_;
  VictimRule rule_;
  std::uint32_t priorities_;
  State state_;
  Engine engine_;
  bool has_estimates_;
  std::map<QueueId, std::int64_t> guarantees_;
  std::map<QueueId, StopRules> rules_;
  std::map<JobId, std::set<JobId>> gave_way_;
  bool has_stop_terms_ = false;
  std::uint32_t jobs_ = 0;
  std::int64_t now_ = 0;
};

/// What is free on the node, and what lower priority has of it.
std::int64_t room_for(World& world, JobId waiting, NodeId node) {
  std::int64_t room = world.free(node);
  for (const JobId job : world.running())
    if (world.node(job) == node && world.queue(job) == world.queue(waiting) &&
        world.priority(job) < world.priority(waiting))
      room += world.gpus(job);
  return room;
}

struct Before {
  std::map<JobId, NodeId> nodes;
  std::map<NodeId, std::int64_t> free;
  explicit Before(World& world) {
    for (const JobId job : world.running()) nodes[job] = world.node(job);
    for (std::size_t n = 0; n < world.state().cluster().rows(); ++n) free[NodeId(n)] = world.free(NodeId(n));
  }
};

/// Of one decision that stops somebody: for whom, and whom.
std::map<JobId, std::vector<JobId>> stopped_in(const Plan& plan) {
  std::map<JobId, std::vector<JobId>> stopped;
  for (const Action& action : plan.actions)
    if (const auto* evict = std::get_if<Evict>(&action)) stopped[evict->for_job].push_back(evict->job);
  return stopped;
}

NodeId bound_to(const Plan& plan, JobId job) {
  for (const Action& action : plan.actions)
    if (const auto* bind = std::get_if<Bind>(&action); bind != nullptr && bind->job == job) return bind->node;
  return NodeId::none();
}

/// Decides until nothing is left to do. Each that was stopped was in the way of the one that started.
void settle(World& world, std::uint32_t seed) {
  for (int round = 0;; ++round) {
    ASSERT_LT(round, 200) << "evictions do not end, seed " << seed;
    const Before before(world);
    const Plan plan = world.decide();
    ASSERT_TRUE(world.state().is_consistent()) << seed;
    if (plan.actions.empty() && plan.look_again_at == Millis::max()) return;
    const auto stopped = stopped_in(plan);
    for (const auto& [starter, victims] : stopped) {
      const NodeId node = bound_to(plan, starter);
      ASSERT_FALSE(node.is_none()) << "stopped in vain, seed " << seed;
      std::int64_t room = before.free.at(node);
      for (const Action& action : plan.actions) {  // what started there before those were stopped
        if (const auto* evict = std::get_if<Evict>(&action); evict != nullptr && evict->for_job == starter) break;
        if (const auto* bind = std::get_if<Bind>(&action); bind != nullptr && bind->node == node)
          room -= world.gpus(bind->job);
      }
      for (const JobId victim : victims) {
        const auto was = before.nodes.find(victim);
        if (was != before.nodes.end()) {
          EXPECT_EQ(was->second, node) << "not in the way, seed " << seed;
        }
        if (world.queue(victim) == world.queue(starter)) {
          EXPECT_LT(world.priority(victim), world.priority(starter)) << seed;
        } else {
          EXPECT_LE(world.used(world.queue(starter)), world.guarantee(world.queue(starter))) << seed;
        }
        room += world.gpus(victim);
      }
      for (const JobId victim : victims)
        EXPECT_LT(room - world.gpus(victim), world.gpus(starter))
            << "more than needed, seed " << seed << " node " << node.value << " free " << before.free.at(node)
            << " starter " << starter.value << " victims " << victims.size();
    }
  }
}

TEST(Victims, AreFoundExactlyWhereLowerPriorityIsInTheWay) {
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    World world(seed);
    for (std::uint32_t step = 0; step < kJobs; ++step) {
      if (world.draw(4) == 0)
        world.end_one();
      else
        world.submit(kLeft);
      settle(world, seed);
      if (testing::Test::HasFatalFailure()) return;
      for (const JobId waiting : world.waiting())
        for (std::size_t n = 0; n < world.state().cluster().rows(); ++n)
          ASSERT_LT(room_for(world, waiting, NodeId(n)), world.gpus(waiting))
              << "job " << waiting.value << " waits though others may be stopped for it, seed " << seed;
    }
  }
}

/// Where only the other queue borrows: all its jobs on a node, as far as it has more than its guarantee without them.
TEST(Victims, GiveBackWhatIsLentAndNoMore) {
  std::size_t reclaims = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    const std::int64_t nodes = 1 + seed % kNodes;
    World world(seed, 4 * nodes, 3 * nodes);
    for (std::uint32_t step = 0; step < kJobs; ++step) {
      if (world.draw(4) == 0)
        world.end_one();
      else
        world.submit(world.draw(2) == 0 ? kLeft : kRight);
      const std::map<QueueId, std::int64_t> used{{kLeft, world.used(kLeft)}, {kRight, world.used(kRight)}};
      settle(world, seed);
      if (testing::Test::HasFatalFailure()) return;
      for (const JobId waiting : world.waiting()) {
        const QueueId queue = world.queue(waiting), other = queue == kLeft ? kRight : kLeft;
        if (world.used(queue) + world.gpus(waiting) > world.guarantee(queue)) continue;
        for (std::size_t n = 0; n < world.state().cluster().rows(); ++n) {
          // Each of the others alone, if its queue borrows.
          for (const JobId job : world.running()) {
            const bool is_lent =
                world.node(job) == NodeId(n) && world.queue(job) == other && world.used(other) > world.guarantee(other);
            if (!is_lent) continue;
            ASSERT_LT(world.free(NodeId(n)) + world.gpus(job), world.gpus(waiting))
                << "job " << waiting.value << " waits for what job " << job.value << " borrows, seed " << seed;
          }
        }
      }
      for (const auto& [queue, before] : used) reclaims += world.used(queue) < before ? 1 : 0;
    }
  }
  EXPECT_GT(reclaims, 50u);
}

/// An unstoppable job is so inside its queue's guarantee, with those that started no later.
bool is_covered(const World& world, JobId job) {
  if (!world.job(job).stopping.is_unstoppable) return false;
  std::int64_t used = 0;
  for (const JobId other : world.running())
    if (world.queue(other) == world.queue(job) && world.job(other).stopping.is_unstoppable &&
        world.job(other).start_seq <= world.job(job).start_seq)
      used += world.gpus(other);
  return used <= world.guarantee(world.queue(job));
}

/// The rule by which the waiting job may stop the running one at present; none: it may not.
StopReason allowed(World& world, JobId waiting, JobId running) {
  if (world.has_given_way(waiting, running)) return StopReason::kNone;
  const QueueId queue = world.queue(waiting), other = world.queue(running);
  const StopRules &rules = world.rules(queue), &its = world.rules(other);
  const bool is_lower = world.priority(running) < world.priority(waiting);
  const bool is_longer = world.has_estimates() && world.priority(running) == world.priority(waiting) &&
                         world.is_much_longer(running, waiting);
  const StopTerms& terms = world.job(running).stopping;
  if (queue == other ? terms.is_unstoppable : is_covered(world, running)) return StopReason::kNone;
  const Millis protection = queue == other ? its.protected_from_own : its.protected_from_others;
  if (world.now() < world.job(running).started_at + std::max(protection, terms.protected_for)) return StopReason::kNone;
  if (queue == other) {
    if (world.has_given_way_at_cost(waiting)) return StopReason::kNone;
    if (rules.own == StopRules::Own::kNever) return StopReason::kNone;
    if (is_lower) return StopReason::kLowerPriority;
    const bool is_newer = world.priority(running) == world.priority(waiting) &&
                          world.job(running).queued_at > world.job(waiting).queued_at;
    if (rules.own == StopRules::Own::kLowerOrNewer && is_newer) return StopReason::kNewer;
    return rules.own == StopRules::Own::kLowerOrLonger && is_longer ? StopReason::kLonger : StopReason::kNone;
  }
  if (world.used(other) <= world.guarantee(other)) return StopReason::kNone;
  const bool may_while_borrowing = is_lower || (is_longer && rules.longer_while_borrowing);
  if (world.used(queue) + world.gpus(waiting) > world.guarantee(queue))
    return may_while_borrowing && world.priority(running) <= rules.while_borrowing ? StopReason::kWhileBorrowing
                                                                                   : StopReason::kNone;
  const bool may =
      rules.reclaims == StopRules::Reclaims::kAny || (rules.reclaims == StopRules::Reclaims::kLower && is_lower);
  return may ? StopReason::kReclaimed : StopReason::kNone;
}

/// Decides until nothing is left to do now. What a decision stops first has a rule, and names it.
void settle_by_rules(World& world, std::uint32_t seed, std::map<StopReason, std::size_t>& seen) {
  for (int round = 0;; ++round) {
    ASSERT_LT(round, 200) << "evictions do not end, seed " << seed;
    std::map<std::pair<JobId, JobId>, StopReason> before;
    for (const JobId waiting : world.waiting())
      for (const JobId running : world.running()) before[{waiting, running}] = allowed(world, waiting, running);
    const Plan plan = world.decide();
    ASSERT_TRUE(world.state().is_consistent()) << seed;
    const Evict* first = plan.actions.empty() ? nullptr : std::get_if<Evict>(&plan.actions.front());
    if (first != nullptr) {
      const StopReason reason = before[{first->for_job, first->job}];
      ASSERT_EQ(stop_reason_name(first->reason), stop_reason_name(reason)) << "seed " << seed;
      ASSERT_NE(stop_reason_name(reason), "") << "seed " << seed;
      ++seen[reason];
    }
    if (plan.actions.empty() && plan.look_again_at > world.now()) return;
  }
}

/// No node has room with all of its own queue that one of these waiting jobs may stop there, or with one of the other
/// queue.
void expect_none_left(World& world, std::uint32_t seed, const std::vector<JobId>& of) {
  for (const JobId waiting : of)
    for (std::size_t n = 0; n < world.state().cluster().rows(); ++n) {
      std::int64_t own = 0, largest_other = 0;
      for (const JobId running : world.running()) {
        if (world.node(running) != NodeId(n) || allowed(world, waiting, running) == StopReason::kNone) continue;
        if (world.queue(running) == world.queue(waiting))
          own += world.gpus(running);
        else
          largest_other = std::max(largest_other, world.gpus(running));
      }
      ASSERT_LT(world.free(NodeId(n)) + std::max(own, largest_other), world.gpus(waiting))
          << "job " << waiting.value << " waits though the rules let it stop others, seed " << seed;
    }
}

StopRules drawn_rules(World& world) {
  StopRules rules;
  rules.own = static_cast<StopRules::Own>(world.draw(3));
  rules.reclaims = static_cast<StopRules::Reclaims>(world.draw(3));
  if (world.draw(2) == 0) rules.while_borrowing = static_cast<std::int32_t>(world.draw(4));
  if (world.draw(2) == 0) rules.protected_from_own = Millis(1000 * static_cast<std::int64_t>(world.draw(20)));
  if (world.draw(2) == 0) rules.protected_from_others = Millis(1000 * static_cast<std::int64_t>(world.draw(20)));
  return rules;
}

TEST(Victims, AreThoseThatTheRulesOfQueuesAllow) {
  std::map<StopReason, std::size_t> seen;
  for (std::uint32_t seed = 1; seed <= 1600; ++seed) {
    World world(seed, 2 + seed % 4, seed / 4 % 4, seed % 3 == 0 ? VictimRule::kLostWork : VictimRule::kPriority);
    for (const QueueId queue : {kLeft, kRight}) world.set_rules(queue, drawn_rules(world));
    if (seed % 2 == 0) world.draw_stop_terms();
    for (std::uint32_t step = 0; step < 2 * kJobs; ++step) {
      const std::uint32_t what = world.draw(8);
      if (what == 0)
        world.end_one();
      else if (what == 1)
        world.set_rules(world.draw(2) == 0 ? kLeft : kRight, drawn_rules(world));
      else if (what < 4)
        world.wait_until(world.now() + Millis(1000 * static_cast<std::int64_t>(world.draw(15))));
      else
        world.submit(world.draw(2) == 0 ? kLeft : kRight);
      settle_by_rules(world, seed, seen);
      if (testing::Test::HasFatalFailure()) return;
      expect_none_left(world, seed, world.waiting());
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  for (const StopReason reason :
       {StopReason::kLowerPriority, StopReason::kNewer, StopReason::kReclaimed, StopReason::kWhileBorrowing})
    EXPECT_GT(seen[reason], 20u) << stop_reason_name(reason);
}

/// Jobs that request the same are looked at in their order, and the first may have given way to what it could stop else.
bool has_like_that_gave_way(World& world, JobId job) {
  return std::ranges::any_of(world.waiting(), [&](JobId other) {
    return other != job && world.queue(other) == world.queue(job) && world.gpus(other) == world.gpus(job) &&
           world.has_given_way_to_any(other);
  });
}

/// A job that comes stops at once those that need much longer yet; one that waits looks again after a while.
TEST(Victims, AreThoseThatNeedMuchLonger) {
  std::map<StopReason, std::size_t> seen;
  for (std::uint32_t seed = 1; seed <= 1200; ++seed) {
    const VictimRule rule = seed % 3 == 0 ? VictimRule::kLostWork : VictimRule::kPriority;
    World world(seed, 2 + seed % 4, seed / 4 % 4, rule, kByWhatIsLeft);
    for (const QueueId queue : {kLeft, kRight}) {
      StopRules rules = drawn_rules(world);
      if (world.draw(3) > 0) rules.own = StopRules::Own::kLowerOrLonger;
      rules.longer_while_borrowing = world.draw(2) == 0;
      if (rules.longer_while_borrowing) rules.while_borrowing = INT32_MAX;
      world.set_rules(queue, rules);
    }
    for (std::uint32_t step = 0; step < 2 * kJobs; ++step) {
      const std::uint32_t what = world.draw(8);
      if (what == 0)
        world.end_one();
      else if (what < 4)
        world.wait_until(world.now() + Millis(100'000 * static_cast<std::int64_t>(world.draw(15))));
      else
        world.submit(world.draw(2) == 0 ? kLeft : kRight);
      settle_by_rules(world, seed, seen);
      if (testing::Test::HasFatalFailure()) return;
      const JobId last = world.last_submitted();
      if (what < 4 || world.job(last).members_placed > 0 || has_like_that_gave_way(world, last)) continue;
      expect_none_left(world, seed, {last});
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  for (const StopReason reason : {StopReason::kLonger, StopReason::kReclaimed, StopReason::kWhileBorrowing})
    EXPECT_GT(seen[reason], 20u) << stop_reason_name(reason);
}

/// What stopping these loses of the run time of all their GPUs.
std::int64_t lost_by(const World& world, const std::vector<JobId>& victims) {
  std::int64_t sum = 0;
  for (const JobId victim : victims) sum += world.job(victim).lost_if_stopped(world.now()).value * world.gpus(victim);
  return sum;
}

/// The least that any set of those that may be stopped on one node loses, of all sets that leave the job room there;
/// INT64_MAX: none does.
std::int64_t least_lost(World& world, JobId waiting) {
  std::int64_t least = INT64_MAX;
  for (std::size_t n = 0; n < world.state().cluster().rows(); ++n) {
    std::vector<JobId> there;
    for (const JobId running : world.running())
      if (world.node(running) == NodeId(n) && allowed(world, waiting, running) != StopReason::kNone)
        there.push_back(running);
    for (std::uint32_t set = 1; set < 1u << there.size(); ++set) {
      std::vector<JobId> victims;
      std::int64_t freed = world.free(NodeId(n));
      for (std::size_t i = 0; i < there.size(); ++i)
        if ((set >> i & 1) != 0) {
          victims.push_back(there[i]);
          freed += world.gpus(there[i]);
        }
      if (freed >= world.gpus(waiting)) least = std::min(least, lost_by(world, victims));
    }
  }
  return least;
}

TEST(Victims, LoseLittleMoreThanTheBestThereAre) {
  double ours = 0, best = 0;
  std::size_t searches = 0, at_best = 0;
  const std::uint32_t seeds = std::getenv("ASHLAR_SANITIZED") != nullptr ? 100 : 1000;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    World world(seed, 0, 0, VictimRule::kLostWork);
    world.draw_stop_terms();
    for (std::uint32_t step = 0; step < 3 * kJobs; ++step) {
      const std::uint32_t what = world.draw(8);
      if (what == 0) world.end_one();
      if (what == 1) world.save_one();
      if (what == 2) world.wait_until(world.now() + Millis(1000 * static_cast<std::int64_t>(world.draw(60))));
      if (what > 2) world.submit(kLeft);
      std::map<JobId, std::int64_t> least;
      std::map<JobId, std::int64_t> lost;
      for (const JobId waiting : world.waiting()) least[waiting] = least_lost(world, waiting);
      for (const JobId running : world.running()) lost[running] = lost_by(world, {running});
      const Plan plan = world.decide();
      const Evict* first = plan.actions.empty() ? nullptr : std::get_if<Evict>(&plan.actions.front());
      if (first == nullptr) continue;
      std::int64_t sum = 0;
      for (const Action& action : plan.actions)
        if (const auto* evict = std::get_if<Evict>(&action); evict != nullptr && evict->for_job == first->for_job)
          sum += lost[evict->job];
      ASSERT_GE(sum, least[first->for_job]) << "seed " << seed;
      ours += static_cast<double>(sum);
      best += static_cast<double>(least[first->for_job]);
      ++searches;
      at_best += sum == least[first->for_job] ? 1 : 0;
    }
  }
  EXPECT_GT(searches, seeds);
  std::printf("lost work: %zu searches, %zu at the least, %.4f times the least in all\n", searches, at_best,
              ours / best);
  EXPECT_GE(static_cast<double>(at_best), 0.99 * static_cast<double>(searches)) << at_best << " of " << searches;
  EXPECT_LE(ours, 1.01 * best) << ours / best << " times the least";
}

/// Four jobs of a whole node each on two nodes; each stops the one that loses least. The third gave way for the last
/// and is withdrawn: the second, which had given way for it, may stop others of its own from then on.
TEST(Victims, OfAJobThatGaveWayAreLookedForOnceTheOneForWhichItDidIsOver) {
  State s = small_state(2);
  Engine engine(with_victims(VictimRule::kLostWork));
  tell(s, DemandDefined{demand_of(8), {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  const auto stopped_by = [&](std::uint32_t job, std::int64_t second) -> std::vector<JobId> {
    Workload w = workload(job, job, 1, demand_of(8));
    w.priority = static_cast<std::int32_t>(job);
    w.submitted = Millis(1000 * second);
    tell(s, Submitted{w}, w.submitted);
    std::vector<JobId> stopped;
    for (const Action& action : engine.decide(s, w.submitted).actions)
      if (const auto* evict = std::get_if<Evict>(&action)) stopped.push_back(evict->job);
    for (const JobId id : stopped) tell(s, Evicted{id, Millis::max(), {}}, w.submitted);
    while (engine.decide(s, w.submitted).look_again_at <= w.submitted) continue;
    return stopped;
  };
  EXPECT_TRUE(stopped_by(0, 0).empty());
  EXPECT_TRUE(stopped_by(1, 100).empty());
  EXPECT_EQ(stopped_by(2, 200), std::vector<JobId>{JobId(1u)});
  EXPECT_EQ(stopped_by(3, 300), std::vector<JobId>{JobId(2u)});
  tell(s, Ended{JobId(2u)}, Millis(400'000));
  const Plan plan = engine.decide(s, Millis(400'000));
  ASSERT_FALSE(plan.actions.empty());
  const auto* evict = std::get_if<Evict>(&plan.actions.front());
  ASSERT_NE(evict, nullptr);
  EXPECT_EQ(evict->job, JobId(0u));
  EXPECT_EQ(evict->for_job, JobId(1u));
}

/// Of two jobs of half a node each, the one that gives way for a third, of the same queue or of one to which that much
/// is guaranteed.
JobId first_of_two(QueueId third, Millis second_starts, std::int32_t first_priority, std::int32_t second_priority) {
  State s = small_state(1);
  Engine engine(with_victims(VictimRule::kPriority));
  for (const QueueId queue : {kLeft, kRight}) {
    QueueDefined defined{queue, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}};
    if (queue == kLeft) defined.shares.push_back({.of = quota_key(0), .guarantee = 4'000});
    tell(s, defined);
  }
  const auto submit = [&](std::uint32_t job, std::int32_t priority, Millis at) {
    Workload w = workload(job, job, 1, kFourDevices);
    w.queue = job == 2 ? third : kRight;
    w.priority = priority;
    w.submitted = at;
    tell(s, Submitted{w}, at);
  };
  submit(0, first_priority, Millis(0));
  if (second_starts > Millis(0)) engine.decide(s, Millis(0));
  submit(1, second_priority, second_starts);
  engine.decide(s, second_starts);
  submit(2, 10, Millis(1000));
  const Plan plan = engine.decide(s, Millis(1000));
  const auto* evict = plan.actions.empty() ? nullptr : std::get_if<Evict>(&plan.actions.front());
  return evict == nullptr ? JobId::none() : evict->job;
}

TEST(Victims, AreOfTheLowestPriorityAndOfTheseTheOneThatStartedLast) {
  for (const QueueId third : {kRight, kLeft}) {
    EXPECT_EQ(first_of_two(third, Millis(500), 5, 5), JobId(1u));
    EXPECT_EQ(first_of_two(third, Millis(500), 4, 5), JobId(0u));
    EXPECT_EQ(first_of_two(third, Millis(500), 5, 4), JobId(1u));
    EXPECT_EQ(first_of_two(third, Millis(0), 5, 5), JobId(1u)) << "both started at once, in the order of jobs";
  }
}

TEST(Victims, AreNoJobsThatHaveWaitedAsLong) {
  State s = small_state(1);
  Engine engine(with_victims(VictimRule::kPriority));
  QueueDefined defined{kLeft, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}};
  defined.stops.own = StopRules::Own::kLowerOrNewer;
  tell(s, defined);
  for (std::uint32_t job = 0; job < 3; ++job) {
    Workload w = workload(job, job, 1, kFourDevices);
    w.queue = kLeft;
    tell(s, Submitted{w});
  }
  EXPECT_EQ(engine.decide(s, Millis(0)).actions.size(), 2u);
  EXPECT_TRUE(engine.decide(s, Millis(1000)).actions.empty());
}

/// In the order of arrival, where the one behind has the higher priority.
TEST(Victims, AreNoJobsThatTheSamePlanHasStarted) {
  State s = small_state(1);
  Engine engine(with_victims(VictimRule::kPriority, "fifo"));
  tell(s, Submitted{workload(0, 0, 2, kFourDevices)});
  Workload behind = workload(1, 2, 1, kFourDevices);
  behind.priority = 5;
  tell(s, Submitted{std::move(behind)});
  const Plan plan = engine.decide(s, Millis(0));
  ASSERT_EQ(plan.actions.size(), 2u);
  for (const Action& action : plan.actions) EXPECT_TRUE(std::holds_alternative<Bind>(action));
  ASSERT_EQ(plan.look_again_at, Millis(0)) << "the next one may";
  const Plan next = engine.decide(s, Millis(0));
  ASSERT_FALSE(next.actions.empty());
  const auto* evict = std::get_if<Evict>(&next.actions.front());
  ASSERT_NE(evict, nullptr);
  EXPECT_EQ(evict->job, JobId(0u));
}

}  // namespace
}  // namespace ashlar
