// Remedies: whatever is offered helps when it is done, and what would help is offered, on small random clusters with
// unlike groups, limits and levels. What helps is found by doing it in a world of its own and letting an engine decide
// there.
#include <gtest/gtest.h>

#include <algorithm>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "engine/explain/explain.h"
#include "engine/explain/rehearsal.h"

namespace ashlar {
namespace {

constexpr int kDevicesPerNode = 4;
constexpr QueueId kTeam{2u}, kCompany{1u};
constexpr JobId kJob{0u};

struct Ask {
  int cores = 0, devices = 0;
  DemandId demand() const { return DemandId(static_cast<std::uint32_t>(cores * 8 + devices)); }
  friend bool operator==(const Ask&, const Ask&) = default;
};

/// One job that waits, pods of one device each that run, and what limits there are.
struct World {
  std::vector<NodeFacts> nodes;
  std::vector<NodeId> running;       ///< where pods of one device sit
  std::vector<bool> runs_for_queue;  ///< do they count against the job's queue?
  std::vector<Ask> members;
  std::uint32_t members_min = 1;
  LevelId within;
  QuotaVector of_team{kUnlimited, kUnlimited, kUnlimited}, of_company{kUnlimited, kUnlimited, kUnlimited};

  void tell_all(State& s) const {
    tell(s, LevelsDefined{2, 0});
    for (int cores = 0; cores < 4; ++cores)
      for (int devices = 0; devices < 8; ++devices) {
        Demand d{.amounts = {{resource::kPods, 1}}, .devices = {devices, MilliGpu(1000), MiB(0)}, .ports = {}};
        if (cores > 0) d.amounts.insert(d.amounts.begin(), {resource::kCpu, cores * 1000});
        tell(s, DemandDefined{Ask{cores, devices}.demand(), d});
      }
    tell(s, ConstraintDefined{kAnywhere, {}});
    tell(s, QueueDefined{kCompany, QueueId(0u), of_company});
    tell(s, QueueDefined{kTeam, kCompany, of_team});
    for (std::size_t n = 0; n < nodes.size(); ++n) tell(s, NodeSeen{NodeId(n), nodes[n]});
    for (std::size_t p = 0; p < running.size(); ++p) {
      const auto row = static_cast<std::uint32_t>(100 + p);
      Workload w = workload(row, row, 1, Ask{0, 1}.demand());
      w.is_ours = false;
      if (runs_for_queue[p]) w.queue = kTeam;
      tell(s, Submitted{w});
      tell(s, Bound{MemberId(row), running[p], {}});
    }
    Workload w;
    w.job = kJob;
    w.queue = kTeam;
    w.members_min = members_min;
    w.within = within;
    for (std::size_t m = 0; m < members.size(); ++m) w.members.push_back({MemberId(m), members[m].demand(), kAnywhere});
    tell(s, Submitted{w});
  }
  bool starts() const {
    State s;
    tell_all(s);
    Engine engine(*builtin_profile("ashlar"));
    engine.decide(s, Millis(0));
    return s.job(kJob).members_placed >= members_min;
  }
  bool is_uniform() const {
    return std::all_of(members.begin(), members.end(), [&](const Ask& a) { return a == members.front(); });
  }
};

World some_world(Rng& rng) {
  const auto draw = [&](int below) { return static_cast<int>(rng.next() % static_cast<std::uint64_t>(below)); };
  World w;
  const int nodes = 2 + draw(4);
  for (int n = 0; n < nodes; ++n) {
    NodeFacts f;
    f.allocatable = {(2 + draw(5)) * 1000, std::int64_t{1} << 40, 0, 100};
    f.devices.count = kDevicesPerNode;
    f.domains = {DomainId(static_cast<std::uint32_t>(n / 4)), DomainId(static_cast<std::uint32_t>(n / 2))};
    w.nodes.push_back(f);
    for (int c = draw(kDevicesPerNode + 1); c > 0 && w.running.size() < 8; --c) {
      w.running.emplace_back(n);
      w.runs_for_queue.push_back(draw(3) == 0);
    }
  }
  const Ask worker{draw(4), 1 + draw(kDevicesPerNode)};
  const int workers = 1 + draw(5);
  if (draw(2) == 0) w.members.push_back({1 + draw(3), draw(2)});
  w.members.insert(w.members.end(), static_cast<std::size_t>(workers), worker);
  w.members_min = static_cast<std::uint32_t>(w.members.size());
  if (draw(4) == 0) w.members_min = 1 + static_cast<std::uint32_t>(draw(static_cast<int>(w.members.size())));
  if (draw(2) == 0) w.within = LevelId(static_cast<std::uint32_t>(draw(2)));
  if (draw(4) == 0) w.of_team = {draw(16) * 1000, kUnlimited, kUnlimited};
  if (draw(4) == 0) w.of_company = {kUnlimited, draw(12) * 1000, kUnlimited};
  return w;
}

World with_members(World w, std::int64_t count) {
  w.members.resize(static_cast<std::size_t>(count));
  w.members_min = static_cast<std::uint32_t>(count);
  return w;
}
World with_devices(World w, std::int64_t most) {
  for (Ask& a : w.members) a.devices = std::min(a.devices, static_cast<int>(most));
  return w;
}
World within(World w, LevelId level) {
  w.within = level;
  return w;
}
World with_nodes(World w, NodeId like, std::int64_t count) {
  for (std::int64_t n = 0; n < count; ++n) w.nodes.push_back(w.nodes[like.row()]);
  return w;
}
World with_quota(World w, const std::vector<Remedy::Limit>& limits, std::int64_t less) {
  for (const Remedy::Limit& l : limits)
    (l.queue == kTeam ? w.of_team : w.of_company)[static_cast<std::size_t>(quota_number(l.of))] += l.lacking - less;
  return w;
}
/// The fewest of the running pods whose end lets it start; 0 if even all do not.
std::int64_t fewest_devices_to_free(const World& w) {
  std::int64_t fewest = 0;
  for (std::uint32_t ended = 1; ended < 1u << w.running.size(); ++ended) {
    const auto count = static_cast<std::int64_t>(__builtin_popcount(ended));
    if (fewest != 0 && count >= fewest) continue;
    World other = w;
    other.running.clear();
    other.runs_for_queue.clear();
    for (std::size_t p = 0; p < w.running.size(); ++p) {
      if ((ended >> p & 1) != 0) continue;
      other.running.push_back(w.running[p]);
      other.runs_for_queue.push_back(w.runs_for_queue[p]);
    }
    if (other.starts()) fewest = count;
  }
  return fewest;
}

/// For a failing world.
std::string text_of(const World& w) {
  std::string text = "cores:";
  for (const NodeFacts& f : w.nodes) text += " " + std::to_string(f.allocatable[0] / 1000);
  text += "; running on:";
  for (const NodeId n : w.running) text += " " + std::to_string(n.value);
  text += "; asks (cores, cards):";
  for (const Ask& a : w.members) text += " (" + std::to_string(a.cores) + ", " + std::to_string(a.devices) + ")";
  return text + "; min " + std::to_string(w.members_min) +
         (w.within.is_none() ? "" : "; within level " + std::to_string(w.within.value));
}

/// What does the offer of this kind say, and is it true?
void expect_helps(const World& w, const Remedy& r) {
  switch (r.kind) {
    case Remedy::Kind::kDropWithin:
      EXPECT_TRUE(within(w, LevelId::none()).starts());
      break;
    case Remedy::Kind::kWidenWithin:
      EXPECT_TRUE(within(w, r.level).starts());
      break;
    case Remedy::Kind::kFewerMembers:
      EXPECT_TRUE(with_members(w, r.amount).starts()) << r.amount;
      break;
    case Remedy::Kind::kFewerDevices:
      EXPECT_TRUE(with_devices(w, r.amount).starts()) << r.amount;
      break;
    case Remedy::Kind::kMoreQuota:
      EXPECT_TRUE(with_quota(w, r.limits, 0).starts());
      EXPECT_FALSE(with_quota(w, r.limits, 1).starts());
      break;
    case Remedy::Kind::kFreeDevices:
      EXPECT_GT(fewest_devices_to_free(w), 0);
      EXPECT_GE(r.amount, fewest_devices_to_free(w)) << "for unlike members enough, if not always the fewest";
      EXPECT_TRUE(!w.is_uniform() || r.amount == fewest_devices_to_free(w)) << r.amount;
      break;
    case Remedy::Kind::kMoreNodes:
      EXPECT_TRUE(with_nodes(w, r.node, r.amount).starts()) << r.amount;
      EXPECT_FALSE(with_nodes(w, r.node, r.amount - 1).starts()) << r.amount;
      break;
    case Remedy::Kind::kDropGroupWithin:
      ADD_FAILURE() << "its jobs have no groups";
      break;
  }
}

/// For like members the search is exact: what would help is offered.
void expect_nothing_is_missed(const World& w, const std::vector<Remedy>& offered) {
  const auto is_offered = [&](Remedy::Kind kind) {
    return std::any_of(offered.begin(), offered.end(), [&](const Remedy& r) { return r.kind == kind; });
  };
  std::int64_t members = w.members_min - 1, devices = kDevicesPerNode;
  while (members > 0 && !with_members(w, members).starts()) --members;
  while (devices > 0 && !with_devices(w, devices).starts()) --devices;
  EXPECT_EQ(is_offered(Remedy::Kind::kFewerMembers), members > 0);
  EXPECT_EQ(is_offered(Remedy::Kind::kFewerDevices), devices > 0);
  for (const Remedy& r : offered)
    EXPECT_EQ(r.amount, r.kind == Remedy::Kind::kFewerMembers   ? members
                        : r.kind == Remedy::Kind::kFewerDevices ? devices
                                                                : r.amount);
  EXPECT_EQ(is_offered(Remedy::Kind::kDropWithin), !w.within.is_none() && within(w, LevelId::none()).starts());
  EXPECT_EQ(is_offered(Remedy::Kind::kWidenWithin), w.within == LevelId(1u) && within(w, LevelId(0u)).starts());
  const bool has_limits = w.of_team[0] != kUnlimited || w.of_company[1] != kUnlimited;
  if (has_limits) return;
  EXPECT_EQ(is_offered(Remedy::Kind::kFreeDevices), fewest_devices_to_free(w) > 0) << fewest_devices_to_free(w);
}

TEST(Remedies, HelpWhenTheyAreDoneAndNoneIsMissed) {
  Rng rng(20261122);
  int waiting = 0, offered = 0, most_tries = 0;
  for (int round = 0; round < 400 && !testing::Test::HasFailure(); ++round) {
    const World w = some_world(rng);
    State s;
    w.tell_all(s);
    Engine engine(*builtin_profile("ashlar"));
    engine.decide(s, Millis(0));
    if (s.job(kJob).members_placed >= w.members_min) continue;
    ++waiting;
    SCOPED_TRACE("world " + std::to_string(round) + ": " + text_of(w));
    const std::uint64_t digest = s.digest();
    int tries = 0;
    const std::vector<Remedy> remedies =
        find_remedies(s, engine, kJob, {.counts_devices = {}, .node_names = {}, .tries = &tries});
    EXPECT_EQ(s.digest(), digest);
    EXPECT_LT(tries, kRemedyTriesMax) << "no small job needs them all";
    most_tries = std::max(most_tries, tries);
    offered += static_cast<int>(remedies.size());
    for (const Remedy& r : remedies) {
      SCOPED_TRACE("remedy " + std::to_string(static_cast<int>(r.kind)));
      expect_helps(w, r);
    }
    if (w.is_uniform()) expect_nothing_is_missed(w, remedies);
  }
  EXPECT_GT(waiting, 150);
  EXPECT_GT(offered, 300);
  EXPECT_GT(most_tries, 10);
}

/// A gang of 2,048 in one of four racks. In three of them a node has cores for one member, in the fourth, which has the
/// fewest idle devices and so is searched last, for seven: 292 more of those would do. Each of the three takes 22
/// tries.
struct FourRacks {
  World world;
  State state;
  Engine engine{*builtin_profile("ashlar")};
  int tries = 0;
  std::vector<Remedy> found;

  explicit FourRacks(std::size_t members) {
    for (std::uint32_t n = 0; n < 4; ++n) {
      const std::int64_t cores = n < 3 ? 1 : 64;
      world.nodes.push_back({.allocatable = {cores * 1000, std::int64_t{1} << 40, 0, 100},
                             .devices = n < 3 ? 8 : 7,
                             .domains = {DomainId(n), DomainId(n)}});
    }
    // Racks, not names of nodes: where each domain is one node, no node is offered.
    world.nodes.push_back({.allocatable = {0, 0, 0, 0}, .devices = 0, .domains = {DomainId(3u), DomainId(4u)}});
    world.members.assign(members, {1, 1});
    world.members_min = static_cast<std::uint32_t>(members);
    world.within = LevelId(0u);
    world.tell_all(state);
    engine.decide(state, Millis(0));
    found = find_remedies(state, engine, kJob, {.counts_devices = {}, .node_names = {}, .tries = &tries});
  }
};

TEST(Remedies, EndWithTheTriesTheyHave) {
  const FourRacks all_searched(256);
  EXPECT_LT(all_searched.tries, kRemedyTriesMax);
  ASSERT_EQ(all_searched.found.size(), 2u);
  EXPECT_EQ(all_searched.found[1].node, NodeId(3u));
  EXPECT_EQ(all_searched.found[1].amount, 36);

  const FourRacks cut_short(2048);
  EXPECT_EQ(cut_short.tries, kRemedyTriesMax);
  ASSERT_EQ(cut_short.found.size(), 2u);
  EXPECT_EQ(cut_short.found[0].kind, Remedy::Kind::kFewerMembers);
  EXPECT_EQ(cut_short.found[0].amount, 7);
  const Remedy& nodes = cut_short.found[1];
  EXPECT_EQ(nodes.kind, Remedy::Kind::kMoreNodes);
  EXPECT_EQ(nodes.node, NodeId(3u));
  EXPECT_GT(nodes.amount, 292) << "the fewest were not reached";
  EXPECT_LT(nodes.amount, 2 * 292);
  EXPECT_TRUE(with_nodes(cut_short.world, nodes.node, nodes.amount).starts()) << "what is offered helps all the same";
}

/// How many tries a job of that many kinds has among that many nodes, where its queue is held, which costs no placement.
int tries_of(std::uint32_t kinds, std::uint32_t nodes) {
  constexpr QueueId kHeld{1u};
  State s = small_state(nodes);
  QueueDefined held{kHeld, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}};
  held.gate.is = QueueGate::Is::kHeld;
  tell(s, held);
  Workload gang = workload(0, 0, kinds, kOneDevice);
  gang.queue = kHeld;
  for (std::uint32_t k = 0; k < kinds; ++k) {
    gang.members[k].demand = DemandId(20 + k);
    tell(s, DemandDefined{DemandId(20 + k), {.amounts = {{resource::kCpu, k + 1}}}});
  }
  tell(s, Submitted{gang});
  const Engine engine(*builtin_profile("ashlar"));
  Rehearsal rehearsal(s, engine, JobId(0u), {});
  while (!rehearsal.is_used_up()) EXPECT_FALSE(rehearsal.starts({}));
  return rehearsal.tries();
}

/// Each looks at each node for each kind of members.
TEST(Remedies, HaveFewerTriesTheMoreKindsAndNodesThereAre) {
  EXPECT_EQ(tries_of(1, 2000), kRemedyTriesMax);
  const int of_many = tries_of(1000, 1000);
  EXPECT_LT(of_many, kRemedyTriesMax);
  EXPECT_EQ(of_many, tries_of(500, 2000));
  EXPECT_EQ(of_many, 2 * tries_of(1000, 2000));
  EXPECT_GT(tries_of(10'000, 5000), 0) << "a few however many there are";
}

}  // namespace
}  // namespace ashlar
