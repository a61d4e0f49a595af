// Random histories: two thousand lives of small clusters in the simulated world, each played twice. After every step:
// nothing is oversubscribed, no `within` is broken, nothing is lost or forgotten, and no reason was untrue when it was
// given; the second play, without the restarts of the first, is the same to the last byte. ASHLAR_HISTORY=SEED ./dev
// test oracle -- --gtest_filter='Histories.*' repeats one.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "base/digest.h"
#include "known.h"
#include "story.h"

namespace ashlar::oracle {
namespace {

constexpr std::uint64_t kHistories = 2000, kGangHistories = 700;

/// Leaves out of the script what the fault does not need.
Story shrunk(Story story, const PlayOptions& options) {
  for (std::size_t i = story.script.size(); i-- > 0;) {
    Story shorter = story;
    shorter.script.erase(shorter.script.begin() + static_cast<std::ptrdiff_t>(i));
    if (!is_definition(story.script[i]) && !play(shorter, options).fault.empty()) story = std::move(shorter);
  }
  return story;
}

std::string told(const Story& story) {
  std::string text = std::to_string(story.drawn.nodes.size()) + " nodes, profile " + story.profile.name;
  for (const sim::ScriptedEvent& scripted_event : story.script) {
    const auto* body = std::get_if<EventBody>(&scripted_event.what);
    if (body == nullptr || scripted_event.at == Millis(0)) continue;
    text += "\n  " + std::to_string(scripted_event.at.value) + " ms " + std::string(kind_name(*body));
    if (const auto* e = std::get_if<Submitted>(body)) text += " job " + std::to_string(e->workload.job.row());
    if (const auto* e = std::get_if<Ended>(body)) text += " job " + std::to_string(e->job.row());
    if (const auto* e = std::get_if<NodeGone>(body)) text += " node " + std::to_string(e->node.row());
    if (const auto* e = std::get_if<NodeSeen>(body)) text += " node " + std::to_string(e->node.row());
  }
  return text;
}

struct Counts {
  long steps = 0, placed = 0, refused = 0, lost = 0, ended = 0, restarts = 0, from_snapshots = 0;
  long restless = 0;  ///< of a profile that is known not to come to rest always
  /// what all events, plans and states come to: two builds that print the same decided the same
  std::uint64_t plans = 0;
  Heard heard;
};

std::string listed(const std::map<ReasonCode, long>& reasons) {
  std::string text;
  for (const auto& [code, count] : reasons)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(reason_name(code));
  return text.empty() ? "none" : text;
}

bool is_known(const Story& story, const Played& played) {
  return !kTiresiasComesToRest && story.profile.name == "tiresias" && played.fault.ends_with("does not come to rest");
}

void play_twice(const Story& story, Counts& counts) {
  const std::uint64_t seed = story.seed;
  const PlayOptions with_restarts{.restarts_seed = seed + 1};
  const Played first = play(story, with_restarts);
  counts.steps += static_cast<long>(first.steps.size());
  for (const PlayedStep& step : first.steps)
    for (const std::uint64_t part : {static_cast<std::uint64_t>(step.at.value), step.events, step.plan, step.state})
      counts.plans = hash_combine(counts.plans, part);
  counts.placed += first.placed;
  counts.refused += first.refused;
  counts.lost += first.lost;
  counts.ended += first.ended;
  counts.restarts += first.restarts;
  counts.from_snapshots += first.from_snapshots;
  for (const auto& [code, count] : first.heard.judged) counts.heard.judged[code] += count;
  for (const auto& [code, count] : first.heard.passed) counts.heard.passed[code] += count;
  counts.heard.not_new += first.heard.not_new;
  counts.heard.of_stoppers += first.heard.of_stoppers;
  if (is_known(story, first)) {
    ++counts.restless;
  } else if (!first.fault.empty()) {
    const Story shorter = shrunk(story, with_restarts);
    ADD_FAILURE() << "ASHLAR_HISTORY=" << seed << " " << first.fault
                  << "\nshorter: " << play(shorter, with_restarts).fault << "\n"
                  << told(shorter);
    return;
  }
  EXPECT_EQ(play(story).steps, first.steps) << "ASHLAR_HISTORY=" << seed << " differs when it is played again";
}

void play_twice(std::uint64_t seed, Counts& counts, const StoryOptions& options = {}) {
  play_twice(draw_story(seed, options), counts);
}

/// The histories under another limit of the engine.
template <class Change>
void play_all_twice_with(Change&& change, Counts& counts) {
  for (std::uint64_t seed = 0; seed < kGangHistories && !::testing::Test::HasFailure(); ++seed) {
    Story story = draw_story(seed);
    change(story);
    play_twice(story, counts);
  }
  EXPECT_GT(counts.placed, 3'000);
  EXPECT_GT(counts.from_snapshots, 100);
}

TEST(Histories, WhereEachIsWokenInItsTurnKeepEveryRuleAndAreTheSameTwice) {
  Counts counts;
  play_all_twice_with([](Story& story) { story.woken_at_once_max = 0; }, counts);
  std::printf("history oracle: %llu histories twice in which each job is woken in its turn, %ld members placed\n",
              static_cast<unsigned long long>(kGangHistories), counts.placed);
}

TEST(Histories, WhereADecisionExplainsOneKindKeepEveryRuleAndAreTheSameTwice) {
  Counts counts;
  play_all_twice_with([](Story& story) { story.nodes_explained_max = 1; }, counts);
}

TEST(Histories, WhereGangsOfUnlikeMembersArePutOffKeepEveryRuleAndAreTheSameTwice) {
  Counts counts;
  play_all_twice_with([](Story& story) { story.costly_at_once_max = 1; }, counts);
}

TEST(Histories, OfGangsOfGroupsKeepEveryRuleAndAreTheSameTwice) {
  Counts counts;
  const StoryOptions options{.has_groups = true};
  if (const char* seed = std::getenv("ASHLAR_GANG_HISTORY"); seed != nullptr)
    return play_twice(std::strtoull(seed, nullptr, 10), counts, options);
  for (std::uint64_t seed = 0; seed < kGangHistories && !::testing::Test::HasFailure(); ++seed)
    play_twice(seed, counts, options);
  std::printf("history oracle: %llu histories of gangs of groups twice, %ld members placed, %ld restarts\n",
              static_cast<unsigned long long>(kGangHistories), counts.placed, counts.restarts);
  std::printf("history oracle: reasons judged there: %s\n", listed(counts.heard.judged).c_str());
  EXPECT_GT(counts.heard.judged[ReasonCode::kGroupFragmented], 100);
  EXPECT_GT(counts.placed, 3'000);
  EXPECT_GT(counts.restarts, 150);
}

/// The mirror knows no holds, so rules are not checked here.
TEST(Histories, OfAllTogetherAreTheSameAfterRestarts) {
  Counts counts;
  for (std::uint64_t seed = 0; seed < kGangHistories && !::testing::Test::HasFailure(); ++seed) {
    const Story story = draw_story(seed, {.has_nominations = true,
                                          .has_holds = true,
                                          .has_evictions = true,
                                          .has_groups = true,
                                          .has_unlike_devices = true,
                                          .has_capabilities = true});
    const Played first = play(story, {.has_checks = false, .restarts_seed = seed + 1});
    counts.placed += first.placed;
    counts.restarts += first.restarts;
    counts.from_snapshots += first.from_snapshots;
    if (!is_known(story, first)) {
      EXPECT_EQ(first.fault, "") << "seed " << seed;
    }
    EXPECT_EQ(play(story, {.has_checks = false}).steps, first.steps) << "seed " << seed;
  }
  std::printf(
      "history oracle: %llu histories of all together twice, %ld members placed, %ld restarts, %ld of them "
      "from a snapshot\n",
      static_cast<unsigned long long>(kGangHistories), counts.placed, counts.restarts, counts.from_snapshots);
  EXPECT_GT(counts.placed, 3'000);
  EXPECT_GT(counts.from_snapshots, 150);
}

TEST(Histories, KeepEveryRuleAndAreTheSameTwice) {
  Counts counts;
  if (const char* seed = std::getenv("ASHLAR_HISTORY"); seed != nullptr)
    return play_twice(std::strtoull(seed, nullptr, 10), counts);
  for (std::uint64_t seed = 0; seed < kHistories && ::testing::Test::HasFailure() == false; ++seed)
    play_twice(seed, counts);
  std::printf(
      "history oracle: %llu histories twice, %ld steps, %ld members placed, %ld binds refused, %ld nodes lost, %ld "
      "jobs ended, %ld restarts from the "
      "log's bytes, "
      "%ld of them from a snapshot\n",
      static_cast<unsigned long long>(kHistories), counts.steps, counts.placed, counts.refused, counts.lost,
      counts.ended, counts.restarts, counts.from_snapshots);
  std::printf("history oracle: digest of all plans and states: %016llx\n",
              static_cast<unsigned long long>(counts.plans));
  std::printf("history oracle: known: %ld histories of tiresias do not come to rest\n", counts.restless);
  std::printf("history oracle: reasons judged: %s\n", listed(counts.heard.judged).c_str());
  std::printf(
      "history oracle: reasons let pass for want of a judge: %s; %ld verdicts that were reached for another job "
      "before, %ld of profiles that stop jobs\n",
      listed(counts.heard.passed).c_str(), counts.heard.not_new, counts.heard.of_stoppers);
  EXPECT_EQ(counts.restless == 0, kTiresiasComesToRest);
  for (const ReasonCode code : {ReasonCode::kBehindHead, ReasonCode::kReservationHeld})
    EXPECT_GT(counts.heard.judged[code], 100) << reason_name(code);
  EXPECT_GT(counts.placed, 10'000);
  EXPECT_GT(counts.refused, 500);
  EXPECT_GT(counts.lost, 500);
  EXPECT_GT(counts.restarts, 500);
  EXPECT_GT(counts.from_snapshots, 500);
}

/// The same on nodes of which many have devices of two models, of unlike memory, or cut into slices.
TEST(Histories, WithUnlikeDevicesKeepEveryRuleAndAreTheSameTwice) {
  const StoryOptions options{.has_unlike_devices = true};
  Counts counts;
  if (const char* seed = std::getenv("ASHLAR_HISTORY"); seed != nullptr)
    return play_twice(std::strtoull(seed, nullptr, 10), counts, options);
  for (std::uint64_t seed = 0; seed < kHistories / 2 && ::testing::Test::HasFailure() == false; ++seed)
    play_twice(seed, counts, options);
  std::printf(
      "history oracle: %llu histories on nodes with unlike devices twice, %ld members placed, %ld restarts; reasons "
      "judged: %s\n",
      static_cast<unsigned long long>(kHistories / 2), counts.placed, counts.restarts,
      listed(counts.heard.judged).c_str());
  for (const ReasonCode code : {ReasonCode::kInsufficientGpu, ReasonCode::kModelMismatch})
    EXPECT_GT(counts.heard.judged[code], 100) << reason_name(code);
  EXPECT_GT(counts.placed, 5'000);
  EXPECT_GT(counts.restarts, 250);
}

/// Plays the first histories, or the one that ASHLAR_HISTORY names: then it returns false.
template <class OptionsOf>
bool play_all_twice(std::uint64_t histories, Counts& counts, OptionsOf&& options) {
  if (const char* text = std::getenv("ASHLAR_HISTORY"); text != nullptr) {
    const std::uint64_t seed = std::strtoull(text, nullptr, 10);
    play_twice(seed, counts, options(seed));
    return false;
  }
  for (std::uint64_t seed = 0; seed < histories && !::testing::Test::HasFailure(); ++seed)
    play_twice(seed, counts, options(seed));
  return true;
}

/// The same where jobs name capabilities, and models get and lose them; every other one on unlike devices.
TEST(Histories, WithCapabilitiesKeepEveryRuleAndAreTheSameTwice) {
  const auto options = [](std::uint64_t seed) {
    return StoryOptions{.has_unlike_devices = seed % 2 == 1, .has_capabilities = true};
  };
  Counts counts;
  if (!play_all_twice(kHistories / 2, counts, options)) return;
  std::printf(
      "history oracle: %llu histories with capabilities twice, %ld members placed, %ld restarts; reasons judged: %s\n",
      static_cast<unsigned long long>(kHistories / 2), counts.placed, counts.restarts,
      listed(counts.heard.judged).c_str());
  EXPECT_GT(counts.heard.judged[ReasonCode::kCapabilityMissing], 100);
  EXPECT_GT(counts.placed, 5'000);
  EXPECT_GT(counts.restarts, 250);
}

/// The same while other schedulers nominate nodes for pods of theirs, also of gangs of groups and on unlike devices.
TEST(Histories, WithNominationsKeepEveryRuleAndAreTheSameTwice) {
  const auto options = [](std::uint64_t seed) {
    return StoryOptions{.has_nominations = true, .has_groups = seed % 4 >= 2, .has_unlike_devices = seed % 8 >= 4};
  };
  Counts counts;
  if (!play_all_twice(kHistories / 2, counts, options)) return;
  std::printf("history oracle: %llu histories with nominations twice, %ld members placed, %ld restarts\n",
              static_cast<unsigned long long>(kHistories / 2), counts.placed, counts.restarts);
  EXPECT_GT(counts.placed, 5'000);
  EXPECT_GT(counts.restarts, 250);
}

}  // namespace
}  // namespace ashlar::oracle
