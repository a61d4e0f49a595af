// Remedies for gangs of groups: whatever is offered helps when it is done, on small random clusters of racks. What helps
// is found by doing it in a world of its own and letting an engine decide there.
#include <gtest/gtest.h>

#include <algorithm>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "engine/explain/explain.h"

namespace ashlar {
namespace {

constexpr int kDevicesOfANode = 4;
constexpr JobId kGang{0u};

struct AskedGroup {
  std::uint32_t members = 1;
  std::int32_t devices = 1;
  LevelId within;
};

/// A gang that waits, and pods of one device each that run.
struct GroupWorld {
  std::vector<NodeFacts> nodes;
  std::vector<NodeId> running;
  std::vector<AskedGroup> groups;
  LevelId within;

  void tell_all(State& s) const {
    tell(s, LevelsDefined{2, 0});
    for (std::int32_t devices = 0; devices <= kDevicesOfANode; ++devices)
      tell(s, DemandDefined{demand(devices), {{{resource::kPods, 1}}, {devices, MilliGpu(1000), MiB(0)}, {}}});
    tell(s, ConstraintDefined{kAnywhere, {}});
    for (std::size_t n = 0; n < nodes.size(); ++n) tell(s, NodeSeen{NodeId(n), nodes[n]});
    for (std::size_t p = 0; p < running.size(); ++p) {
      const auto row = static_cast<std::uint32_t>(100 + p);
      Workload pod = workload(row, row, 1, demand(1));
      pod.is_ours = false;
      tell(s, Submitted{pod});
      tell(s, Bound{MemberId(row), running[p], {}});
    }
    Workload gang;
    gang.job = kGang;
    gang.within = within;
    gang.spec = GangSpecId(0u);
    GangSpec spec;
    for (const AskedGroup& group : groups) {
      for (std::uint32_t m = 0; m < group.members; ++m)
        gang.members.push_back({.member = MemberId(static_cast<std::uint32_t>(gang.members.size())),
                                .demand = demand(group.devices),
                                .constraint = kAnywhere,
                                .group = static_cast<std::uint32_t>(spec.groups.size())});
      spec.groups.push_back({group.members, group.within, {}});
    }
    gang.members_min = static_cast<std::uint32_t>(gang.members.size());
    tell(s, GangSpecDefined{gang.spec, spec});
    tell(s, Submitted{gang});
  }
  bool starts() const {
    State s;
    tell_all(s);
    Engine engine(*builtin_profile("ashlar"));
    engine.decide(s, Millis(0));
    return s.job(kGang).members_placed == s.job(kGang).members_present;
  }
  static DemandId demand(std::int32_t devices) { return DemandId(static_cast<std::uint32_t>(devices)); }
};

GroupWorld some_group_world(Rng& rng) {
  const auto draw = [&](int below) { return static_cast<int>(rng.next() % static_cast<std::uint64_t>(below)); };
  GroupWorld w;
  const int nodes = 2 + draw(5);
  for (int n = 0; n < nodes; ++n) {
    NodeFacts f;
    f.allocatable = {64'000, std::int64_t{1} << 40, 0, 100};
    f.devices.count = kDevicesOfANode;
    f.domains = {DomainId(static_cast<std::uint32_t>(n / 4)), DomainId(static_cast<std::uint32_t>(n / 2))};
    w.nodes.push_back(f);
    for (int c = draw(kDevicesOfANode + 1); c > 0 && w.running.size() < 6; --c) w.running.emplace_back(n);
  }
  for (int g = 2 + draw(2); g > 0; --g) {
    w.groups.push_back({static_cast<std::uint32_t>(1 + draw(3)), draw(kDevicesOfANode + 1), {}});
    if (draw(3) > 0) w.groups.back().within = LevelId(1u);
  }
  if (draw(3) == 0) w.within = LevelId(0u);
  return w;
}

/// The fewest of the running pods whose end lets it start; 0 if even all do not.
std::int64_t fewest_devices_to_free(const GroupWorld& w) {
  std::int64_t fewest = 0;
  for (std::uint32_t ended = 1; ended < 1u << w.running.size(); ++ended) {
    const auto count = static_cast<std::int64_t>(__builtin_popcount(ended));
    if (fewest != 0 && count >= fewest) continue;
    GroupWorld other = w;
    other.running.clear();
    for (std::size_t p = 0; p < w.running.size(); ++p)
      if ((ended >> p & 1) == 0) other.running.push_back(w.running[p]);
    if (other.starts()) fewest = count;
  }
  return fewest;
}

bool starts_with_nodes(GroupWorld w, const std::vector<Remedy::OfGroup>& added) {
  for (const Remedy::OfGroup& of : added)
    for (std::int64_t n = 0; n < of.amount; ++n) w.nodes.push_back(w.nodes[of.node.row()]);
  return w.starts();
}

void expect_nodes_help(const GroupWorld& w, const Remedy& r) {
  std::vector<Remedy::OfGroup> added = r.of_groups;
  if (added.empty()) added = {{.amount = r.amount, .level = r.level, .node = r.node}};
  EXPECT_TRUE(starts_with_nodes(w, added));
  std::int64_t total = 0;
  for (std::size_t i = 0; i < added.size(); ++i) {
    std::vector<Remedy::OfGroup> fewer = added;
    --fewer[i].amount;
    EXPECT_FALSE(starts_with_nodes(w, fewer)) << "of group " << fewer[i].group;
    total += added[i].amount;
  }
  EXPECT_EQ(total, r.amount);
  for (const Remedy::OfGroup& of : r.of_groups)
    EXPECT_EQ(of.level, w.groups[of.group].within.is_none() ? w.within : w.groups[of.group].within);
}

void expect_helps(GroupWorld w, const Remedy& r) {
  switch (r.kind) {
    case Remedy::Kind::kDropWithin:
      w.within = LevelId::none();
      EXPECT_TRUE(w.starts());
      return;
    case Remedy::Kind::kDropGroupWithin:
      for (std::size_t g = 0; g < w.groups.size(); ++g)
        if (r.amount == 0 || g + 1 == static_cast<std::size_t>(r.amount)) w.groups[g].within = LevelId::none();
      EXPECT_TRUE(w.starts());
      return;
    case Remedy::Kind::kFewerMembers: {
      ASSERT_EQ(r.of_groups.size(), 1u);
      AskedGroup& group = w.groups[r.of_groups[0].group];
      group.members = static_cast<std::uint32_t>(r.of_groups[0].amount);
      EXPECT_TRUE(w.starts());
      ++group.members;
      EXPECT_FALSE(w.starts()) << "it is the most";
      return;
    }
    case Remedy::Kind::kFewerDevices:
      for (AskedGroup& group : w.groups) group.devices = std::min(group.devices, static_cast<std::int32_t>(r.amount));
      EXPECT_TRUE(w.starts());
      return;
    case Remedy::Kind::kFreeDevices: {
      const std::int64_t fewest = fewest_devices_to_free(w);
      EXPECT_GT(fewest, 0);
      EXPECT_GE(r.amount, fewest);
      std::int64_t total = 0;
      for (const Remedy::OfGroup& of : r.of_groups) total += of.amount;
      EXPECT_EQ(total, r.amount);
      return;
    }
    case Remedy::Kind::kMoreNodes:
      return expect_nodes_help(w, r);
    case Remedy::Kind::kMoreQuota:
    case Remedy::Kind::kWidenWithin:
      ADD_FAILURE() << "it has neither quota nor a wider level";
  }
}

std::string text_of(const GroupWorld& w) {
  std::string text = std::to_string(w.nodes.size()) + " nodes; running on:";
  for (const NodeId n : w.running) text += " " + std::to_string(n.value);
  text += "; groups:";
  for (const AskedGroup& g : w.groups)
    text +=
        " " + std::to_string(g.members) + " x " + std::to_string(g.devices) + (g.within.is_none() ? "" : " in a rack");
  return text + (w.within.is_none() ? "" : "; within a block");
}

TEST(RemediesOfGroups, HelpWhenTheyAreDone) {
  Rng rng(20261126);
  int waiting = 0;
  std::vector<int> offered(static_cast<std::size_t>(Remedy::Kind::kDropGroupWithin) + 1, 0);
  for (int round = 0; round < 400 && !testing::Test::HasFailure(); ++round) {
    const GroupWorld w = some_group_world(rng);
    State s;
    w.tell_all(s);
    Engine engine(*builtin_profile("ashlar"));
    engine.decide(s, Millis(0));
    if (s.job(kGang).members_placed == s.job(kGang).members_present) continue;
    ++waiting;
    SCOPED_TRACE("world " + std::to_string(round) + ": " + text_of(w));
    const std::uint64_t digest = s.digest();
    const std::vector<Remedy> remedies = find_remedies(s, engine, kGang);
    EXPECT_EQ(s.digest(), digest);
    for (const Remedy& r : remedies) {
      SCOPED_TRACE("remedy " + std::to_string(static_cast<int>(r.kind)));
      ++offered[static_cast<std::size_t>(r.kind)];
      expect_helps(w, r);
    }
  }
  EXPECT_GT(waiting, 100);
  for (const Remedy::Kind kind : {Remedy::Kind::kFewerMembers, Remedy::Kind::kFreeDevices, Remedy::Kind::kMoreNodes,
                                  Remedy::Kind::kDropGroupWithin})
    EXPECT_GT(offered[static_cast<std::size_t>(kind)], 10) << static_cast<int>(kind);
}

}  // namespace
}  // namespace ashlar
