// Which waiting jobs a freed node makes the engine look at: only those for which it could mean enough room, counted by
// the jobs looked at.
#include <gtest/gtest.h>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

constexpr DemandId kWholeNode{20u};
constexpr std::uint32_t kGangs = 100;

/// A leader without devices and two workers with a whole node each, from member row 10 * job on.
Workload leader_and_workers(std::uint32_t job) {
  Workload gang = workload(job, 10 * job, 3, kWholeNode);
  gang.members[0].demand = kNoDevices;
  return gang;
}

/// Four nodes, all taken by jobs 0 to 3 but for some cores, and job 4 of one core on node 0.
State full_cluster() {
  State s = small_state(4);
  tell(s, DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  for (std::uint32_t n = 0; n < 4; ++n) {
    tell(s, Submitted{workload(n, n, 1, kWholeNode)});
    tell(s, Bound{MemberId(n), NodeId(n), {}});
  }
  tell(s, Submitted{workload(4, 4, 1, kNoDevices)});
  tell(s, Bound{MemberId(4u), NodeId(0u), {}});
  return s;
}

TEST(Wake, LikeGangsOfUnlikeMembersWaitInOneClassUntilTheirWorkersHaveRoom) {
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  for (std::uint32_t g = 0; g < kGangs; ++g) tell(s, Submitted{leader_and_workers(10 + g)});
  EXPECT_EQ(engine.decide(s, s.now()).examined, 1u);
  std::size_t classes = 0;
  engine.pending().each_class([&](ClassId, const PendingQueue::Class&) { ++classes; });
  EXPECT_EQ(classes, 1u);

  tell(s, Ended{JobId(4u)});  // room for a leader alone
  EXPECT_EQ(engine.decide(s, s.now()).examined, 0u);
  tell(s, Ended{JobId(0u)});  // and for one worker
  EXPECT_EQ(engine.decide(s, s.now()).examined, 0u);
  tell(s, Ended{JobId(1u)});
  const Plan plan = engine.decide(s, s.now());
  EXPECT_EQ(plan.actions.size(), 3u);
  EXPECT_EQ(s.job(JobId(10u)).members_placed, 3u);
}

TEST(Wake, OtherOrdersOfTheSameMembersAreOtherClasses) {
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  tell(s, Submitted{leader_and_workers(10)});
  Workload last = leader_and_workers(11);
  std::swap(last.members[0].demand, last.members[2].demand);
  tell(s, Submitted{last});
  EXPECT_EQ(engine.decide(s, s.now()).examined, 2u);
}

}  // namespace
}  // namespace ashlar
