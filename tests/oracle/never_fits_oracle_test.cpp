// NeverFits against brute force on the empty cluster: of whom the engine says that it can never run, no arrangement may
// exist though everybody else were gone, every node ready and no taint in the way. A job that can never run and yet is
// left to wait is counted.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "draw.h"
#include "engine/engine.h"

namespace ashlar::oracle {
namespace {

constexpr int kJobs = 40'000;

struct NeverFitsTally {
  int waiting = 0, never = 0, wrong_never = 0, over_quota = 0, unknown = 0;
  std::string wrong_never_text;               ///< the first few
  std::map<std::string, int> waits_for_ever;  ///< by kind
  std::map<std::string, std::uint64_t> example;
};

/// Compares what is said of every job of which nothing is placed.
void compare(const PlainWorld& world, const State& state, const Engine& engine, std::uint64_t seed,
             NeverFitsTally& tally) {
  for (std::size_t j = 0; j < world.jobs.size(); ++j) {
    const JobId job(j);
    if (!state.job(job).is_in_backlog || state.job(job).members_placed > 0) continue;
    ++tally.waiting;
    const bool is_never = engine.verdict_of(job).kind == VerdictKind::kNeverFits;
    const Answer could = could_ever_run(world, static_cast<int>(j));
    tally.never += is_never ? 1 : 0;
    tally.unknown += could == Answer::kUnknown ? 1 : 0;
    const std::string kind = kind_of(world, static_cast<int>(j));
    if (is_never && could == Answer::kYes && tally.wrong_never++ < 5)
      tally.wrong_never_text += "\nseed " + std::to_string(seed) + ": job " + std::to_string(j) + ", " + kind;
    if (is_never || could != Answer::kNo) continue;
    // the quota is asked first; whether it would fit then is not
    if (engine.verdict_of(job).kind == VerdictKind::kOverQuota) {
      ++tally.over_quota;
      continue;
    }
    ++tally.waits_for_ever[kind];
    tally.example.emplace(kind, seed);
  }
}

void decide_and_compare(const PlainWorld& world, std::uint64_t seed, NeverFitsTally& tally) {
  Profile profile = *builtin_profile("ashlar");
  profile.blocking = Blocking::kSkip;
  Engine engine(std::move(profile));
  State state;
  for (const Event& event : events_of(world)) apply(state, event);
  while (engine.decide(state, Millis(1000)).look_again_at <= Millis(1000)) continue;
  compare(world, state, engine, seed, tally);
}

void expect_nothing_wrong(const char* what, int instances, const DrawOptions& options) {
  NeverFitsTally tally;
  for (int i = 0; i < instances; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    Rng rng(seed);
    DrawOptions drawn = options;
    drawn.has_running = i % 3 != 0;
    decide_and_compare(draw_world(rng, drawn), seed, tally);
  }
  int waits_for_ever = 0;
  for (const auto& [kind, count] : tally.waits_for_ever) waits_for_ever += count;
  std::printf(
      "never-fits oracle, %s: %d instances, %d jobs wait, of %d said never, %d of them wrongly; %d wait for ever, %d "
      "others for quota first; %d not searched to the end\n",
      what, instances, tally.waiting, tally.never, tally.wrong_never, waits_for_ever, tally.over_quota, tally.unknown);
  for (const auto& [kind, count] : tally.waits_for_ever)
    std::printf("  %4d %s (for example seed %llu)\n", count, kind.c_str(),
                static_cast<unsigned long long>(tally.example.at(kind)));
  EXPECT_EQ(tally.wrong_never, 0) << tally.wrong_never_text;
  EXPECT_GT(tally.never, tally.waiting / 20);
  EXPECT_LT(tally.unknown, tally.waiting / 100);
  for (const auto& [kind, count] : tally.waits_for_ever)
    ADD_FAILURE() << count << " wait for ever: " << kind << ", seed " << tally.example.at(kind);
}

TEST(NeverFitsOracle, IsSaidOnlyOfWhoCanNotRunOnTheEmptyCluster) { expect_nothing_wrong("all jobs", kJobs, {}); }
TEST(NeverFitsOracle, OfGangsOfGroupsToo) {
  expect_nothing_wrong("gangs of groups", kJobs / 2, {.nodes_max = 6, .members_max = 7, .has_groups = true});
}

TEST(NeverFitsOracle, OfMembersThatNameCapabilitiesToo) {
  expect_nothing_wrong("capabilities", kJobs / 4, {.has_capabilities = true});
}

/// One node of two devices that somebody uses, and a gang of two members of one device each.
TEST(NeverFitsOracle, LooksAtTheEmptyClusterAndNotAtTheFullOne) {
  PlainWorld world;
  PlainNode node;
  node.devices = 2;
  node.has = {8, 64, 4, 0};
  node.is_ready = false;
  node.taint = static_cast<int>(TaintEffect::kNoSchedule);
  world.nodes = {node};
  world.demands = {{.asks = {1, 0, 1, 0}, .devices = 1}};
  world.constraints = {{}, {.model = 1}};
  world.jobs = {{.members = {{0, 0, 0, {0}}}}, {.members = {{0, 0, kNowhere, {}}, {0, 0, kNowhere, {}}}, .min = 2}};
  EXPECT_EQ(could_ever_run(world, 1), Answer::kYes);
  world.jobs[1].members[1].constraint = 1;
  EXPECT_EQ(could_ever_run(world, 1), Answer::kNo);
  world.jobs[1].members[1].constraint = 0;
  world.demands[0].port = 80;
  EXPECT_EQ(could_ever_run(world, 1), Answer::kNo);
}

/// The comparison sees an engine that has said nothing yet as one that lets the job wait for ever.
TEST(NeverFitsOracle, CountsWhoWaitsForEver) {
  PlainWorld world;
  PlainNode node;
  node.has = {8, 64, 4, 0};
  world.nodes = {node};
  world.demands = {{.asks = {9, 0, 1, 0}}};
  world.constraints = {{}};
  world.jobs = {{.members = {{0, 0, kNowhere, {}}}}};
  State state;
  for (const Event& event : events_of(world)) apply(state, event);
  NeverFitsTally tally;
  compare(world, state, Engine(*builtin_profile("ashlar")), 0, tally);
  EXPECT_EQ(tally.waits_for_ever, (std::map<std::string, int>{{"single", 1}}));
}

}  // namespace
}  // namespace ashlar::oracle
