// Reservations against full simulation: in histories in which every job runs exactly as long as its p90, each job that starts while somebody ahead of it
// holds a promise is taken out of a second play of the same history at the moment of its start. Whoever was passed must not start later with it than
// without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "known.h"
#include "story.h"

namespace ashlar::oracle {
namespace {

constexpr std::uint64_t kStories = 1500;
constexpr std::size_t kPassersMax = 12;  ///< of one story

struct Passer {
  JobId job;
  Millis at;
  std::vector<JobId> passed;  ///< who held a promise and waited on
};

struct Starts {
  std::map<JobId, Millis> at;
  std::vector<Passer> passers;
};

/// Plays the story and notes who started when, and past whom.
Starts starts_of(const Story& story) {
  Starts starts;
  PlayOptions options{.has_checks = false};
  options.after = [&](const State& state, const Engine& engine, const Plan& plan) {
    std::vector<JobId> started;
    for (const Action& action : plan.actions) {
      const auto* bind = std::get_if<Bind>(&action);
      if (bind != nullptr && starts.at.emplace(bind->job, plan.at).second) started.push_back(bind->job);
    }
    for (const JobId job : started) {
      Passer passer{job, plan.at, {}};
      for (const Promise& promise : engine.promises()) {
        const JobId head = promise.entry.job;
        const bool is_ahead =
            std::pair(-state.job(head).priority, state.job(head).submitted) < std::pair(-state.job(job).priority, state.job(job).submitted);
        if (is_ahead && promise.at != Millis::max() && !starts.at.contains(head)) passer.passed.push_back(head);
      }
      if (!passer.passed.empty()) starts.passers.push_back(std::move(passer));
    }
    return std::string();
  };
  play(story, options);
  return starts;
}

/// The same story in which the job is withdrawn just before it would start.
Story without(Story story, const Passer& passer) {
  const auto at = std::upper_bound(story.script.begin(), story.script.end(), passer.at,
                                   [](Millis time, const sim::Happening& happening) { return time < happening.at; });
  story.script.insert(at, {passer.at, EventBody(Ended{passer.job})});
  return story;
}

struct Tally {
  int passers = 0, pairs = 0, delayed = 0;
  std::string text;  ///< the first few
};

void compare(const Story& story, Tally& tally) {
  const Starts with = starts_of(story);
  for (std::size_t p = 0; p < std::min(with.passers.size(), kPassersMax); ++p) {
    const Passer& passer = with.passers[p];
    const Starts other = starts_of(without(story, passer));
    ++tally.passers;
    for (const JobId head : passer.passed) {
      ++tally.pairs;
      const auto then = with.at.find(head), instead = other.at.find(head);
      const Millis start = then == with.at.end() ? Millis::max() : then->second;
      const Millis bound = instead == other.at.end() ? Millis::max() : instead->second;
      if (start <= bound) continue;
      if (tally.delayed++ < 5)
        tally.text += "\nseed " + std::to_string(story.seed) + ": job " + std::to_string(head.row()) + " starts at " + std::to_string(start.value) +
                      " ms, without job " + std::to_string(passer.job.row()) + " at " + std::to_string(bound.value) + " ms";
    }
  }
}

TEST(ReservationOracle, NobodyIsDelayedByWhoPassed) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < kStories; ++seed) compare(draw_story(seed, {.is_calm = true, .is_exact = true}), tally);
  std::printf("reservation oracle: %llu histories, %d jobs passed somebody with a promise, %d pairs, %d delayed\n",
              static_cast<unsigned long long>(kStories), tally.passers, tally.pairs, tally.delayed);
  EXPECT_GT(tally.passers, 200);
  if (kPromisesAreKept) {
    EXPECT_EQ(tally.delayed, 0) << tally.text;
  }
}

/// Where nobody keeps promises, delays are found: under `skip` a gang of the whole cluster is passed again and again.
TEST(ReservationOracle, FindsDelaysWhereNobodyPromises) {
  int delayed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Story story = draw_story(seed, {.is_calm = true, .is_exact = true});
    const Starts easy = starts_of(story);
    story.profile.blocking = Blocking::kSkip;
    const Starts with = starts_of(story);
    for (const Passer& passer : easy.passers) {
      const auto at = with.at.find(passer.job);
      if (at == with.at.end()) continue;
      const Starts other = starts_of(without(story, {passer.job, at->second, {}}));
      for (const JobId head : passer.passed)
        if (with.at.contains(head) && other.at.contains(head) && with.at.at(head) > other.at.at(head)) ++delayed;
    }
  }
  EXPECT_GT(delayed, 0);
}

}  // namespace
}  // namespace ashlar::oracle
