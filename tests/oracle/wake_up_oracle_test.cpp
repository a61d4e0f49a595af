// Wake-ups against looking at everything, by two judges. One has no engine code: after each decision nobody may wait
// whom nobody else may keep waiting and who can be placed on what is free then, whatever the arrangement. The other
// speaks for every profile: at each step of random histories a second engine that knows of no closed shape, and so
// looks at every waiting job, decides on a copy of the state. It must start the same jobs. What was closed or held, and
// would have been started, was slept through.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "draw.h"
#include "look_at_all.h"
#include "state/ledger.h"
#include "story.h"

namespace ashlar::oracle {
namespace {

constexpr std::uint64_t kWakeUpStories = 2000;

std::string text_of(const std::map<std::uint32_t, int>& members) {
  std::string text;
  for (const auto& [job, count] : members)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " of job " + std::to_string(job);
  return text.empty() ? "nothing" : text;
}

struct Counts {
  long decisions = 0, with_starts = 0;
  /// decisions by lot while a gang of unlike members waits, and those whose promises depend on who is looked at
  long left_out = 0;
  long falls = 0;  ///< decisions in which nominations fall: they go on, and the next one is judged
};

/// Who looks at a gang of unlike members, or of groups, draws for its first members though the last has no room, so where places are
/// drawn by lot it goes on with other draws.
bool has_unlike_waiting(const State& state) {
  for (std::size_t row = 0; row < state.job_rows(); ++row) {
    if (!state.is_live(JobId(row)) || !state.job(JobId(row)).is_in_backlog) continue;
    std::set<std::tuple<DemandId, ConstraintId, std::uint32_t>> kinds;
    state.each_member(JobId(row), [&](MemberId, const Member& m) {
      if (!m.is_placed()) kinds.insert({m.demand, m.constraint, m.group});
    });
    if (kinds.size() > 1) return true;
  }
  return false;
}

std::string slept_through(const Story& story, Counts& counts) {
  bool is_judged = true;
  std::map<std::uint32_t, int> expected;
  std::size_t nominations = 0;
  PlayOptions options{.has_checks = false};
  options.before = [&](const State& state, const Engine& engine, Millis now) {
    is_judged = engine.profile().device != find_device("random") || !has_unlike_waiting(state);
    nominations = state.nominations().size();
    if (is_judged) expected = started_by_looking_at_all(state, engine, now);
  };
  options.after = [&](const State& state, const Engine& engine, const Plan& plan) {
    const auto started = started_by(plan);
    is_judged = is_judged && !depends_on_the_look(state, engine, plan.at);
    if (state.nominations().size() < nominations && plan.look_again_at <= plan.at) {
      ++counts.falls;
      return std::string();
    }
    if (!is_judged) {
      ++counts.left_out;
      return std::string();
    }
    ++counts.decisions;
    counts.with_starts += started.empty() ? 0 : 1;
    return started == expected ? std::string()
                               : "who looks at all starts " + text_of(expected) + ", the engine " + text_of(started);
  };
  return play(story, options).fault;
}

/// Stories in which two of three have holds.
Story story_with_holds(std::uint64_t seed) {
  return draw_story(seed, {.has_preemption = false,
                           .has_nominations = seed % 2 == 1,
                           .has_holds = seed % 3 != 0,
                           .has_groups = seed % 4 >= 2,
                           .has_unlike_devices = seed % 8 >= 4});
}

TEST(WakeUpOracle, WhoLooksAtEverybodyStartsTheSame) {
  std::map<std::string, Counts> counts;
  std::map<std::string, int> slept;
  std::map<std::string, std::string> example;
  for (std::uint64_t seed = 0; seed < kWakeUpStories; ++seed) {
    const Story story = story_with_holds(seed);
    const std::string blocking(kBlockingNames[static_cast<std::size_t>(story.profile.blocking)]);
    const std::string fault = slept_through(story, counts[blocking]);
    if (fault.empty()) continue;
    ++slept[blocking];
    example.emplace(blocking, "seed " + std::to_string(seed) + " " + fault);
  }
  for (const auto& [blocking, count] : counts) {
    std::printf(
        "wake-up oracle: %s: %ld decisions, %ld of them start something, %d histories slept through a start; %ld "
        "decisions left "
        "out, by lot with a gang of unlike members or for a promise that depends on the look, and %ld that go on since "
        "nominations fell\n",
        blocking.c_str(), count.decisions, count.with_starts, slept[blocking], count.left_out, count.falls);
    EXPECT_GT(count.with_starts, 500);
    EXPECT_GT(count.falls, 30);
    EXPECT_EQ(slept[blocking], 0) << example[blocking];
  }
  EXPECT_EQ(counts.size(), 3u);
}

struct PlainCounts {
  long decisions = 0, singles = 0, gangs = 0, unlike = 0, within = 0, surplus = 0;
  long not_first = 0, not_searched = 0, not_done = 0;
  int slept = 0;
  std::string example;
};

/// May no other job keep it waiting? Under `skip` none may, under `strict` those ahead in its queue, under EASY all
/// that are ahead.
bool is_on_its_own(const PlainWorld& world, const Profile& profile, const std::vector<int>& waiting, int job) {
  return profile.blocking == Blocking::kSkip || std::none_of(waiting.begin(), waiting.end(), [&](int other) {
           const bool is_of_queue =
               world.jobs[static_cast<std::size_t>(other)].queue == world.jobs[static_cast<std::size_t>(job)].queue;
           return (is_of_queue || profile.blocking != Blocking::kStrict) &&
                  waits_ahead(world, order_of(profile), other, job);
         });
}

/// Empty, or a job that waits though it could be placed on what is free.
std::string waits_for_nothing(const PlainWorld& world, const Profile& profile, const std::vector<int>& waiting,
                              PlainCounts& counts) {
  for (const int job : waiting) {
    const PlainJob& of = world.jobs[static_cast<std::size_t>(job)];
    if (!is_on_its_own(world, profile, waiting, job)) {
      ++counts.not_first;
      continue;
    }
    const Answer answer = can_be_placed(without_outranked(world, job), job);
    if (answer == Answer::kYes)
      return "job " + std::to_string(job) + " (" + kind_of(world, job) + ") waits though there is room for it";
    if (answer == Answer::kUnknown) {
      ++counts.not_searched;
      continue;
    }
    ++(of.needed() == 1 ? counts.singles : counts.gangs);
    counts.unlike += kind_of(world, job).starts_with("unlike") ? 1 : 0;
    counts.within += of.within == kNowhere ? 0 : 1;
    counts.surplus += of.placed() >= of.min ? 1 : 0;
  }
  return "";
}

/// The fault of a story in which somebody waits for nothing.
std::string slept_in_plain(const Story& story, PlainCounts& counts) {
  PlayOptions options{.has_checks = false};
  options.after_in_plain = [&](const Mirror& mirror, const Plan& plan) {
    if (plan.look_again_at <= plan.at) {
      ++counts.not_done;
      return std::string();
    }
    ++counts.decisions;
    return waits_for_nothing(mirror.world(), story.profile, mirror.waiting(), counts);
  };
  return play(story, options).fault;
}

/// Only the plain world is asked: a job that no other keeps waiting, and that could be placed after a decision, was
/// slept through.
TEST(WakeUpOracle, NobodyWaitsWhomThePlainWorldCanPlace) {
  std::map<std::string, PlainCounts> counts;
  for (std::uint64_t seed = 0; seed < kWakeUpStories; ++seed) {
    const Story story = draw_story(seed, {.has_preemption = false,
                                          .has_nominations = seed % 2 == 1,
                                          .has_groups = seed % 4 >= 2,
                                          .has_unlike_devices = seed % 8 >= 4});
    PlainCounts& count = counts[std::string(kBlockingNames[static_cast<std::size_t>(story.profile.blocking)])];
    if (const std::string fault = slept_in_plain(story, count); !fault.empty() && count.slept++ < 5)
      count.example += "\nseed " + std::to_string(seed) + " " + fault;
  }
  for (const auto& [blocking, count] : counts) {
    std::printf(
        "wake-up oracle: %s in the plain world: after %ld decisions there was no room for %ld single waiters and %ld "
        "gangs (%ld of unlike "
        "members, %ld within a domain, %ld above their minimum), %d histories slept through a start; left out: %ld "
        "behind others, %ld not searched "
        "to "
        "the end, %ld decisions that go on\n",
        blocking.c_str(), count.decisions, count.singles, count.gangs, count.unlike, count.within, count.surplus,
        count.slept, count.not_first, count.not_searched, count.not_done);
    EXPECT_GT(count.singles, 500);
    EXPECT_GT(count.gangs, 500);
    EXPECT_EQ(count.slept, 0) << count.example;
  }
  EXPECT_EQ(counts.size(), 3u);
}

/// An engine that forgets to look is seen: its shapes are closed though the nodes have room.
TEST(WakeUpOracle, SeesWhoIsAsleep) {
  PlainWorld world;
  PlainNode node;
  node.devices = 1;
  node.has = {8, 64, 4, 0};
  world.nodes = {node};
  world.demands = {{.asks = {1, 0, 1, 0}, .devices = 1}};
  world.constraints = {{}};
  world.jobs = {{.members = {{0, 0, 0, {0}}}}, {.members = {{0, 0, kNowhere, {}}}}};
  State state;
  for (const Event& event : events_of(world)) apply(state, event);
  Engine engine(*builtin_profile("ashlar"));
  EXPECT_TRUE(started_by(engine.decide(state, Millis(0))).empty());
  apply(state, {Millis(1), Ended{JobId(0u)}});
  Ledger(state).forget_news_of_nodes();  // nobody says that the device is free
  EXPECT_EQ(text_of(started_by_looking_at_all(state, engine, Millis(1))), "1 of job 1");
  EXPECT_TRUE(started_by(engine.decide(state, Millis(1))).empty());
}

}  // namespace
}  // namespace ashlar::oracle
