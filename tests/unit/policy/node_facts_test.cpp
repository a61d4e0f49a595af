// Rules by facts of a node: label terms and taints, read as Kubernetes reads them.
#include <gtest/gtest.h>

#include "policy/feasible_policy.h"
#include "policy/node/anti_affinity.h"
#include "policy/node/capabilities.h"
#include "policy/node/selector.h"
#include "policy/node/taints.h"
#include "state/cluster/cluster.h"

namespace ashlar {
namespace {

constexpr LabelKeyId kZone{1u}, kCores{2u};
constexpr LabelId kZoneA{10u}, kZoneB{11u};

NodeFacts in_zone(LabelId zone, std::int64_t cores) {
  NodeFacts f;
  f.labels = {{kZone, zone, NodeLabel::kNotANumber}, {kCores, LabelId(20u), cores}};
  return f;
}

bool holds(LabelExpression e, const NodeFacts& facts) { return term_holds({{std::move(e)}}, facts); }

TEST(NodeTerm, HoldsAsInKubernetesNodeAffinity) {
  using Op = LabelExpression::Op;
  const NodeFacts f = in_zone(kZoneA, 16);
  const LabelKeyId absent(9u);
  EXPECT_TRUE(holds({kZone, Op::kIn, {kZoneB, kZoneA}, 0}, f));
  EXPECT_FALSE(holds({kZone, Op::kIn, {kZoneB}, 0}, f));
  EXPECT_TRUE(holds({kZone, Op::kNotIn, {kZoneB}, 0}, f));
  EXPECT_TRUE(holds({absent, Op::kNotIn, {kZoneB}, 0}, f));
  EXPECT_FALSE(holds({absent, Op::kIn, {kZoneB}, 0}, f));
  EXPECT_TRUE(holds({kZone, Op::kExists, {}, 0}, f));
  EXPECT_TRUE(holds({absent, Op::kDoesNotExist, {}, 0}, f));
  EXPECT_TRUE(holds({kCores, Op::kGreater, {}, 15}, f));
  EXPECT_FALSE(holds({kCores, Op::kGreater, {}, 16}, f));
  EXPECT_TRUE(holds({kCores, Op::kLess, {}, 17}, f));
  EXPECT_FALSE(holds({kZone, Op::kLess, {}, 17}, f));
  EXPECT_TRUE(term_holds({}, f));
}

/// Long lists are looked through in blocks: whatever the length, each value counts, and no other.
TEST(NodeTerm, ALongListNamesEachOfItsValues) {
  using Op = LabelExpression::Op;
  for (const std::uint32_t length : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 200u}) {
    LabelExpression in{kZone, Op::kIn, {}, 0};
    for (std::uint32_t i = 0; i < length; ++i) in.values.push_back(LabelId(1000 + (i * 7919) % 1009 * 2));
    LabelExpression not_in = in;
    not_in.op = Op::kNotIn;
    for (const LabelId value : in.values) {
      EXPECT_TRUE(holds(in, in_zone(value, 1))) << value.value << " of " << length;
      EXPECT_FALSE(holds(not_in, in_zone(value, 1))) << value.value << " of " << length;
      EXPECT_FALSE(holds(in, in_zone(LabelId(value.value + 1), 1))) << "not " << value.value << " of " << length;
      EXPECT_TRUE(holds(not_in, in_zone(LabelId(value.value + 1), 1))) << "not " << value.value << " of " << length;
    }
  }
}

TEST(Taints, TaintsMustBeToleratedUnlessTheyAreSoft) {
  NodeFacts f = NodeFacts();
  f.taints = {{LabelKeyId(1u), LabelId(1u), TaintEffect::kPreferNoSchedule}};
  EXPECT_TRUE(taints_tolerated({}, f));
  f.taints.push_back({LabelKeyId(1u), LabelId(1u), TaintEffect::kNoExecute});
  EXPECT_FALSE(taints_tolerated({}, f));
  Constraint all;
  all.tolerations = {Toleration{}};
  EXPECT_TRUE(taints_tolerated(all, f));
}

TEST(AntiAffinity, NodesOfADomainFromWhichAPlacedPodKeepsItAwayAreLeftOut) {
  constexpr LabelSetId kWeb{0u};
  constexpr PodSelectorId kWebPods{0u};
  const PodLabel web{LabelKeyId(7u), LabelId(70u)};
  Cluster cluster;
  cluster.define(kWeb, {NamespaceId(0u), {web}});
  cluster.define(kWebPods, {.namespaces = {NamespaceId(0u)},
                            .selects_namespaces = false,
                            .of_namespace = {},
                            .all = {{web.key, LabelExpression::Op::kIn, {web.id}, 0}}});
  Constraint seen_as_web, loner;
  seen_as_web.seen_as = kWeb;
  loner.keeps_away = {{kWebPods, kZone}};
  cluster.define_constraint(ConstraintId(0u), loner);
  cluster.define_constraint(ConstraintId(1u), seen_as_web);
  cluster.upsert_node(NodeId(0u), in_zone(kZoneA, 1));
  const auto is_allowed = [&](const Constraint& constraint, LabelId zone) {
    return is_kept_away_by_none(constraint, in_zone(zone, 1), {cluster.counts()});
  };
  EXPECT_TRUE(is_allowed(seen_as_web, kZoneA));
  cluster.add_pod(MemberId(0u), LabelSetId::none(), ConstraintId(0u), NodeId(0u));
  EXPECT_FALSE(is_allowed(seen_as_web, kZoneA));
  EXPECT_TRUE(is_allowed(seen_as_web, kZoneB));
  EXPECT_TRUE(is_allowed({}, kZoneA));
}

constexpr CapabilityId kFp8{0u}, kNvlink{1u}, kMig{2u};

struct Classes {
  DeviceClasses classes;
  DeviceLayouts layouts;
  KeptAway kept_away;
  NodeContext context{kept_away, &layouts, &classes};
  Classes() {
    classes.define(DeviceClassId(0u), {{}, {kFp8, kNvlink}});
    classes.define(DeviceClassId(1u), {{}, {kMig}});
  }
  /// None: the node is accepted.
  CapabilityId missing(const Constraint& constraint, const NodeDevices& devices) const {
    NodeFacts facts;
    facts.devices = devices;
    const CapabilityId first = missing_capability(constraint, facts, context);
    EXPECT_EQ(has_capabilities(constraint, facts, context), first.is_none());
    return first;
  }
};

Constraint needing(std::vector<CapabilityId> capabilities, std::vector<DeviceClassId> classes = {}) {
  return {.models = std::move(classes), .capabilities = std::move(capabilities)};
}

TEST(Capabilities, EachIsOneOfTheClassOfTheNode) {
  const Classes c;
  const auto node = [](DeviceClassId of) { return NodeDevices{.count = 4, .device_class = of}; };
  EXPECT_TRUE(c.missing(needing({}), node({})).is_none());
  EXPECT_TRUE(c.missing(needing({kFp8, kNvlink}), node(DeviceClassId(0u))).is_none());
  EXPECT_EQ(c.missing(needing({kFp8, kMig}), node(DeviceClassId(0u))), kMig);
  EXPECT_EQ(c.missing(needing({kFp8, kMig}), node(DeviceClassId(1u))), kFp8);
  EXPECT_EQ(c.missing(needing({kMig}), node(DeviceClassId(9u))), kMig) << "a class that nobody defined";
  EXPECT_EQ(c.missing(needing({kMig}), node(DeviceClassId::none())), kMig);
  NodeFacts facts;
  facts.devices = node(DeviceClassId(0u));
  EXPECT_FALSE(has_capabilities(needing({kFp8}), facts, {c.kept_away})) << "nothing is known of classes";
}

TEST(Capabilities, OnADeviceOfAMixedNodeThatTheMemberMayHave) {
  Classes c;
  const DeviceLayout layout{{{.device_class = DeviceClassId(0u)}, {.device_class = DeviceClassId(1u)}}};
  c.layouts.define(DeviceLayoutId(0u), layout);
  const NodeDevices mixed = devices_with(DeviceLayoutId(0u), layout);
  EXPECT_TRUE(c.missing(needing({kMig}), mixed).is_none());
  EXPECT_TRUE(c.missing(needing({kFp8, kNvlink}), mixed).is_none());
  EXPECT_EQ(c.missing(needing({kMig}, {DeviceClassId(0u)}), mixed), kMig) << "not of the class that it names";
  EXPECT_EQ(c.missing(needing({kFp8, kMig}), mixed), kMig) << "no device has both";
}

TEST(Facts, ANodeIsMeantForAMemberWhateverIsTheMatterWithItNow) {
  NodeFacts f = in_zone(kZoneA, 1);
  f.is_ready = false;
  f.taints = {{LabelKeyId(1u), LabelId(1u), TaintEffect::kNoExecute}};
  EXPECT_FALSE(is_allowed_by_facts({}, f, {KeptAway()}));
  EXPECT_TRUE(is_meant_for({}, f, {KeptAway()}));
  Constraint zone_b, model;
  zone_b.selector.all = {{kZone, LabelExpression::Op::kIn, {kZoneB}, 0}};
  model.models = {DeviceClassId(1u)};
  EXPECT_FALSE(is_meant_for(zone_b, f, {KeptAway()}));
  EXPECT_FALSE(is_meant_for(model, f, {KeptAway()}));
}

}  // namespace
}  // namespace ashlar
