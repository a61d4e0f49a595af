// LostWork: what the stop of a job loses, by what its placed members hold.
#include "engine/victims/lost_work.h"

#include <gtest/gtest.h>

#include <vector>

#include "../state/small_state.h"

namespace ashlar {
namespace {

constexpr DemandId kHeldDemand{20u};
constexpr std::int64_t kTiB = std::int64_t{1} << 40;

/// What a job of one member with that demand holds, in thousandths of a device: it has run for a second. There are two
/// nodes of 64 cores and a TiB of memory each.
std::int64_t held_with(const Demand& demand, std::int32_t devices_of_a_node = 8, const NodeFacts* later = nullptr) {
  State s = small_state(0);
  NodeFacts facts = eight_devices();
  facts.devices.count = devices_of_a_node;
  for (std::uint32_t n = 0; n < 2; ++n) tell(s, NodeSeen{NodeId(n), facts});
  tell(s, DemandDefined{kHeldDemand, demand});
  tell(s, Submitted{workload(0, 0, 1, kHeldDemand)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  if (later != nullptr)
    for (std::uint32_t n = 0; n < 2; ++n) tell(s, NodeSeen{NodeId(n), *later});
  return LostWork(s, Millis(1000)).of(Victim{JobId(0u)}) / 1000;
}

TEST(LostWork, IsByDevicesWhereThereAreAny) {
  EXPECT_EQ(held_with({.amounts = {{resource::kCpu, 64'000}}, .devices = {1, MilliGpu(1000), MiB(0)}}), 1000);
  EXPECT_EQ(held_with({.amounts = {}, .devices = {1, MilliGpu(500), MiB(0)}}), 500);
}

TEST(LostWork, OfAJobWithoutDevicesIsByItsPartOfAllCoresOrOfAllMemoryIfThatIsMore) {
  const ResourceAmount cores{resource::kCpu, 16'000}, memory{resource::kMemory, kTiB / 2};
  EXPECT_EQ(held_with({.amounts = {cores}}), 16'000 / 8);
  EXPECT_EQ(held_with({.amounts = {memory}}), 16'000 / 4);
  EXPECT_EQ(held_with({.amounts = {cores, memory}}), 16'000 / 4);
  EXPECT_EQ(held_with({.amounts = {cores}}, 0), 2'000 / 8) << "where there are no devices each node counts as one";
  EXPECT_EQ(held_with({.amounts = {{resource::kPods, 1}}}), 1) << "none loses nothing";
}

TEST(LostWork, OfAJobThatHasMoreThanAllNodesHaveNowIsAsIfItHadAll) {
  NodeFacts fewer = eight_devices();
  fewer.allocatable[resource::kCpu.row()] = 1000;
  EXPECT_EQ(held_with({.amounts = {{resource::kCpu, 16'000}}}, 8, &fewer), 16'000);
}

TEST(LostWork, IsOfPlacedMembersAndOfAllJobsTogether) {
  State s = small_state(1);
  tell(s, Submitted{workload(0, 0, 2, kOneDevice)});
  tell(s, Submitted{workload(1, 2, 1, kFourDevices)});
  for (const std::uint32_t member : {0u, 1u, 2u}) tell(s, Bound{MemberId(member), NodeId(0u), {}});
  tell(s, MembersAdded{JobId(0u), 2, {{MemberId(3u), kOneDevice, kAnywhere}}});
  const LostWork lost(s, Millis(1000));
  EXPECT_EQ(lost.of(Victim{JobId(0u)}), 1000 * 2000) << "one waits";
  const std::vector<Victim> both{Victim{JobId(0u)}, Victim{JobId(1u)}};
  EXPECT_EQ(lost.of(both), 1000 * 2000 + 1000 * 4000);
  const LostWork beyond(s, Millis(INT64_MAX / 1500));
  EXPECT_EQ(beyond.of(Victim{JobId(0u)}), INT64_MAX) << "more than can be said";
  EXPECT_EQ(beyond.of(both), INT64_MAX);
}

}  // namespace
}  // namespace ashlar
