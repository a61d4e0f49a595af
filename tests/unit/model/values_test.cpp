// Plain values of the model: how ports clash, devices are counted, taints tolerated; names that never change;
// fingerprints of plans.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "model/constraint.h"
#include "model/demand.h"
#include "model/event.h"
#include "model/plan.h"
#include "model/workload.h"

namespace ashlar {
namespace {

TEST(HostPort, ClashesOnTheSameProtocolAndNumberUnlessAddressesDiffer) {
  const HostPort everywhere{6, 0, 80}, here{6, 1, 80}, there{6, 2, 80};
  EXPECT_TRUE(everywhere.clashes(here));
  EXPECT_TRUE(here.clashes(everywhere));
  EXPECT_TRUE(here.clashes(here));
  EXPECT_FALSE(here.clashes(there));
  EXPECT_FALSE(everywhere.clashes({17, 0, 80}));
  EXPECT_FALSE(everywhere.clashes({6, 0, 81}));
}

TEST(DeviceRequest, IsWholeFromAThousandMilliOn) {
  EXPECT_TRUE((DeviceRequest{2, MilliGpu(1000), MiB(0)}).is_whole());
  EXPECT_FALSE((DeviceRequest{1, MilliGpu(999), MiB(0)}).is_whole());
  EXPECT_EQ((DeviceRequest{3, MilliGpu(1000), MiB(0)}).milli_total(), 3000);
  EXPECT_EQ((DeviceRequest{1, MilliGpu(250), MiB(0)}).milli_total(), 250);
}

TEST(Demand, AmountOfAnUnnamedResourceIsZero) {
  const Demand demand{.amounts = {{resource::kCpu, 4000}, {resource::kPods, 1}}};
  EXPECT_EQ(amount_of(demand, resource::kCpu), 4000);
  EXPECT_EQ(amount_of(demand, resource::kPods), 1);
  EXPECT_EQ(amount_of(demand, resource::kMemory), 0);
}

RC_GTEST_PROP(DeviceMask, HoldsTheDevicesThatWereSetInAscendingOrder, ()) {
  const auto devices = *rc::gen::container<std::set<int>>(rc::gen::inRange(0, kDevicesPerNodeMax));
  DeviceMask mask;
  for (const int device : devices) mask.set(device);
  std::vector<int> visited;
  mask.each([&](int device) { visited.push_back(device); });
  RC_ASSERT(visited == std::vector<int>(devices.begin(), devices.end()));
  RC_ASSERT(mask.count() == static_cast<int>(devices.size()));
  RC_ASSERT(mask.is_empty() == devices.empty());
  for (int device = 0; device < kDevicesPerNodeMax; ++device)
    RC_ASSERT(mask.test(device) == (devices.count(device) != 0));
}

RC_GTEST_PROP(DeviceMask, ComparesAndClearsEveryDevice, ()) {
  const auto some = rc::gen::container<std::set<int>>(rc::gen::inRange(0, kDevicesPerNodeMax));
  const std::set<int> in = *some, out = *some;
  const auto devices_max = *rc::gen::inRange(0, kDevicesPerNodeMax + 1);
  DeviceMask mask, other;
  for (const int device : in) mask.set(device, true);
  for (const int device : out) other.set(device);
  RC_ASSERT(mask.is_within(other) == std::includes(out.begin(), out.end(), in.begin(), in.end()));
  const DeviceMask first = mask.among(devices_max);
  for (const int device : out) mask.set(device, false);
  for (int device = 0; device < kDevicesPerNodeMax; ++device) {
    RC_ASSERT(first.test(device) == (in.contains(device) && device < devices_max));
    RC_ASSERT(mask.test(device) == (in.contains(device) && !out.contains(device)));
  }
}

TEST(Toleration, MatchesKeyValueAndEffectWhereItNamesThem) {
  const Taint taint{LabelKeyId(1u), LabelId(2u), TaintEffect::kNoSchedule};
  EXPECT_TRUE((Toleration{}).tolerates(taint));
  EXPECT_TRUE((Toleration{LabelKeyId(1u), LabelId::none(), TaintEffect::kAny}).tolerates(taint));
  EXPECT_TRUE((Toleration{LabelKeyId(1u), LabelId(2u), TaintEffect::kNoSchedule}).tolerates(taint));
  EXPECT_FALSE((Toleration{LabelKeyId(1u), LabelId(3u), TaintEffect::kAny}).tolerates(taint));
  EXPECT_FALSE((Toleration{LabelKeyId(9u), LabelId::none(), TaintEffect::kAny}).tolerates(taint));
  EXPECT_FALSE((Toleration{LabelKeyId(1u), LabelId(2u), TaintEffect::kNoExecute}).tolerates(taint));
}

TEST(Estimate, IsKnownOnceItHasAMedian) {
  EXPECT_FALSE(Estimate{}.is_known());
  EXPECT_TRUE((Estimate{Millis(1), Millis::max()}).is_known());
}

TEST(Names, OfReasonsAreDistinctWords) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(kLastReason); ++code) {
    const std::string name(reason_name(static_cast<ReasonCode>(code)));
    EXPECT_NE(name, "Unknown") << code;
    EXPECT_EQ(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), std::string::npos)
        << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(Names, OfReasonsThatUsersKnowStayAsTheyAre) {
  EXPECT_EQ(reason_name(ReasonCode::kTopologyFragmented), "TopologyFragmented");
  EXPECT_EQ(reason_name(ReasonCode::kInsufficientGpu), "InsufficientGPU");
  EXPECT_EQ(reason_name(ReasonCode::kQuotaExhausted), "QuotaExhausted");
  EXPECT_EQ(reason_name(ReasonCode::kModelMismatch), "NoMatchingDevice");
  EXPECT_EQ(reason_name(ReasonCode::kGangPartial), "GangPartial");
}

TEST(Names, OfWakeUpsAndVerdictsAreDistinct) {
  std::set<std::string> names;
  for (const VerdictKind kind : {VerdictKind::kWaits, VerdictKind::kNeverFits})
    for (int w = 0; w <= static_cast<int>(WakeOn::kConfiguration); ++w)
      names.emplace(wake_name({.kind = kind, .wake_on = static_cast<WakeOn>(w), .at = {}, .reasons = {}}));
  EXPECT_EQ(names.size(), 9u);  // what can never fit is woken by other events: NodeAdded, QuotaRaised
  for (int v = 0; v <= static_cast<int>(VerdictKind::kOverQuota); ++v)
    names.emplace(verdict_name(static_cast<VerdictKind>(v)));
  EXPECT_EQ(names.size(), 14u);
  EXPECT_EQ(names.count("Unknown"), 0u);
}

TEST(Names, OfEventsSayTheirKind) {
  EXPECT_EQ(kind_name(Tick{}), "Tick");
  EXPECT_EQ(kind_name(NodeSeen{}), "NodeSeen");
  EXPECT_EQ(kind_name(BindRejected{}), "BindRejected");
  EXPECT_EQ(kind_name(Nominated{}), "Nominated");
}

Plan some_plan() {
  Plan plan;
  plan.based_on = 7;
  plan.at = Millis(1000);
  plan.actions = {Bind{MemberId(1u), JobId(2u), NodeId(3u), {0x0f, 0}}, Evict{JobId(4u), Millis(0)}};
  plan.verdicts = {
      {JobId(6u),
       {VerdictKind::kWaits, WakeOn::kCapacity, Millis(1000), {{ReasonCode::kInsufficientGpu, 0, {1, 2, 3}}}}}};
  return plan;
}

TEST(PlanDigest, IsEqualForEqualPlansOnEveryMachine) {
  EXPECT_EQ(digest_of(some_plan()), digest_of(some_plan()));
  EXPECT_EQ(digest_of(Plan{}), digest_of(Plan{}));
}

TEST(PlanDigest, DiffersWithEveryPartOfThePlan) {
  std::set<std::uint64_t> digests{digest_of(some_plan())};
  const auto expect_new = [&](const char* what, auto&& change) {
    Plan plan = some_plan();
    change(plan);
    EXPECT_TRUE(digests.insert(digest_of(plan)).second) << what;
  };
  expect_new("revision", [](Plan& p) { p.based_on = 8; });
  expect_new("time", [](Plan& p) { p.at = Millis(1001); });
  expect_new("look again", [](Plan& p) { p.look_again_at = Millis(5); });
  expect_new("examined", [](Plan& p) { p.examined = 1; });
  expect_new("order of actions", [](Plan& p) { std::swap(p.actions[0], p.actions[1]); });
  expect_new("one action less", [](Plan& p) { p.actions.pop_back(); });
  expect_new("node", [](Plan& p) { std::get<Bind>(p.actions[0]).node = NodeId(4u); });
  expect_new("cards", [](Plan& p) { std::get<Bind>(p.actions[0]).devices.high = 1; });
  expect_new("grace", [](Plan& p) { std::get<Evict>(p.actions[1]).grace = Millis(9); });
  expect_new("verdict", [](Plan& p) { p.verdicts[0].verdict.kind = VerdictKind::kNeverFits; });
  expect_new("wake", [](Plan& p) { p.verdicts[0].verdict.wake_on = WakeOn::kQuota; });
  expect_new("reason", [](Plan& p) { p.verdicts[0].verdict.reasons[0].code = ReasonCode::kNoNodes; });
  expect_new("number", [](Plan& p) { p.verdicts[0].verdict.reasons[0].numbers[2] = 4; });
  expect_new("verdict's job", [](Plan& p) { p.verdicts[0].job = JobId(7u); });
}

}  // namespace
}  // namespace ashlar
