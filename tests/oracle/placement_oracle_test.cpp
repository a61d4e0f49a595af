// Placement against brute force: what the engine places breaks no rule, and what it refuses cannot be placed. On more
// nodes than it searches exactly, a gang of unlike members may be refused though it has a place; those are counted by
// kind.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>

#include "draw.h"
#include "engine/engine.h"
#include "engine/place/small_packing.h"

namespace ashlar::oracle {
namespace {

constexpr int kPlacements = 100'000, kGangPlacements = 40'000;
constexpr int kNodesBeyondMax = 12;       ///< in one of ten
constexpr int kStepsPerInstanceMax = 50;  ///< elastic members come one by one

Profile profile_number(int i) {
  Profile profile = *builtin_profile(i % 3 == 2 ? "spread" : "ashlar");
  profile.blocking = Blocking::kSkip;
  if (i % 7 == 6) {
    profile.tiers = {{find_score("random")}};
    profile.device = find_device("random");
  }
  return profile;
}

struct Outcome {
  PlainWorld after;
  std::string broken;
};

/// Lets the engine decide until it comes to rest.
Outcome decided(const PlainWorld& world, Engine& engine) {
  Outcome outcome{world, ""};
  State state;
  for (const Event& event : events_of(world)) apply(state, event);
  for (int step = 0; step < kStepsPerInstanceMax; ++step) {
    const Plan plan = engine.decide(state, Millis(1000));
    std::vector<PlainBind> binds;
    for (const Action& action : plan.actions) {
      const Bind& bind = std::get<Bind>(action);
      binds.push_back(bind_of(world, bind.member.value, bind.node.value, bind.devices));
    }
    outcome.broken = broken_rule(outcome.after, binds);
    if (!outcome.broken.empty() || plan.look_again_at > Millis(1000)) break;
  }
  return outcome;
}

struct PlacementTally {
  int asked = 0, placed = 0, unknown = 0;
  int wrong_yes = 0;
  std::string wrong_yes_text;  ///< the first few
  std::map<std::string, int> wrong_no;
  std::map<std::string, int> wrong_no_beyond;    ///< on more nodes than are searched exactly
  int instances_beyond = 0, refused_beyond = 0;  ///< refused rightly there
  std::map<std::string, std::uint64_t> example;  ///< a seed for each kind
};

bool is_beyond(const PlainWorld& world) { return world.nodes.size() > kPackingNodesMax; }

void count_refused(const Outcome& outcome, std::uint64_t seed, PlacementTally& tally) {
  for (std::size_t j = 0; j < outcome.after.jobs.size(); ++j) {
    const PlainJob& job = outcome.after.jobs[j];
    if (!job.is_ours || job.placed() == static_cast<int>(job.members.size())) continue;
    const Answer answer = can_be_placed(outcome.after, static_cast<int>(j));
    tally.unknown += answer == Answer::kUnknown ? 1 : 0;
    tally.refused_beyond += answer == Answer::kNo && is_beyond(outcome.after) ? 1 : 0;
    if (answer != Answer::kYes) continue;
    const std::string kind = kind_of(outcome.after, static_cast<int>(j));
    ++(is_beyond(outcome.after) && kind.starts_with("unlike") ? tally.wrong_no_beyond : tally.wrong_no)[kind];
    tally.example.emplace(kind, seed);
  }
}

int sum_of(const std::map<std::string, int>& by_kind) {
  int sum = 0;
  for (const auto& [kind, count] : by_kind) sum += count;
  return sum;
}

void print(const char* what, int instances, const PlacementTally& tally) {
  std::printf(
      "%s: %d instances, %d members asked for, %d placed, %d wrong yes, %d wrong no, %d not searched to the end\n",
      what, instances, tally.asked, tally.placed, tally.wrong_yes, sum_of(tally.wrong_no), tally.unknown);
  std::printf("%s: %d instances of more than %zu nodes: %d jobs refused rightly, %d wrong no\n", what,
              tally.instances_beyond, kPackingNodesMax, tally.refused_beyond, sum_of(tally.wrong_no_beyond));
  for (const auto* wrong : {&tally.wrong_no, &tally.wrong_no_beyond})
    for (const auto& [kind, count] : *wrong)
      std::printf("  %4d %s (for example seed %llu)\n", count, kind.c_str(),
                  static_cast<unsigned long long>(tally.example.at(kind)));
}

int members_placed(const PlainWorld& world) {
  int placed = 0;
  for (const PlainJob& job : world.jobs) placed += job.placed();
  return placed;
}

PlacementTally tally_of(int instances, const std::function<DrawOptions(int)>& options_of) {
  PlacementTally tally;
  for (int i = 0; i < instances; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    Rng rng(seed);
    const PlainWorld world = draw_world(rng, options_of(i));
    tally.instances_beyond += is_beyond(world) ? 1 : 0;
    Engine engine(profile_number(i));
    const Outcome outcome = decided(world, engine);
    if (!outcome.broken.empty()) {
      if (tally.wrong_yes++ < 5) tally.wrong_yes_text += "\nseed " + std::to_string(seed) + ": " + outcome.broken;
      continue;
    }
    for (const PlainJob& job : world.jobs) tally.asked += static_cast<int>(job.members.size()) - job.placed();
    tally.placed += members_placed(outcome.after) - members_placed(world);
    count_refused(outcome, seed, tally);
  }
  return tally;
}

TEST(PlacementOracle, NothingIsPlacedWrongAndWhatIsRefusedIsCounted) {
  const PlacementTally tally = tally_of(kPlacements, [](int i) {
    return DrawOptions{.nodes_max = i % 10 == 9 ? kNodesBeyondMax : DrawOptions().nodes_max};
  });
  print("placement oracle", kPlacements, tally);
  EXPECT_EQ(tally.wrong_yes, 0) << tally.wrong_yes_text;
  EXPECT_GT(tally.placed, tally.asked / 4) << "the drawn worlds are too full to say anything";
  EXPECT_LT(tally.unknown, kPlacements / 50);
  for (const auto& [kind, count] : tally.wrong_no)
    ADD_FAILURE() << count << " feasible jobs refused: " << kind << ", seed " << tally.example.at(kind);
  EXPECT_GT(tally.instances_beyond, 1000);
  EXPECT_LT(sum_of(tally.wrong_no_beyond), tally.refused_beyond / 100);
}

/// Every assignment of groups to domains is tried.
TEST(PlacementOracle, GangsOfGroupsArePlacedWhereverTheyFit) {
  const PlacementTally tally =
      tally_of(kGangPlacements, [](int) { return DrawOptions{.nodes_max = 6, .members_max = 7, .has_groups = true}; });
  print("placement oracle, gangs of groups", kGangPlacements, tally);
  EXPECT_EQ(tally.wrong_yes, 0) << tally.wrong_yes_text;
  EXPECT_GT(tally.placed, tally.asked / 4);
  EXPECT_LT(tally.unknown, kGangPlacements / 10) << "groups torn apart by others may go on anywhere";
  for (const auto& [kind, count] : tally.wrong_no)
    ADD_FAILURE() << count << " feasible jobs refused: " << kind << ", seed " << tally.example.at(kind);
}

/// Which devices a member may have, whole nodes and unlike ones.
TEST(PlacementOracle, WhereMembersNameCapabilities) {
  const PlacementTally tally = tally_of(kGangPlacements, [](int) { return DrawOptions{.has_capabilities = true}; });
  print("placement oracle, capabilities", kGangPlacements, tally);
  EXPECT_EQ(tally.wrong_yes, 0) << tally.wrong_yes_text;
  EXPECT_GT(tally.placed, tally.asked / 4);
  EXPECT_LT(tally.unknown, kGangPlacements / 50);
  for (const auto& [kind, count] : tally.wrong_no)
    ADD_FAILURE() << count << " feasible jobs refused: " << kind << ", seed " << tally.example.at(kind);
}

/// Two nodes of two devices in two racks of one rail; one waiting gang of two.
PlainWorld two_racks() {
  PlainWorld world;
  world.nested = 1;
  world.orthogonal = 1;
  for (int n = 0; n < 2; ++n) {
    PlainNode node;
    node.devices = 2;
    node.device_mib = 80'000;
    node.has = {8, 64, 4, 0};
    node.domain = {n, 0, kNowhere, kNowhere};
    world.nodes.push_back(node);
  }
  PlainDemand whole{.asks = {1, 0, 1, 0}, .devices = 1};
  PlainDemand share{.asks = {1, 0, 1, 0}, .devices = 1, .milli = 600, .mib = 50'000};
  PlainDemand ported{.asks = {5, 0, 1, 0}, .port = 80};
  world.demands = {whole, share, ported};
  world.constraints = {{}, {.model = 1}};
  PlainJob gang;
  gang.members = {{0, 0, kNowhere, {}}, {0, 0, kNowhere, {}}};
  gang.min = 2;
  world.jobs = {gang};
  return world;
}

TEST(PlacementOracle, SeesEveryRuleThatAPlanBreaks) {
  const auto fault = [](PlainWorld world, std::vector<PlainBind> binds) { return broken_rule(world, binds); };
  const PlainWorld plain = two_racks();
  EXPECT_EQ(fault(plain, {{0, 0, 0, {0}}, {0, 1, 1, {0}}}), "");
  EXPECT_EQ(fault(plain, {{0, 0, 0, {0}}}), "job 0 is below its minimum");
  EXPECT_EQ(fault(plain, {{0, 0, 0, {0}}, {0, 1, 0, {0}}}), "job 0 member 1 on node 0, which has the card in use");
  EXPECT_EQ(fault(plain, {{0, 0, 0, {}}, {0, 1, 1, {0}}}),
            "job 0 member 0 on node 0, which gives not as many cards as asked");
  EXPECT_EQ(fault(plain, {{0, 0, 0, {2}}, {0, 1, 1, {0}}}), "job 0 member 0 on node 0, which has no such card");
  PlainWorld within = plain;
  within.jobs[0].within = 0;
  EXPECT_EQ(fault(within, {{0, 0, 0, {0}}, {0, 1, 1, {0}}}), "job 0 is spread over domains");
  within.jobs[0].within = 1;
  EXPECT_EQ(fault(within, {{0, 0, 0, {0}}, {0, 1, 1, {0}}}), "");
  within.jobs[0].within = 0;
  within.jobs[0].members.push_back({0, 0, 0, {0}});
  EXPECT_EQ(fault(within, {{0, 0, 1, {0}}, {0, 1, 1, {1}}}), "job 0 is away from its other members");
  PlainWorld tainted = plain;
  tainted.nodes[0].taint = static_cast<int>(TaintEffect::kNoExecute);
  EXPECT_EQ(fault(tainted, {{0, 0, 0, {0}}, {0, 1, 1, {0}}}), "job 0 member 0 on node 0, which has a taint");
  PlainWorld other_model = plain;
  other_model.jobs[0].members[0].constraint = 1;
  EXPECT_EQ(fault(other_model, {{0, 0, 0, {0}}, {0, 1, 1, {0}}}), "job 0 member 0 on node 0, which has another model");
  PlainWorld shares = plain;
  for (PlainMember& m : shares.jobs[0].members) m.demand = 1;
  EXPECT_EQ(fault(shares, {{0, 0, 0, {0}}, {0, 1, 0, {0}}}),
            "job 0 member 1 on node 0, which has too little of the card left");
  shares.demands[1].milli = 300;
  EXPECT_EQ(fault(shares, {{0, 0, 0, {0}}, {0, 1, 0, {0}}}),
            "job 0 member 1 on node 0, which has too little memory on the card left");
  PlainWorld ports = plain;
  for (PlainMember& m : ports.jobs[0].members) m.demand = 2;
  EXPECT_EQ(fault(ports, {{0, 0, 0, {}}, {0, 1, 0, {}}}),
            "job 0 member 1 on node 0, which has too little of resource 0");
  ports.demands[2].asks[kCores] = 1;
  EXPECT_EQ(fault(ports, {{0, 0, 0, {}}, {0, 1, 0, {}}}), "job 0 member 1 on node 0, which has its port taken");
  PlainWorld quota = plain;
  quota.queues.push_back({0, 1000, kUnlimited});
  quota.jobs[0].queue = 1;
  EXPECT_EQ(fault(quota, {{0, 0, 0, {0}}, {0, 1, 1, {0}}}), "job 0 member 1 exceeds the quota of queue 1");
}

TEST(PlacementOracle, FindsTheOnlyArrangementAndKnowsWhereThereIsNone) {
  PlainWorld world = two_racks();
  EXPECT_EQ(can_be_placed(world, 0), Answer::kYes);
  // A member of two devices and two of one: the small ones must share a node, whichever is placed first.
  PlainDemand both{.asks = {1, 0, 1, 0}, .devices = 2};
  world.demands.push_back(both);
  world.jobs[0].members = {{0, 0, kNowhere, {}}, {3, 0, kNowhere, {}}, {0, 0, kNowhere, {}}};
  world.jobs[0].min = 3;
  EXPECT_EQ(can_be_placed(world, 0), Answer::kYes);
  world.jobs[0].within = 0;
  EXPECT_EQ(can_be_placed(world, 0), Answer::kNo);
  world.jobs[0].within = 1;
  EXPECT_EQ(can_be_placed(world, 0), Answer::kYes);
  world.jobs.push_back({.members = {{1, 0, 0, {1}}}});
  EXPECT_EQ(can_be_placed(world, 0), Answer::kNo);
  EXPECT_EQ(could_ever_run(world, 0), Answer::kYes);
}

TEST(PlacementOracle, KnowsWhatGroupsMayDo) {
  PlainWorld world = two_racks();
  PlainJob& gang = world.jobs[0];
  gang.groups = {{.min = 1, .within = 0}, {.min = 1, .within = 0}};
  gang.members[1].group = 1;
  EXPECT_EQ(can_be_placed(world, 0), Answer::kYes);
  world.demands[0].devices = 2;
  EXPECT_EQ(can_be_placed(world, 0), Answer::kYes) << "a rack for each";
  const auto fault = [&](std::vector<PlainBind> binds) {
    PlainWorld tried = world;
    return broken_rule(tried, binds);
  };
  EXPECT_EQ(fault({{0, 0, 0, {0, 1}}, {0, 1, 1, {0, 1}}}), "");
  EXPECT_EQ(fault({{0, 0, 0, {0, 1}}}), "job 0: group 1 is below its minimum");
  gang.members[1].group = 0;
  gang.groups = {{.min = 2, .within = 0}};
  EXPECT_EQ(can_be_placed(world, 0), Answer::kNo) << "one rack for both";
  EXPECT_EQ(fault({{0, 0, 0, {0, 1}}, {0, 1, 1, {0, 1}}}), "job 0: group 0 is spread over domains");
  gang.groups[0].within = 1;
  EXPECT_EQ(can_be_placed(world, 0), Answer::kYes) << "they are on one rail";
  gang.members[0].put(0, {0, 1});
  EXPECT_EQ(gang.waiting(gang.needed()), std::vector<int>{1});
  gang.groups[0].within = 0;
  EXPECT_EQ(can_be_placed(world, 0), Answer::kNo);
  EXPECT_EQ(fault({{0, 1, 1, {0, 1}}}), "job 0: group 0 is away from its other members");
}

/// An engine that refuses what fits, or does not decide at all, would be seen.
TEST(PlacementOracle, CountsAJobThatIsLeftWaitingForNothing) {
  PlacementTally tally;
  count_refused({two_racks(), ""}, 7, tally);
  EXPECT_EQ(tally.wrong_no, (std::map<std::string, int>{{"uniform", 1}}));
}

}  // namespace
}  // namespace ashlar::oracle
