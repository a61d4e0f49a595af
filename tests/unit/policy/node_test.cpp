// What each feasible policy removes.
#include "policy/node/preferred.h"
#include "small_cluster.h"

namespace ashlar {
namespace {

using Fits = std::vector<int>;

NodeFacts labelled(std::vector<NodeLabel> labels) {
  NodeFacts f;
  f.labels = std::move(labels);
  return f;
}

TEST(Resources, TheScarcestResourceDecidesHowManyFit) {
  const SmallCluster c{
      {.cpu_milli = 96000, .memory = 400}, {.cpu_milli = 96000, .memory = 90}, {.cpu_milli = 11999, .memory = 400}};
  Demand d = demand_of(12000);
  d.amounts = {{resource::kCpu, 12000}, {resource::kMemory, 100}, {resource::kPods, 1}};
  EXPECT_EQ(c.fits("resources", d), (Fits{4, 0, 0}));
}

TEST(Resources, PodsAreAResource) {
  const SmallCluster c{{.pods = 3}, {.pods = 0}};
  EXPECT_EQ(c.fits("resources", demand_of(0)), (Fits{3, 0}));
}

TEST(Resources, AnExtendedResourceThatNobodyHasFitsNowhere) {
  const SmallCluster c{{}, {}};
  Demand d = demand_of(0);
  d.amounts.push_back({ResourceId(9u), 1});
  EXPECT_EQ(c.fits("resources", d), (Fits{0, 0}));
}

TEST(Resources, OvercommittedNodesFitNothingAndAbsurdAmountsFitNowhere) {
  SmallCluster c{{.cpu_milli = 1000}};
  c.use_cpu(NodeId(0), 5000);
  EXPECT_EQ(c.fits("resources", demand_of(1)), Fits{0});
  EXPECT_EQ(SmallCluster{{}}.fits("resources", demand_of(INT64_MAX)), Fits{0});
}

TEST(Resources, TheCountIsTheExactQuotientForEveryAmount) {
  for (const std::int64_t need : {1ll, 3ll, 7ll, 999ll, 1ll << 33, (1ll << 40) + 1}) {
    for (std::int64_t times = 1; times < 1023; times += 17) {
      for (const std::int64_t off : {-1, 0, 1}) {
        const SmallCluster c{{.cpu_milli = need * times + off, .pods = 5000}};
        EXPECT_EQ(c.fits("resources", demand_of(need)),
                  Fits{static_cast<int>(std::min<std::int64_t>((need * times + off) / need, kFitsMax))});
      }
    }
  }
}

TEST(DeviceFit, WholeDevicesMustBeWhollyIdle) {
  SmallCluster c{{.devices = 8}, {.devices = 8}, {.devices = 2}, {}};
  c.leave(NodeId(1), {500, 999, 0});
  EXPECT_EQ(c.fits("card-fit", demand_of(0, 2)), (Fits{4, 2, 1, 0}));
}

TEST(DeviceFit, AShareMustFitIntoOneDevice) {
  SmallCluster c{{.devices = 3}, {.devices = 2}};
  c.leave(NodeId(0), {600, 600});
  c.leave(NodeId(1), {400, 400});
  EXPECT_EQ(c.fits("card-fit", demand_of(0, 1, 500)), (Fits{4, 0}));
}

TEST(DeviceFit, DeviceMemoryBoundsShares) {
  const SmallCluster c{{.devices = 1, .mib_per_device = 16000}, {.devices = 1}};
  EXPECT_EQ(c.fits("card-fit", demand_of(0, 1, 100, 6000)), (Fits{2, 10}))
      << "a node that does not report its card memory is not checked";
  EXPECT_EQ(c.fits("card-fit", demand_of(0, 1, kWholeDevice, 20000)), (Fits{0, 1}));
}

TEST(DeviceFit, DevicesOwedToPodsOfUnknownDevicesAreNotGiven) {
  SmallCluster c{{.devices = 2}};
  c.cluster.allocate(NodeId(0), demand_of(0, 1), {});
  EXPECT_EQ(c.fits("card-fit", demand_of(0, 1)), Fits{1});
  EXPECT_EQ(c.fits("card-fit", demand_of(0, 1, 500)), Fits{2});
  c.cluster.allocate(NodeId(0), demand_of(0, 1), {});
  EXPECT_EQ(c.fits("card-fit", demand_of(0, 1, 500)), Fits{0});
}

TEST(DeviceFit, MembersWithoutDevicesFitEverywhere) {
  const SmallCluster c{{}, {.devices = 8}};
  EXPECT_EQ(c.fits("card-fit", demand_of(0)), (Fits{kFitsMax, kFitsMax}));
}

TEST(Ports, AHostPortIsTakenOncePerNodeAndAddress) {
  SmallCluster c{{}, {}, {}};
  Demand web = demand_of(0);
  web.ports = {{6, 0, 80}};
  Demand one_address = web, udp = web;
  one_address.ports[0].address = 7;
  udp.ports[0].protocol = 17;
  c.cluster.allocate(NodeId(0), web, {});
  c.cluster.allocate(NodeId(1), one_address, {});
  EXPECT_EQ(c.fits("ports", web), (Fits{0, 0, 1}));
  EXPECT_EQ(c.fits("ports", udp), (Fits{1, 1, 1}));
  one_address.ports[0].address = 8;
  EXPECT_EQ(c.fits("ports", one_address), (Fits{0, 1, 1}));
  EXPECT_EQ(c.fits("ports", demand_of(0)), (Fits{kFitsMax, kFitsMax, kFitsMax}));
}

TEST(Model, OnlyAcceptedModelsServe) {
  const SmallCluster c{{.model = DeviceClassId(0u)}, {.model = DeviceClassId(1u)}, {}};
  Constraint two;
  two.models = {DeviceClassId(1u), DeviceClassId(2u)};
  EXPECT_EQ(c.fits("model", demand_of(0), two), (Fits{0, kFitsMax, 0}));
  EXPECT_EQ(c.fits("model", demand_of(0)), (Fits{kFitsMax, kFitsMax, kFitsMax}));
}

TEST(Selector, TheSelectorAndOneOfTheTermsMustHold) {
  SmallCluster c;
  const LabelKeyId pool(0u), zone(1u);
  const auto add = [&](std::vector<NodeLabel> labels) { c.add(labelled(std::move(labels))); };
  add({{pool, LabelId(1u)}, {zone, LabelId(10u)}});
  add({{pool, LabelId(1u)}, {zone, LabelId(12u)}});
  add({{pool, LabelId(1u)}});
  add({{pool, LabelId(2u)}, {zone, LabelId(10u)}});
  Constraint k;
  k.selector.all = {{pool, LabelExpression::Op::kIn, {LabelId(1u)}}};
  k.any_of = {{{{zone, LabelExpression::Op::kIn, {LabelId(10u), LabelId(11u)}}}},
              {{{zone, LabelExpression::Op::kDoesNotExist, {}}}}};
  EXPECT_EQ(c.fits("selector", demand_of(0), k), (Fits{kFitsMax, 0, kFitsMax, 0}));
}

TEST(Volumes, OfEachListOneTermMustHold) {
  SmallCluster c;
  const LabelKeyId zone(0u), disk(1u);
  const auto add = [&](std::vector<NodeLabel> labels) { c.add(labelled(std::move(labels))); };
  add({{zone, LabelId(10u)}, {disk, LabelId(1u)}});
  add({{zone, LabelId(11u)}});
  add({{zone, LabelId(11u)}, {disk, LabelId(1u)}});
  const auto in = [](LabelKeyId key, LabelId value) { return NodeTerm{{{key, LabelExpression::Op::kIn, {value}}}}; };
  Constraint k;
  k.volumes = {{in(zone, LabelId(11u))}};
  EXPECT_EQ(c.fits("volumes", demand_of(0), k), (Fits{0, kFitsMax, kFitsMax}));
  k.volumes = {{in(zone, LabelId(10u)), in(zone, LabelId(11u))}, {in(disk, LabelId(1u))}};
  EXPECT_EQ(c.fits("volumes", demand_of(0), k), (Fits{kFitsMax, 0, kFitsMax}));
  k.volumes = {{}};
  EXPECT_EQ(c.fits("volumes", demand_of(0), k), (Fits{0, 0, 0})) << "a list without terms";
}

TEST(Features, TheNodeMustDeclareEach) {
  SmallCluster c;
  const LabelKeyId one(1u), other(3u);
  const auto add = [&](std::vector<NodeLabel> labels) { c.add(labelled(std::move(labels))); };
  add({{one, LabelId(1u)}, {other, LabelId(2u)}});
  add({{one, LabelId(1u)}});
  add({{LabelKeyId(2u), LabelId(3u)}});
  Constraint k;
  k.features = {one, other};
  EXPECT_EQ(c.fits("features", demand_of(0), k), (Fits{kFitsMax, 0, 0}));
  k.features = {one};
  EXPECT_EQ(c.fits("features", demand_of(0), k), (Fits{kFitsMax, kFitsMax, 0}));
  EXPECT_EQ(c.fits("selector", demand_of(0), k), (Fits{kFitsMax, kFitsMax, kFitsMax})) << "no part of the selector";
}

TEST(Taints, HardTaintsMustBeToleratedAndSoftOnesNeedNot) {
  SmallCluster c;
  const Taint hard{LabelKeyId(0u), LabelId(0u), TaintEffect::kNoSchedule},
      soft{LabelKeyId(1u), LabelId(1u), TaintEffect::kPreferNoSchedule};
  const Taint evicting{LabelKeyId(2u), LabelId(2u), TaintEffect::kNoExecute};
  for (const auto& taints : std::vector<std::vector<Taint>>{{}, {hard}, {soft}, {hard, evicting}}) {
    NodeFacts f;
    f.taints = taints;
    c.add(f);
  }
  Constraint k;
  k.tolerations = {{LabelKeyId(0u), LabelId::none(), TaintEffect::kAny}};
  EXPECT_EQ(c.fits("taints", demand_of(0)), (Fits{kFitsMax, 0, kFitsMax, 0}));
  EXPECT_EQ(c.fits("taints", demand_of(0), k), (Fits{kFitsMax, kFitsMax, kFitsMax, 0}));
}

TEST(Taints, SoftOnesThatAreNotToleratedAreCountedAndNoOthers) {
  NodeFacts f;
  f.taints = {{LabelKeyId(0u), LabelId(0u), TaintEffect::kNoSchedule},
              {LabelKeyId(1u), LabelId(1u), TaintEffect::kPreferNoSchedule},
              {LabelKeyId(2u), LabelId(2u), TaintEffect::kPreferNoSchedule}};
  Constraint k;
  EXPECT_EQ(untolerated_soft_taints(k, f), 2);
  k.tolerations = {{LabelKeyId(1u), LabelId::none(), TaintEffect::kAny}};
  EXPECT_EQ(untolerated_soft_taints(k, f), 1);
}

TEST(Ready, NodesThatAreGoneOrCordonedTakeNothing) {
  SmallCluster c{{}, {}, {}};
  NodeFacts cordoned = facts_of({});
  cordoned.is_ready = false;
  c.cluster.upsert_node(NodeId(1u), cordoned);
  c.cluster.remove_node(NodeId(2u));
  EXPECT_EQ(c.fits("ready", demand_of(0)), (Fits{kFitsMax, 0, 0}));
}

TEST(FeasibleTable, EveryPolicyIsFoundByItsNameAndOnlyByIt) {
  for (const FeasiblePolicy& p : feasible_policies()) EXPECT_EQ(find_feasible(p.name), &p);
  EXPECT_EQ(find_feasible("nonsense"), nullptr);
}

TEST(FeasibleTable, ARuleIsByFactsOrByWhatIsFree) {
  for (const FeasiblePolicy& p : feasible_policies()) {
    EXPECT_EQ((p.holds != nullptr) + (p.admits != nullptr) + (p.lower != nullptr) + (p.is_by_pods() ? 1 : 0), 1)
        << p.name;
    EXPECT_TRUE(p.is_by_facts() || !p.is_lasting) << p.name;
  }
}

}  // namespace
}  // namespace ashlar
