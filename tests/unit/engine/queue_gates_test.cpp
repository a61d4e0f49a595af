// Queues that are held, drained, stopped and released at random, with jobs that come and end: nothing starts where nothing
// may, what a stopped queue runs is stopped once, all else goes on, and all that is released runs again.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

constexpr std::uint32_t kGatedQueues = 5;  ///< 1 under the root, 2 and 3 below 1, 4 under the root, 5 below 4
constexpr std::uint32_t kParentOf[kGatedQueues + 1] = {0, 0, 1, 1, 0, 4};
using Gate = QueueGate::Is;

struct GatedJob {
  std::uint32_t queue = 0;
  std::uint32_t round = 0;  ///< in which it came
};

class GatedQueues {
 public:
  explicit GatedQueues(std::uint32_t seed) : draws_(seed), state_(small_state(3)), engine_(profile(seed)) {
    for (std::uint32_t q = 1; q <= kGatedQueues; ++q) set(q, {});
  }
  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(draws_() % below); }

  void set(std::uint32_t q, QueueGate gate) {
    QueueDefined defined{QueueId(q), QueueId(kParentOf[q]), {kUnlimited, kUnlimited, kUnlimited}};
    defined.gate = gates[q] = gate;
    tell(state_, defined, now);
  }
  void submit() {
    const std::uint32_t members = 1 + draw(3);
    const auto job = static_cast<std::uint32_t>(jobs.size());
    Workload w = workload(job, members_, members, kOneDevice);
    members_ += members;
    w.queue = QueueId(1 + draw(kGatedQueues));
    w.submitted = now;
    w.members_min = 1 + draw(members);
    jobs.push_back({w.queue.value, round});
    for (std::uint32_t q = w.queue.value; q != 0; q = kParentOf[q])
      if (gates[q].refuses(now)) refused.insert(job);
    tell(state_, Submitted{w}, now);
  }
  /// Any of its members is placed.
  bool runs(std::uint32_t job) const { return state_.is_live(JobId(job)) && state_.job(JobId(job)).members_placed > 0; }
  bool is_under(std::uint32_t queue, bool (*is)(const QueueGate&)) const {
    for (std::uint32_t q = queue; q != 0; q = kParentOf[q])
      if (is(gates[q])) return true;
    return false;
  }
  void decide() {
    const Plan plan = engine_.decide(state_, now);
    for (const Action& action : plan.actions) {
      if (const auto* bind = std::get_if<Bind>(&action)) {
        started.insert(bind->job.value);
        tell(state_, Bound{bind->member, bind->node, bind->devices}, now);
        continue;
      }
      const Evict& evict = std::get<Evict>(action);
      EXPECT_EQ(evict.reason, StopReason::kQueueStopped);
      EXPECT_TRUE(evict.for_job.is_none() && evict.member.is_none());
      EXPECT_TRUE(stopped.insert(evict.job.value).second) << "twice";
    }
    for (const std::uint32_t job : stopped) tell(state_, Evicted{JobId(job), Millis::max()}, now);
  }
  void end(std::uint32_t job) { tell(state_, Ended{JobId(job)}, now); }
  const State& state() const { return state_; }
  const Engine& engine() const { return engine_; }

  std::vector<GatedJob> jobs;
  QueueGate gates[kGatedQueues + 1];
  std::set<std::uint32_t> refused, started, stopped;  ///< the latter two: by the last decision
  std::uint32_t round = 0;
  Millis now{1000};

 private:
  static Profile profile(std::uint32_t seed) {
    Profile of = *builtin_profile("ashlar");
    of.blocking = seed % 3 == 0 ? Blocking::kStrict : Blocking::kSkip;
    of.victim = seed % 2 == 0 ? VictimRule::kNone : VictimRule::kLostWork;
    return of;
  }
  std::mt19937 draws_;
  State state_;
  Engine engine_;
  std::uint32_t members_ = 0;
};

void check_the_decision(GatedQueues& world, const std::set<std::uint32_t>& ran) {
  const auto starts_nothing = [](const QueueGate& gate) { return gate.starts_nothing(); };
  const auto is_stopped = [](const QueueGate& gate) { return gate.is == Gate::kStopped; };
  for (const std::uint32_t job : world.started) {
    ASSERT_FALSE(world.is_under(world.jobs[job].queue, starts_nothing)) << "job " << job;
    ASSERT_FALSE(world.refused.contains(job)) << "job " << job;
  }
  for (const std::uint32_t job : ran)
    ASSERT_EQ(world.stopped.contains(job), world.is_under(world.jobs[job].queue, is_stopped)) << "job " << job;
  for (std::uint32_t job = 0; job < world.jobs.size(); ++job) {
    if (!world.state().is_live(JobId(job)) || world.runs(job) || world.stopped.contains(job)) continue;
    const Verdict verdict = world.engine().verdict_of(JobId(job));
    ASSERT_FALSE(verdict.reasons.empty()) << "job " << job;
    const ReasonCode code = verdict.reasons.front().code;
    if (code == ReasonCode::kBehindHead) continue;  // of a strict queue
    const bool is_held = world.is_under(world.jobs[job].queue, starts_nothing);
    ASSERT_EQ(code == ReasonCode::kQueueHeld, is_held) << "job " << job;
    ASSERT_EQ(code == ReasonCode::kQueueDraining, !is_held && world.refused.contains(job)) << "job " << job;
  }
}

void play(std::uint32_t seed, std::uint32_t& stops, std::uint32_t& refusals) {
  GatedQueues world(seed);
  for (world.round = 0; world.round < 30; ++world.round) {
    world.now += Millis(1000);
    world.started.clear();
    world.stopped.clear();
    if (world.draw(3) == 0) {
      const std::uint32_t q = 1 + world.draw(kGatedQueues);
      world.set(q, {static_cast<Gate>(world.draw(4)), world.now - Millis(world.draw(2000))});
      std::erase_if(world.refused, [&](std::uint32_t job) {
        const Millis submitted =
            world.state().is_live(JobId(job)) ? world.state().job(JobId(job)).submitted : Millis(0);
        for (std::uint32_t up = world.jobs[job].queue; up != 0; up = kParentOf[up])
          if (world.gates[up].refuses(submitted)) return false;
        return true;
      });
    }
    for (std::uint32_t more = world.draw(3); more > 0; --more) world.submit();
    std::set<std::uint32_t> ran;
    for (std::uint32_t job = 0; job < world.jobs.size(); ++job) {
      if (!world.runs(job)) continue;
      if (world.draw(6) == 0)
        world.end(job);
      else
        ran.insert(job);
    }
    world.decide();
    check_the_decision(world, ran);
    ASSERT_TRUE(world.state().is_consistent());
    stops += static_cast<std::uint32_t>(world.stopped.size());
    refusals += static_cast<std::uint32_t>(world.refused.size());
    if (::testing::Test::HasFatalFailure()) return;
  }
  for (std::uint32_t q = 1; q <= kGatedQueues; ++q) world.set(q, {});
  for (int i = 0; i < 200; ++i) {
    world.now += Millis(1000);
    world.stopped.clear();
    world.decide();
    for (std::uint32_t job = 0; job < world.jobs.size(); ++job)
      if (world.runs(job)) world.end(job);
  }
  for (std::uint32_t job = 0; job < world.jobs.size(); ++job)
    ASSERT_FALSE(world.state().is_live(JobId(job))) << "job " << job << " never ran";
}

TEST(QueueGates, NothingStartsWhereNothingMayAndAllElseGoesOn) {
  std::uint32_t stops = 0, refusals = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    play(seed, stops, refusals);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(stops, 500u);
  EXPECT_GT(refusals, 500u);
}

}  // namespace
}  // namespace ashlar
