// Device classes in the state: a definition is a change of facts of the nodes with such devices.
#include <gtest/gtest.h>

#include <algorithm>

#include "small_state.h"

namespace ashlar {
namespace {

constexpr DeviceClassId kFast{0u}, kSlow{1u};
constexpr CapabilityId kFp8{0u}, kMig{1u};

bool is_able(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  return context.classes->are_accepted(constraint, facts.devices.device_class);
}

/// Node 0 is fast, node 1 slow, node 2 has both and node 3 no devices.
State four_nodes() {
  State s = small_state(4);
  const DeviceLayout both{{{.device_class = kFast}, {.device_class = kSlow}}};
  tell(s, DeviceLayoutDefined{DeviceLayoutId(0u), both});
  NodeFacts facts = eight_devices();
  facts.devices.device_class = kSlow;
  tell(s, NodeSeen{NodeId(1u), facts});
  facts.devices = devices_with(DeviceLayoutId(0u), both);
  tell(s, NodeSeen{NodeId(2u), facts});
  facts.devices = {};
  tell(s, NodeSeen{NodeId(3u), facts});
  return s;
}

/// The nodes of which a definition is news.
std::vector<NodeId> news(State& s, DeviceClassId id, const DeviceClass& device_class) {
  const Ledger ledger(s);
  ledger.forget_news_of_nodes();
  ledger.forget_changed_nodes();
  const std::uint64_t unforeseen = s.unforeseen_frees();
  tell(s, DeviceClassDefined{id, device_class});
  std::vector<NodeId> changed(s.changed_nodes().begin(), s.changed_nodes().end());
  EXPECT_TRUE(std::ranges::equal(changed, s.freed_nodes())) << "what waits may fit there now";
  EXPECT_EQ(s.unforeseen_frees() > unforeseen, !changed.empty());
  EXPECT_TRUE(s.is_consistent());
  return changed;
}

TEST(DeviceClasses, ADefinitionIsNewsOfTheNodesWithSuchDevices) {
  State s = four_nodes();
  EXPECT_EQ(news(s, kSlow, {{}, {kFp8}}), (std::vector<NodeId>{NodeId(1u), NodeId(2u)}));
  EXPECT_EQ(news(s, kSlow, {{}, {kFp8}}), std::vector<NodeId>()) << "a duplicate";
  EXPECT_EQ(news(s, kSlow, {{DeviceModelId(3u)}, {kFp8}}), std::vector<NodeId>()) << "names alone";
  EXPECT_EQ(s.cluster().classes().row(kSlow).models, std::vector<DeviceModelId>{DeviceModelId(3u)});
  EXPECT_EQ(news(s, kSlow, {}), (std::vector<NodeId>{NodeId(1u), NodeId(2u)}));
  EXPECT_EQ(news(s, DeviceClassId(9u), {{}, {kFp8}}), std::vector<NodeId>()) << "no node has it";
  tell(s, NodeGone{NodeId(2u)});
  EXPECT_EQ(news(s, kSlow, {{}, {kMig}}), std::vector<NodeId>{NodeId(1u)});
}

TEST(DeviceClasses, ConstraintsAreEvaluatedAnewOnThoseNodesAlone) {
  State s = four_nodes();
  tell(s, ConstraintDefined{ConstraintId(1u), {.capabilities = {kFp8}}});
  const auto allowed = [&] {
    std::string nodes;
    for (std::size_t n = 0; n < 4; ++n)
      if (s.cluster().allowed(ConstraintId(1u), is_able).test(n)) nodes += std::to_string(n);
    return nodes;
  };
  EXPECT_EQ(allowed(), "");
  const std::uint64_t evaluated = s.cluster().evaluation_count();
  tell(s, DeviceClassDefined{kFast, {{}, {kFp8, kMig}}});
  EXPECT_EQ(allowed(), "0");
  EXPECT_EQ(s.cluster().evaluation_count() - evaluated, 2u) << "the fast node and the mixed one";
  tell(s, DeviceClassDefined{kFast, {{}, {kMig}}});
  EXPECT_EQ(allowed(), "");
}

TEST(DeviceClasses, WhatRunsStays) {
  State s = four_nodes();
  tell(s, ConstraintDefined{ConstraintId(1u), {.capabilities = {kFp8}}});
  tell(s, DeviceClassDefined{kFast, {{}, {kFp8}}});
  Workload w = workload(0, 0, 1, kOneDevice);
  w.members[0].constraint = ConstraintId(1u);
  tell(s, Submitted{w});
  tell(s, Bound{MemberId(0u), NodeId(0u), devices(1)});
  tell(s, DeviceClassDefined{kFast, {}});
  EXPECT_EQ(s.member(MemberId(0u)).node, NodeId(0u));
  EXPECT_EQ(s.cluster().idle_devices()[0], 7);
}

TEST(DeviceClasses, AcceptedAreThoseThatAreNamedAndCapable) {
  DeviceClasses classes;
  classes.define(kFast, {{}, {kFp8, kMig}});
  const auto accepted = [&](std::vector<DeviceClassId> named, std::vector<CapabilityId> needed) {
    const Constraint c{.models = std::move(named), .capabilities = std::move(needed)};
    std::string of;
    for (const DeviceClassId id : {kFast, kSlow, DeviceClassId::none()}) of += classes.are_accepted(c, id) ? 'y' : 'n';
    return of;
  };
  EXPECT_EQ(accepted({}, {}), "yyy");
  EXPECT_EQ(accepted({kSlow}, {}), "nyn");
  EXPECT_EQ(accepted({}, {kMig}), "ynn");
  EXPECT_EQ(accepted({kFast, kSlow}, {kFp8, kMig}), "ynn");
  EXPECT_EQ(accepted({kSlow}, {kFp8}), "nnn");
}

}  // namespace
}  // namespace ashlar
