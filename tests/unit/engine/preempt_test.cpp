// Jobs that are stopped for others: for whom, and with which grace.
#include <gtest/gtest.h>

#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

constexpr DemandId kAllDevices{20u};

Workload lasting(std::uint32_t job, DemandId demand, std::int64_t seconds) {
  Workload w = workload(job, job, 1, demand);
  w.estimate = {Millis(1000 * seconds), Millis(1000 * seconds)};
  return w;
}

/// Two nodes, filled by jobs 0 to 3 of four devices and 1,000 s each, and what SRTF does when `jobs` come.
Plan preempted(std::vector<Workload> jobs, Millis grace) {
  State state = small_state(2);
  tell(state, DemandDefined{kAllDevices, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  Profile profile = *builtin_profile("srtf");
  profile.grace = grace;
  Engine engine(profile);
  for (std::uint32_t j = 0; j < 4; ++j) tell(state, Submitted{lasting(j, kFourDevices, 1000)});
  EXPECT_EQ(engine.decide(state, Millis(0)).actions.size(), 4u);
  for (Workload& w : jobs) tell(state, Submitted{std::move(w)}, Millis(5000));
  return engine.decide(state, Millis(5000));
}

std::vector<Evict> evictions(const Plan& plan) {
  std::vector<Evict> found;
  for (const Action& action : plan.actions)
    if (const auto* evict = std::get_if<Evict>(&action)) found.push_back(*evict);
  return found;
}

TEST(Preempt, NamesTheJobThatGetsTheDevices) {
  const Plan plan = preempted({lasting(10, kFourDevices, 20), lasting(11, kFourDevices, 10)}, Millis(30'000));
  const std::vector<Evict> stopped = evictions(plan);
  ASSERT_EQ(stopped.size(), 2u);
  ASSERT_EQ(plan.actions.size(), 4u);
  for (const Evict& evict : stopped) {
    EXPECT_EQ(evict.grace, Millis(30'000));
    EXPECT_TRUE(evict.member.is_none());
  }
  const std::vector<JobId> of{stopped[0].for_job, stopped[1].for_job};
  EXPECT_TRUE(of == (std::vector<JobId>{JobId(10u), JobId(11u)}) || of == (std::vector<JobId>{JobId(11u), JobId(10u)}));
}

TEST(Preempt, NamesOneJobForAllThatItReplaces) {
  const std::vector<Evict> stopped = evictions(preempted({lasting(10, kAllDevices, 20)}, Millis(0)));
  ASSERT_EQ(stopped.size(), 2u);
  for (const Evict& evict : stopped) EXPECT_EQ(evict.grace, Millis(0));
  // By count alone jobs of two nodes may be stopped: one that leaves nothing to anybody is stopped for no one.
  for (const Evict& evict : stopped) EXPECT_TRUE(evict.for_job == JobId(10u) || evict.for_job.is_none());
}

}  // namespace
}  // namespace ashlar
