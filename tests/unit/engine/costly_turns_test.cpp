// Gangs of unlike members that are looked at in vain again and again: their share of a decision, and the turn that each
// of them has.
#include "engine/place/costly_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

constexpr DemandId kHalfNode{20u};
constexpr std::size_t kAtOnce = 100;

CostlyTurns refilled(Millis now) {
  CostlyTurns turns;
  turns.refill(now, kAtOnce);
  return turns;
}

TEST(CostlyTurns, BeginWithWhatADecisionMaySpendAndStopWhenItIsSpent) {
  CostlyTurns turns = refilled(Millis(0));
  ASSERT_TRUE(turns.take_turn(JobId(1u)));
  turns.note_failed(JobId(1u), kAtOnce - 1);
  ASSERT_TRUE(turns.take_turn(JobId(2u))) << "something is left";
  turns.note_failed(JobId(2u), 5'000 * 7);  // one over it is looked at whole
  EXPECT_FALSE(turns.take_turn(JobId(3u)));
  EXPECT_EQ(turns.next_turn(Millis(0)), Millis(7)) << "5,000 nodes are due each millisecond";
}

TEST(CostlyTurns, OfARoundGoToThoseThatHadNone) {
  CostlyTurns turns = refilled(Millis(0));
  ASSERT_TRUE(turns.take_turn(JobId(1u)));
  turns.note_failed(JobId(1u), kAtOnce);
  ASSERT_FALSE(turns.take_turn(JobId(2u)));
  turns.next_turn(Millis(0));
  turns.refill(Millis(1000), kAtOnce);
  EXPECT_FALSE(turns.take_turn(JobId(1u))) << "it had its turn, another has not";
  EXPECT_TRUE(turns.take_turn(JobId(2u)));
  turns.note_failed(JobId(2u), 1);
  EXPECT_EQ(turns.next_turn(Millis(1000)), Millis(1000)) << "a new round begins at once";
  turns.refill(Millis(1000), kAtOnce);
  EXPECT_TRUE(turns.take_turn(JobId(1u)));
  EXPECT_EQ(turns.next_turn(Millis(1000)), Millis::max());
}

TEST(CostlyTurns, WhereNothingIsPutOffEachMayBeLookedAtTwice) {
  CostlyTurns turns = refilled(Millis(0));
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(turns.take_turn(JobId(1u)));
    turns.note_failed(JobId(1u), 1);
  }
  EXPECT_EQ(turns.next_turn(Millis(0)), Millis::max());
}

TEST(CostlyTurns, AreRefilledByTheTimeHoweverOftenThatIsAsked) {
  CostlyTurns rarely = refilled(Millis(0)), often = rarely;
  for (CostlyTurns* turns : {&rarely, &often}) turns->note_failed(JobId(1u), 5'000 * 10);
  for (int at = 1; at <= 9; ++at) often.refill(Millis(at), kAtOnce);
  rarely.refill(Millis(9), kAtOnce);
  EXPECT_FALSE(often.take_turn(JobId(2u)));
  EXPECT_FALSE(rarely.take_turn(JobId(2u)));
  EXPECT_EQ(often.next_turn(Millis(9)), rarely.next_turn(Millis(9)));
  often.refill(Millis(10), kAtOnce);
  EXPECT_TRUE(often.take_turn(JobId(2u)));
  often.refill(Millis(3), kAtOnce);  // a clock that was set back takes nothing away
  EXPECT_TRUE(often.take_turn(JobId(2u)));
}

/// Four nodes, each half taken by one of jobs 0 to 3, and gangs of two unlike members that need a whole node each,
/// from job 20 and member row 100 on.
State with_gangs(std::uint32_t count) {
  State s = small_state(4);
  tell(s, DemandDefined{kHalfNode, {.amounts = {{resource::kPods, 1}}, .devices = {4, MilliGpu(1000), MiB(0)}}});
  for (std::uint32_t n = 0; n < 4; ++n) {
    tell(s, Submitted{workload(n, n, 1, kHalfNode)});
    tell(s, Bound{MemberId(n), NodeId(n), {}});
  }
  for (std::uint32_t g = 0; g < count; ++g) {
    Workload gang = workload(20 + g, 100 + 2 * g, 2, kHalfNode);
    for (std::uint32_t m = 0; m < 2; ++m) {
      const DemandId demand(30 + 2 * g + m);
      tell(s, DemandDefined{demand,
                            {.amounts = {{resource::kCpu, 2 * g + m + 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
      gang.members[m].demand = demand;
    }
    tell(s, Submitted{std::move(gang)});
  }
  return s;
}

constexpr std::size_t kOfAGang = 2 * 4;  ///< kinds and nodes

/// Twelve gangs come at once, of which four are looked at in a decision, and behind them a job that fits.
TEST(CostlyTurns, AJobBehindManyGangsIsDecidedWithTheFirstOfThem) {
  constexpr std::uint32_t kGangs = 12;
  State s = with_gangs(kGangs);
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_costly(4 * kOfAGang);
  tell(s, Submitted{workload(6, 16, 1, kHalfNode)});
  Plan plan = engine.decide(s, s.now());
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(6u));
  std::set<JobId> judged;
  for (int decision = 0; decision < 4; ++decision) {
    std::size_t of_this = 0;
    for (const VerdictChange& report : plan.verdicts)
      if (report.job.value >= 20) of_this += judged.insert(report.job).second ? 1 : 0;
    EXPECT_LE(of_this, 4u);
    if (plan.look_again_at == Millis::max()) break;
    EXPECT_GE(plan.look_again_at, s.now());
    plan = engine.decide(s, plan.look_again_at);
  }
  EXPECT_EQ(judged.size(), kGangs);
}

}  // namespace
}  // namespace ashlar
