// The bound that skips moments in the search for the earliest start, compared with the columns after the jobs have gone.
#include "engine/reserve/idle_room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "../state/small_state.h"
#include "base/rng.h"
#include "state/trial.h"

namespace ashlar {
namespace {

constexpr DemandId kEightWhole{20u};
constexpr LevelId kTheirRack{0u};
constexpr std::uint32_t kSixNodes = 6, kPerRack = 2, kPair = 100;

/// Six empty nodes, two in each rack; the sixth in none.
State three_racks() {
  State state = small_state(0);
  tell(state, LevelsDefined{1, 0});
  tell(state, DemandDefined{kEightWhole, {.amounts = {}, .devices = {8, MilliGpu(1000), MiB(0)}, .ports = {}}});
  for (std::uint32_t n = 0; n < kSixNodes; ++n) {
    NodeFacts facts = eight_devices();
    facts.domains = {n == kSixNodes - 1 ? DomainId::none() : DomainId(n / kPerRack)};
    tell(state, NodeSeen{NodeId(n), facts});
  }
  return state;
}

/// A job of two whole nodes that waits.
void submit_pair(State& state, LevelId within) {
  Workload w = workload(kPair, kPair, 2, kEightWhole);
  w.within = within;
  tell(state, Submitted{w});
}

void run_on(State& state, std::uint32_t job, std::uint32_t node, DemandId demand) {
  tell(state, Submitted{workload(job, job, 1, demand)});
  tell(state, Bound{MemberId(job), NodeId(node), {}});
}

TEST(IdleRoom, IsEnoughWhenOneRackHasTheNodes) {
  State state = three_racks();
  for (std::uint32_t n = 0; n < kSixNodes; ++n) run_on(state, n, n, kOneDevice);
  submit_pair(state, kTheirRack);
  IdleRoom room(state, JobId(kPair));
  for (const std::uint32_t job : {0u, 2u, 4u, 5u}) {
    room.free(JobId(job));
    EXPECT_FALSE(room.is_enough()) << "after job " << job << " no rack has two";
  }
  room.free(JobId(3u));
  EXPECT_TRUE(room.is_enough());
}

TEST(IdleRoom, CountsNodesAnywhereForAJobThatMayBeApart) {
  State state = three_racks();
  for (std::uint32_t n = 0; n < kSixNodes; ++n) run_on(state, n, n, kOneDevice);
  submit_pair(state, LevelId::none());
  IdleRoom room(state, JobId(kPair));
  room.free(JobId(0u));
  EXPECT_FALSE(room.is_enough());
  room.free(JobId(5u));
  EXPECT_TRUE(room.is_enough());
}

TEST(IdleRoom, IsInTheRackThatTheJobHasJoined) {
  State state = three_racks();
  for (std::uint32_t n = 1; n < kSixNodes; ++n) run_on(state, n, n, kOneDevice);
  submit_pair(state, kTheirRack);
  tell(state, Bound{MemberId(kPair), NodeId(0u), {}});
  IdleRoom room(state, JobId(kPair));
  room.free(JobId(2u));
  room.free(JobId(3u));
  EXPECT_FALSE(room.is_enough());
  room.free(JobId(1u));
  EXPECT_TRUE(room.is_enough());
}

TEST(IdleRoom, IsEnoughWhereNodesAreIdleNow) {
  State state = three_racks();
  submit_pair(state, kTheirRack);
  EXPECT_TRUE(IdleRoom(state, JobId(kPair)).is_enough());
}

TEST(IdleRoom, LeavesToTheTrialWhatHoldsMayYield) {
  State state = three_racks();
  for (std::uint32_t n = 0; n < kSixNodes; ++n) run_on(state, n, n, kOneDevice);
  submit_pair(state, kTheirRack);
  EXPECT_FALSE(IdleRoom(state, JobId(kPair)).is_enough());
  Hold hold{.job = JobId(50u), .parts = {{.member = {MemberId(50u), kFourDevices, kAnywhere}, .node = NodeId(0u)}}};
  hold.owner.job = JobId(kPair);
  tell(state, HoldPlaced{hold});
  ASSERT_FALSE(state.yielding().empty());
  EXPECT_TRUE(IdleRoom(state, JobId(kPair)).is_enough());
}

/// Whether the columns have two idle nodes in one rack, or anywhere.
bool have_two_idle(const State& state, LevelId within) {
  std::map<DomainId, int> idle;
  for (std::uint32_t n = 0; n < kSixNodes; ++n) {
    const DomainId rack = state.cluster().topology().domain_of(kTheirRack, NodeId(n));
    if (state.cluster().idle_devices()[n] >= 8 && (within.is_none() || !rack.is_none()))
      ++idle[within.is_none() ? DomainId::none() : rack];
  }
  return std::any_of(idle.begin(), idle.end(), [](const auto& rack) { return rack.second >= 2; });
}

TEST(IdleRoom, SaysTheSameAsTheColumnsOnceTheJobsHaveGone) {
  int late = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    State state = three_racks();
    std::uint32_t jobs = 0;
    for (; jobs < 20; ++jobs) {
      const DemandId demand = rng.below(2) == 0 ? kOneDevice : kFourDevices;
      const NodeId node(static_cast<std::uint32_t>(rng.below(kSixNodes)));
      if (state.cluster().idle_devices()[node.row()] < state.demand(demand).devices.count) break;
      run_on(state, jobs, node.row(), demand);
    }
    const LevelId within = seed % 2 == 0 ? kTheirRack : LevelId::none();
    submit_pair(state, within);
    IdleRoom room(state, JobId(kPair));
    Trial trial(state);
    std::vector<std::uint32_t> order(jobs);
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    ASSERT_EQ(room.is_enough(), have_two_idle(state, within)) << "seed " << seed;
    for (const std::uint32_t job : order) {
      room.free(JobId(job));
      trial.evict(JobId(job));
      ASSERT_EQ(room.is_enough(), have_two_idle(state, within)) << "seed " << seed << ", job " << job;
      late += room.is_enough() ? 0 : 1;
    }
  }
  EXPECT_GT(late, 500);
}

}  // namespace
}  // namespace ashlar
