// Remedies whole, on clusters small enough to be worked out by hand: also where a resource counts the devices, as
// `nvidia.com/gpu` does.
#include <gtest/gtest.h>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "engine/explain/explain.h"

namespace ashlar {
namespace {

constexpr ResourceId kCounted{resource::kFirstExtended};
constexpr JobId kWaiting{0u};

/// Asks for devices, and as many of what counts them.
Demand demand_for(std::int32_t devices, std::int64_t cores = 0, std::int64_t counted = -1) {
  Demand d{.amounts = {{resource::kPods, 1}}, .devices = {devices, MilliGpu(1000), MiB(0)}, .ports = {}};
  if (cores > 0) d.amounts.insert(d.amounts.begin(), {resource::kCpu, cores * 1000});
  if (counted != 0) d.amounts.push_back({kCounted, counted < 0 ? devices : counted});
  return d;
}

struct ToldWorld {
  State state;
  std::uint32_t rows = 100;
  std::vector<LabelKeyId> node_names = {};
  explicit ToldWorld(std::uint32_t nodes, std::int64_t counted = 8, std::uint32_t per_rack = 2) {
    tell(state, LevelsDefined{1, 0});
    tell(state, ConstraintDefined{kAnywhere, {}});
    tell(state, ConstraintDefined{ConstraintId(1u), {.models = {DeviceClassId(7u)}}});
    for (std::uint32_t n = 0; n < nodes; ++n) {
      NodeFacts f = eight_devices();
      f.allocatable.push_back(counted);
      f.domains = {DomainId(n / per_rack)};
      tell(state, NodeSeen{NodeId(n), f});
    }
  }
  DemandId define(const Demand& d) {
    const DemandId id(rows++);
    tell(state, DemandDefined{id, d});
    return id;
  }
  /// Another scheduler's pod.
  ToldWorld& runs(std::uint32_t node, const Demand& d, std::uint64_t on = 0) {
    Workload w = workload(rows, rows, 1, define(d));
    w.is_ours = false;
    const MemberId member = w.members[0].member;
    tell(state, Submitted{w});
    tell(state, Bound{member, NodeId(node), devices(on)});
    return *this;
  }
  ToldWorld& waits(std::vector<Demand> members, LevelId within = {}, std::uint32_t least = UINT32_MAX,
                   ConstraintId where = kAnywhere) {
    Workload w;
    w.job = kWaiting;
    w.within = within;
    for (const Demand& d : members)
      w.members.push_back({MemberId(static_cast<std::uint32_t>(w.members.size())), define(d), where});
    w.members_min = std::min(least, static_cast<std::uint32_t>(w.members.size()));
    tell(state, Submitted{w});
    return *this;
  }
  struct Group {
    std::size_t members;
    Demand demand;
    LevelId within;
  };
  ToldWorld& waits_in_groups(const std::vector<Group>& groups, LevelId within = {}) {
    Workload gang;
    gang.job = kWaiting;
    gang.within = within;
    gang.spec = GangSpecId(0u);
    GangSpec spec;
    for (const Group& group : groups) {
      const DemandId demand = define(group.demand);
      for (std::size_t m = 0; m < group.members; ++m)
        gang.members.push_back({.member = MemberId(static_cast<std::uint32_t>(gang.members.size())),
                                .demand = demand,
                                .constraint = kAnywhere,
                                .group = static_cast<std::uint32_t>(spec.groups.size())});
      spec.groups.push_back({static_cast<std::uint32_t>(group.members), group.within, {}});
    }
    gang.members_min = static_cast<std::uint32_t>(gang.members.size());
    tell(state, GangSpecDefined{gang.spec, spec});
    tell(state, Submitted{gang});
    return *this;
  }
  /// What is offered, in the order of being told.
  std::string offers() {
    Engine engine(*builtin_profile("ashlar"));
    engine.decide(state, Millis(0));
    const std::uint64_t digest = state.digest();
    std::string text;
    for (const Remedy& r :
         find_remedies(state, engine, kWaiting, {.counts_devices = kCounted, .node_names = node_names})) {
      constexpr const char* kNames[] = {"drop within", "widen within", "members", "cards",
                                        "quota",       "free",         "nodes",   "drop group within"};
      text += (text.empty() ? "" : ", ") + std::string(kNames[static_cast<std::size_t>(r.kind)]) + " " +
              std::to_string(r.amount);
      if (!r.level.is_none()) text += " level " + std::to_string(r.level.value);
      if (!r.node.is_none()) text += " like " + std::to_string(r.node.value);
      if (!r.new_domain.is_none()) text += " apart by " + std::to_string(r.new_domain.value);
      for (const Remedy::Limit& l : r.limits)
        text += " q" + std::to_string(l.queue.value) + "[" + std::to_string(quota_number(l.of)) + "]+" +
                std::to_string(l.lacking) + (l.is_of_borrowing ? " borrowed" : "");
      for (const Remedy::OfGroup& of : r.of_groups) {
        text += " [" + std::to_string(of.group) + ": " + std::to_string(of.amount);
        if (!of.level.is_none()) text += " level " + std::to_string(of.level.value);
        text += (of.node.is_none() ? "" : " like " + std::to_string(of.node.value)) + std::string("]");
      }
    }
    EXPECT_EQ(state.digest(), digest);
    return text;
  }
};

std::vector<Demand> times(std::size_t count, const Demand& d) { return std::vector<Demand>(count, d); }

TEST(RemediesTold, DevicesInUseAreFreedWhereFewestAreLacking) {
  EXPECT_EQ(ToldWorld(2).runs(0, demand_for(3)).runs(1, demand_for(5)).waits({demand_for(8)}).offers(),
            "cards 5, free 3, nodes 1 like 0");
  EXPECT_EQ(ToldWorld(2).runs(0, demand_for(5)).runs(1, demand_for(3)).waits({demand_for(8)}).offers(),
            "cards 5, free 3, nodes 1 like 0");
  EXPECT_EQ(ToldWorld(2).runs(0, demand_for(8)).runs(1, demand_for(8)).waits({demand_for(1)}).offers(),
            "free 1, nodes 1 like 0");
  EXPECT_EQ(ToldWorld(1).waits({demand_for(8)}).offers(), "") << "it runs";
}

TEST(RemediesTold, WhatCountsDevicesIsFreedWithThem) {
  // A pod whose devices nobody knows takes what counts them alone, as one does that another plugin gave devices.
  EXPECT_EQ(ToldWorld(1).runs(0, demand_for(0, 0, 4)).waits({demand_for(8)}).offers(), "cards 4, nodes 1 like 0");
  EXPECT_EQ(ToldWorld(1).runs(0, demand_for(4, 0, 0)).waits({demand_for(8)}).offers(),
            "cards 4, free 4, nodes 1 like 0");
  EXPECT_EQ(ToldWorld(1).runs(0, demand_for(2, 0, 6)).waits({demand_for(8)}).offers(),
            "cards 2, free 2, nodes 1 like 0");
  EXPECT_EQ(ToldWorld(2).runs(0, demand_for(3)).runs(1, demand_for(0, 0, 2)).waits({demand_for(8)}).offers(),
            "cards 6, nodes 1 like 0");
  EXPECT_EQ(ToldWorld(1, 4).waits({demand_for(8)}).offers(), "cards 4") << "the node counts fewer cards than it has";
  EXPECT_EQ(ToldWorld(1, 4).runs(0, demand_for(2)).waits({demand_for(3)}).offers(), "cards 2, nodes 1 like 0");
}

TEST(RemediesTold, WhatANodeDoesNotCountIsNotFreed) {
  EXPECT_EQ(ToldWorld(1, 4).runs(0, demand_for(4)).waits({demand_for(8)}).offers(), "");
  EXPECT_EQ(ToldWorld(1, 8).runs(0, demand_for(4)).waits({demand_for(8)}).offers(), "cards 4, free 4, nodes 1 like 0");
  ToldWorld w(1);
  NodeFacts plain = eight_devices();
  tell(w.state, NodeGone{NodeId(0u)});
  tell(w.state, NodeSeen{NodeId(1u), plain});
  EXPECT_EQ(w.runs(1, demand_for(4, 0, 0)).waits({demand_for(8)}).offers(), "");
}

TEST(RemediesTold, CoresThatAreShortAreNotFreed) {
  EXPECT_EQ(ToldWorld(1).runs(0, demand_for(2, 60)).waits({demand_for(8, 8)}).offers(), "nodes 1 like 0");
  EXPECT_EQ(ToldWorld(1).runs(0, demand_for(2, 60)).waits({demand_for(8, 4)}).offers(),
            "cards 6, free 2, nodes 1 like 0");
  EXPECT_EQ(ToldWorld(1).waits({demand_for(8, 65)}).offers(), "");
  EXPECT_EQ(ToldWorld(1).runs(0, demand_for(0, 60, 0)).waits({demand_for(0, 8, 0)}).offers(), "nodes 1 like 0");
}

TEST(RemediesTold, GangsShrinkGrowTheClusterAndLeaveTheirRack) {
  EXPECT_EQ(
      ToldWorld(4).runs(0, demand_for(8)).runs(2, demand_for(1)).waits(times(4, demand_for(8)), LevelId(0u)).offers(),
      "members 1 level 0, cards 3 level 0, nodes 3 level 0 like 2");
  EXPECT_EQ(
      ToldWorld(4).runs(0, demand_for(8)).runs(2, demand_for(1)).waits(times(2, demand_for(8)), LevelId(0u)).offers(),
      "drop within 2, members 1 level 0, cards 7 level 0, free 1 level 0, nodes 1 level 0 like 2");
  EXPECT_EQ(ToldWorld(4).runs(0, demand_for(8)).waits(times(7, demand_for(8))).offers(),
            "members 3, cards 2, nodes 4 like 0");
  EXPECT_EQ(ToldWorld(4).waits(times(9, demand_for(4)), LevelId(0u), 6).offers(),
            "drop within 6, members 4 level 0, cards 2 level 0, nodes 1 level 0 like 0");
  EXPECT_EQ(ToldWorld(3)
                .runs(0, demand_for(1))
                .waits({demand_for(8), demand_for(8), demand_for(8), demand_for(2), demand_for(2)})
                .offers(),
            "members 2, cards 6, nodes 1 like 0");
}

TEST(RemediesTold, NoNodeIsAddedWhereEachDomainIsOneNode) {
  EXPECT_EQ(ToldWorld(10, 8, 1)
                .runs(3, demand_for(2))
                .runs(4, demand_for(1))
                .waits(times(3, demand_for(4)), LevelId(0u))
                .offers(),
            "drop within 3, members 2 level 0, cards 2 level 0");
  ToldWorld one_of_two(10, 8, 1);  // node9 stands beside node8
  NodeFacts f = one_of_two.state.cluster().facts(NodeId(9u));
  f.domains = {DomainId(8u)};
  tell(one_of_two.state, NodeSeen{NodeId(9u), f});
  EXPECT_EQ(one_of_two.waits(times(5, demand_for(4)), LevelId(0u)).offers(),
            "drop within 5, members 4 level 0, cards 2 level 0, nodes 1 level 0 like 8");
}

TEST(RemediesTold, AGangThatHasAFootInARackStaysThere) {
  ToldWorld w(4);
  w.runs(0, demand_for(8)).waits(times(2, demand_for(8)), LevelId(0u));
  tell(w.state, Bound{MemberId(0u), NodeId(1u), {}});
  EXPECT_EQ(w.offers(), "drop within 1, free 8 level 0, nodes 1 level 0 like 0");
}

TEST(RemediesTold, WhatItsOwnMembersHaveIsNotFreed) {
  ToldWorld w(2);
  w.runs(1, demand_for(2)).waits(times(2, demand_for(8)), LevelId(0u));
  tell(w.state, Bound{MemberId(0u), NodeId(0u), {}});
  EXPECT_EQ(w.offers(), "cards 6 level 0, free 2 level 0, nodes 1 level 0 like 0");
  ToldWorld alone(1);
  alone.waits(times(2, demand_for(8)));
  tell(alone.state, Bound{MemberId(0u), NodeId(0u), {}});
  EXPECT_EQ(alone.offers(), "nodes 1 like 0");
}

TEST(RemediesTold, LimitsAreNamedFromTheQueueUpwards) {
  ToldWorld w(2);
  tell(w.state, QueueDefined{QueueId(1u), QueueId(0u), {10'000, 20'000, kUnlimited}});
  tell(w.state, QueueDefined{QueueId(2u), QueueId(1u), {kUnlimited, 4'000, 1}});
  Workload other = workload(1, 50, 1, w.define(demand_for(4, 3)));
  other.queue = QueueId(2u);
  tell(w.state, Submitted{other});
  Workload job;
  job.job = kWaiting;
  job.queue = QueueId(2u);
  job.members = {{MemberId(0u), w.define(demand_for(4, 4)), kAnywhere},
                 {MemberId(1u), w.define(demand_for(4, 1)), kAnywhere}};
  job.members_min = 2;
  tell(w.state, Submitted{job});
  EXPECT_EQ(w.offers(), "quota 0 q2[1]+4000 q1[0]+2000");
}

/// Two nodes; queue 1 has queues 2, which keeps 4 GPUs for itself, and 3 below it. Queue 4 is beside them.
struct KeptWorld : ToldWorld {
  explicit KeptWorld(std::int64_t above, std::int64_t beside_what_is_kept = kUnlimited) : ToldWorld(2) {
    const auto quota = [](std::int64_t gpus) {
      return QuotaVector{gpus == kUnlimited ? gpus : gpus * 1000, kUnlimited, kUnlimited};
    };
    tell(state, QueueDefined{QueueId(1u), QueueId(0u), quota(above)});
    QueueDefined keeps{QueueId(2u), QueueId(1u), quota(kUnlimited)};
    keeps.shares = {{.of = quota_key(0), .guarantee = 4'000, .lends = 0}};
    tell(state, keeps);
    tell(state, QueueDefined{QueueId(3u), QueueId(1u), quota(beside_what_is_kept)});
    tell(state, QueueDefined{QueueId(4u), QueueId(0u), quota(kUnlimited)});
  }
  KeptWorld& runs_in(QueueId queue, std::int32_t gpus) {
    Workload w = workload(rows, rows, 1, define(demand_for(gpus)));
    w.queue = queue;
    const MemberId member = w.members[0].member;
    tell(state, Submitted{w});
    tell(state, Bound{member, NodeId(0u), devices((std::uint64_t{1} << gpus) - 1)});
    return *this;
  }
  std::string offers_in(QueueId queue, std::int32_t gpus) {
    Workload w = workload(kWaiting.value, 0, 1, define(demand_for(gpus)));
    w.queue = queue;
    tell(state, Submitted{w});
    return offers();
  }
};

TEST(RemediesTold, WhatAQueueBelowKeepsIsLackingBesideWhatIsUsed) {
  EXPECT_EQ(KeptWorld(10).runs_in(QueueId(3u), 5).offers_in(QueueId(3u), 3), "cards 1, quota 0 q1[0]+2000");
  EXPECT_EQ(KeptWorld(10).runs_in(QueueId(3u), 5).offers_in(QueueId(2u), 6), "cards 5, quota 0 q1[0]+1000")
      << "but not what it keeps for itself";
}

TEST(RemediesTold, NoQuotaIsOfferedWhereTheRestOfTheClusterIsKept) {
  EXPECT_EQ(KeptWorld(kUnlimited, 7).runs_in(QueueId(4u), 4).offers_in(QueueId(3u), 8), "cards 7, quota 0 q3[0]+1000");
  EXPECT_EQ(KeptWorld(kUnlimited, 6).runs_in(QueueId(4u), 5).offers_in(QueueId(3u), 8), "cards 6")
      << "7 are neither used nor kept";
}

TEST(RemediesTold, WhereAQueueMayBorrowTooLittleThatIsSaid) {
  for (const std::int64_t quota : {2'000, 4'000}) {
    ToldWorld w(1);
    QueueDefined borrows{QueueId(1u), QueueId(0u), {quota, kUnlimited, kUnlimited}};
    borrows.shares = {{.of = quota_key(0), .guarantee = 1'000, .borrows = 1'000}};
    tell(w.state, borrows);
    Workload job = workload(kWaiting.value, 0, 1, w.define(demand_for(3)));
    job.queue = QueueId(1u);
    tell(w.state, Submitted{job});
    EXPECT_EQ(w.offers(), quota == 2'000 ? "cards 2, quota 0 q1[0]+1000" : "cards 2, quota 0 q1[0]+1000 borrowed");
  }
}

/// Two nodes of class 0 and one of class 1 with 8 GPUs each; queue 1 may have 4 GPUs of class 0 and 1 of a resource.
ToldWorld with_class_limit() {
  ToldWorld w(3);
  NodeFacts other = w.state.cluster().facts(NodeId(2u));
  other.devices.device_class = DeviceClassId(1u);
  for (std::uint32_t n = 0; n < 2; ++n) {
    NodeFacts facts = w.state.cluster().facts(NodeId(n));
    facts.devices.device_class = DeviceClassId(0u);
    tell(w.state, NodeSeen{NodeId(n), facts});
  }
  tell(w.state, NodeSeen{NodeId(2u), other});
  tell(w.state, QueueDefined{QueueId(1u),
                             QueueId(0u),
                             {kUnlimited, kUnlimited, kUnlimited},
                             {{{ResourceId::none(), DeviceClassId(0u)}, 4000}}});
  return w;
}
std::string offers_for_gang_of_eights(ToldWorld& w, std::uint32_t members) {
  Workload job;
  job.job = kWaiting;
  job.queue = QueueId(1u);
  const DemandId eight = w.define(demand_for(8));
  for (std::uint32_t m = 0; m < members; ++m) job.members.push_back({MemberId(m), eight, kAnywhere});
  job.members_min = members;
  tell(w.state, Submitted{job});
  return w.offers();
}

TEST(RemediesTold, ALimitOfAClassLacksWhatHasNoPlaceOnOtherClasses) {
  const std::string of_class = " q1[" + std::to_string(quota_number({ResourceId::none(), DeviceClassId(0u)})) + "]+";
  ToldWorld all_three = with_class_limit();
  EXPECT_EQ(offers_for_gang_of_eights(all_three, 3), "members 1, cards 4, quota 0" + of_class + "12000");
  ToldWorld one_elsewhere = with_class_limit();
  EXPECT_EQ(offers_for_gang_of_eights(one_elsewhere, 2), "members 1, cards 4, quota 0" + of_class + "4000");
}

TEST(RemediesTold, NothingHelpsWhereNoNodeIsAllowed) {
  EXPECT_EQ(ToldWorld(1).waits({demand_for(1)}, {}, 1, ConstraintId(1u)).offers(), "");
}

TEST(RemediesTold, SharesAreNotFreedDeviceByDevice) {
  Demand half = demand_for(1, 0, 0);
  half.devices.milli_each = MilliGpu(600);
  ToldWorld w(1);
  for (int k = 0; k < 8; ++k) w.runs(0, half);
  EXPECT_EQ(w.waits({half}).offers(), "nodes 1 like 0");
  ToldWorld whole(1);
  whole.runs(0, half).runs(0, half);
  EXPECT_EQ(whole.waits({demand_for(8)}).offers(), "cards 6, free 2, nodes 1 like 0");
}

/// Nodes 0, 2 and 4 are free, one in each rack; the groups are of one member and of two, the second in a rack.
TEST(RemediesTold, OneGroupMayBeSmallerOrDoWithoutItsDomainOrGetsRoomThere) {
  ToldWorld w(5);
  w.runs(1, demand_for(8)).runs(3, demand_for(8));
  w.waits_in_groups({{1, demand_for(8), {}}, {2, demand_for(8), LevelId(0u)}});
  EXPECT_EQ(w.offers(),
            "drop group within 2 level 0, members 2 [1: 1], cards 4, free 8 [1: 8 level 0], nodes 1 like 0 [1: 1 level "
            "0 like 0]");
}

TEST(RemediesTold, EachGroupThatLacksRoomIsTold) {
  ToldWorld w(4);
  for (std::uint32_t n = 0; n < 4; ++n) w.runs(n, demand_for(8));
  w.waits_in_groups({{1, demand_for(8), {}}, {2, demand_for(8), LevelId(0u)}});
  EXPECT_EQ(w.offers(), "free 24 [0: 8] [1: 16 level 0], nodes 3 like 0 [0: 1 like 0] [1: 2 level 0 like 0]");
}

TEST(RemediesTold, OfAFreedRackEachGroupGetsOne) {
  ToldWorld w(4);
  for (std::uint32_t n = 0; n < 4; ++n) w.runs(n, demand_for(6));
  w.waits_in_groups({{2, demand_for(8), LevelId(0u)}, {2, demand_for(8), LevelId(0u)}});
  EXPECT_EQ(w.offers(),
            "cards 2, free 24 [0: 12 level 0] [1: 12 level 0], nodes 4 like 0 [0: 2 level 0 like 0] [1: 2 "
            "level 0 like 0]");
}

/// Its first group has its member in the other rack, its second one in a rack whose other node is busy.
TEST(RemediesTold, AGroupThatHasAFootInARackGetsRoomThere) {
  ToldWorld w(4);
  w.runs(0, demand_for(8)).waits_in_groups({{1, demand_for(1), {}}, {2, demand_for(8), LevelId(0u)}});
  tell(w.state, Bound{MemberId(0u), NodeId(2u), {}});
  tell(w.state, Bound{MemberId(1u), NodeId(1u), {}});
  EXPECT_EQ(w.offers(), "drop group within 2 level 0, free 8 [1: 8 level 0], nodes 1 like 0 [1: 1 level 0 like 0]");
}

/// The gang's own level says less than that of its groups.
TEST(RemediesTold, OfMoreGroupsThanAreToldTheFinestLevelIs) {
  ToldWorld w(2);
  for (std::uint32_t n = 0; n < 2; ++n) w.runs(n, demand_for(8));
  w.waits_in_groups(std::vector<ToldWorld::Group>(9, {1, demand_for(8), LevelId(0u)}));
  EXPECT_NE(w.offers().find("nodes 9 level 0 like 0"), std::string::npos) << w.offers();
}

/// Nodes with a host name each and a zone for two, and pods of one deployment, which have rules about each other.
struct ApartWorld : ToldWorld {
  static constexpr LabelKeyId kApp{1u}, kHost{2u}, kZone{3u};
  static constexpr LabelSetId kLike{0u};
  static constexpr PodSelectorId kPods{0u};
  static constexpr ConstraintId kApart{9u};

  explicit ApartWorld(std::uint32_t nodes) : ToldWorld(0) {
    node_names = {kHost};
    for (std::uint32_t n = 0; n < nodes; ++n) {
      NodeFacts f = eight_devices();
      f.allocatable.push_back(8);
      f.domains = {DomainId(n / 2)};
      f.labels = {{kHost, LabelId(20 + n)}, {kZone, LabelId(50 + n / 2)}};
      tell(state, NodeSeen{NodeId(n), f});
    }
    tell(state, LabelSetDefined{kLike, {NamespaceId(0u), {{kApp, LabelId(0u)}}}});
    const LabelExpression app{kApp, LabelExpression::Op::kIn, {LabelId(0u)}, 0};
    tell(state, PodSelectorDefined{kPods, {{NamespaceId(0u)}, false, {}, {app}}});
  }
  /// They keep each other away by the label.
  ApartWorld(std::uint32_t nodes, LabelKeyId by) : ApartWorld(nodes) {
    tell(state, ConstraintDefined{kApart, {.keeps_away = {{kPods, by}}, .keeps_itself_away = true}});
  }
  ApartWorld(std::uint32_t nodes, const Constraint& constraint) : ApartWorld(nodes) {
    tell(state, ConstraintDefined{kApart, constraint});
  }
  /// As the live scheduler defines it once such a pod runs: the waiting ones are kept away by it, too.
  static Constraint seen(LabelKeyId by) {
    return {.seen_as = kLike, .keeps_away = {{kPods, by}}, .keeps_itself_away = true};
  }
  static SpreadTerm spread(LabelKeyId by) { return {.selector = kPods, .topology = by}; }
  /// One more pod of them that runs.
  ApartWorld& runs_apart(std::uint32_t node) {
    Workload w = workload(rows, rows, 1, define(demand_for(1)));
    w.members[0].constraint = kApart;
    w.members[0].labels = kLike;
    const MemberId member = w.members[0].member;
    tell(state, Submitted{w});
    tell(state, Bound{member, NodeId(node), devices(1)});
    return *this;
  }
  ApartWorld& runs(std::uint32_t node, const Demand& d) {
    ToldWorld::runs(node, d);
    return *this;
  }
  std::string offers_to(std::uint32_t members, const Demand& each) {
    Workload w;
    w.job = kWaiting;
    w.members_min = members;
    const DemandId demand = define(each);
    for (std::uint32_t m = 0; m < members; ++m)
      w.members.push_back({.member = MemberId(m), .demand = demand, .constraint = kApart, .labels = kLike});
    tell(state, Submitted{w});
    return offers();
  }
  std::string offers_to_gang(std::uint32_t members) { return offers_to(members, demand_for(1)); }
  /// To a pod that requests a core and nothing else.
  std::string offers_to_plain_pod() { return offers_to(1, demand_for(0, 1, 0)); }
};

TEST(RemediesTold, MembersThatKeepEachOtherAwayNeedANodeEach) {
  EXPECT_EQ(ApartWorld(3, ApartWorld::kHost).offers_to_gang(3), "") << "it runs";
  EXPECT_EQ(ApartWorld(3, ApartWorld::kHost).offers_to_gang(5), "members 3, nodes 2 like 0");
  EXPECT_EQ(ApartWorld(4, ApartWorld::kZone).offers_to_gang(4), "members 2, nodes 2 like 0 apart by 3")
      << "a node like them is in their zones";
}

TEST(RemediesTold, ANewNodeHoldsNoPodThatAPodKeepsAwayFrom) {
  EXPECT_EQ(ApartWorld(2, ApartWorld::kHost).runs_apart(0).runs_apart(1).offers_to_gang(1), "nodes 1 like 0");
  EXPECT_EQ(ApartWorld(2, ApartWorld::kZone).runs_apart(0).offers_to_gang(1), "nodes 1 like 0 apart by 3");
}

TEST(RemediesTold, NorOneThatKeepsThePodAway) {
  const Constraint by_host = ApartWorld::seen(ApartWorld::kHost), by_zone = ApartWorld::seen(ApartWorld::kZone);
  EXPECT_EQ(ApartWorld(2, by_host).runs_apart(0).runs_apart(1).offers_to_plain_pod(), "nodes 1 like 0");
  EXPECT_EQ(ApartWorld(2, by_zone).runs_apart(0).offers_to_plain_pod(), "nodes 1 like 0 apart by 3");
  EXPECT_EQ(ApartWorld(4, by_zone)
                .runs_apart(0)
                .runs(2, demand_for(0, 64, 0))
                .runs(3, demand_for(0, 64, 0))
                .offers_to_plain_pod(),
            "nodes 1 like 2")
      << "in the zone that is open to it";
}

TEST(RemediesTold, ANewNodeIsInADomainThatTakesThePod) {
  const Demand full = demand_for(0, 64, 0);
  EXPECT_EQ(ApartWorld(4, {.spread = {ApartWorld::spread(ApartWorld::kZone)}})
                .runs_apart(0)
                .runs(2, full)
                .runs(3, full)
                .offers_to_plain_pod(),
            "nodes 1 like 2")
      << "the zone with fewest of them";
  EXPECT_EQ(ApartWorld(4, {.spread = {ApartWorld::spread(ApartWorld::kHost)}})
                .runs_apart(0)
                .runs_apart(1)
                .runs_apart(2)
                .runs(3, full)
                .offers_to_plain_pod(),
            "nodes 1 like 3");
  const Constraint near{.near = {.selector = ApartWorld::kPods, .topologies = {ApartWorld::kZone}}};
  EXPECT_EQ(ApartWorld(4, near).runs_apart(2).runs(2, demand_for(0, 63, 0)).runs(3, full).offers_to_plain_pod(), "")
      << "it runs";
  EXPECT_EQ(ApartWorld(4, near).runs_apart(2).runs(2, full).runs(3, full).offers_to_plain_pod(), "nodes 1 like 2")
      << "where the pods are";
  EXPECT_EQ(ApartWorld(4, near).offers_to_plain_pod(), "") << "no node brings the pods that it wants to be near to";
  SpreadTerm over_three = ApartWorld::spread(ApartWorld::kZone);
  over_three.domains_min = 3;
  EXPECT_EQ(ApartWorld(4, {.spread = {over_three}}).runs_apart(0).runs_apart(2).offers_to_plain_pod(),
            "nodes 1 like 0 apart by 3");
}

TEST(RemediesTold, APodWithoutDevicesIsOfferedANodeWithFewest) {
  ToldWorld w(2);
  NodeFacts plain = w.state.cluster().facts(NodeId(1u));
  plain.devices.count = 0;
  tell(w.state, NodeSeen{NodeId(1u), plain});
  w.runs(0, demand_for(0, 64, 0)).runs(1, demand_for(0, 64, 0));
  EXPECT_EQ(w.waits({demand_for(0, 1, 0)}).offers(), "nodes 1 like 1");
}

}  // namespace
}  // namespace ashlar
