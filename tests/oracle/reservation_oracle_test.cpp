// Reservations against full simulation: in histories in which every job runs exactly as long as its p90, each job that
// starts while somebody ahead of it holds a reservation is taken out of a second play of the same history at the moment
// of its start. A job that was passed must not start later with it than without it, unless that is still by the time it
// was promised. What is promised to the first of all is no later than the plain world could place it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "draw.h"
#include "engine/quota.h"
#include "environment.h"
#include "story.h"

namespace ashlar::oracle {
namespace {

constexpr std::uint64_t kStories = 1500;
constexpr std::size_t kPassersMax = 12;  ///< of one story

struct Passed {
  JobId head;
  Millis told;  ///< the promised time
  Millis made_at;
  std::vector<JobId> unpromised;  ///< jobs that wait ahead of it and hold no reservation
};
struct Passer {
  JobId job;
  Millis at;
  std::vector<Passed> passed;  ///< who held a reservation and waited on
};

struct Starts {
  std::map<JobId, Millis> at;
  std::vector<Passer> passers;
  /// who waited for quota then, and was passed by a job that is not under the same limit
  std::vector<std::pair<JobId, Millis>> by_outsiders;
  Millis of(JobId job) const { return at.contains(job) ? at.at(job) : Millis::max(); }
};

std::pair<std::int32_t, Millis> precedence_of(const State& state, JobId job) {
  return {-state.job(job).priority, state.job(job).submitted};
}

const Reservation* reserve_for(const Engine& engine, JobId job) {
  const auto all = engine.reservations();
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](const Reservation& p) { return p.entry.job == job && p.at != Millis::max(); });
  return it == all.end() ? nullptr : &*it;
}

/// The jobs that wait ahead of the job, each with the reservation it holds or nullptr.
template <class Visit>
void each_ahead(const State& state, const Engine& engine, JobId job, Visit&& visit) {
  engine.pending().each_class([&](ClassId, const PendingQueue::Class& shape) {
    shape.each_job([&](const PendingQueue::Entry& entry) {
      if (!entry.is_surplus && precedence_of(state, entry.job) < precedence_of(state, job))
        visit(entry.job, reserve_for(engine, entry.job));
    });
  });
}

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
      each_ahead(state, engine, job, [&](JobId head, const Reservation* reservation) {
        const QueueId limiting =
            reservation != nullptr ? reservation->limiting : limiting_queue(engine.verdict_of(head));
        // A job that waits for quota has a reservation against jobs under the same limit only
        // (docs/reference/policies.md).
        if (!limiting.is_none() && !state.queues().is_within(state.job(job).queue, limiting))
          starts.by_outsiders.push_back({head, plan.at});
        else if (reservation != nullptr)
          passer.passed.push_back({head, reservation->at, reservation->made_at, {}});
      });
      for (Passed& passed : passer.passed)
        each_ahead(state, engine, passed.head, [&](JobId other, const Reservation* reservation) {
          if (reservation == nullptr) passed.unpromised.push_back(other);
        });
      if (!passer.passed.empty()) starts.passers.push_back(std::move(passer));
    }
    return std::string();
  };
  play(story, options);
  return starts;
}

void withdraw(Story& story, JobId job, Millis at) {
  const auto after =
      std::upper_bound(story.script.begin(), story.script.end(), at,
                       [](Millis time, const sim::ScriptedEvent& scripted_event) { return time < scripted_event.at; });
  story.script.insert(after, {at, EventBody(Ended{job})});
}

/// The same story in which the job is withdrawn just before it would start.
Story without(Story story, const Passer& passer) {
  withdraw(story, passer.job, passer.at);
  return story;
}

const Workload* submitted_in(const sim::ScriptedEvent& scripted_event) {
  const auto* event = std::get_if<EventBody>(&scripted_event.what);
  const auto* submitted = event == nullptr ? nullptr : std::get_if<Submitted>(event);
  return submitted == nullptr ? nullptr : &submitted->workload;
}

const Workload& workload_of(const Story& story, JobId job) {
  for (const sim::ScriptedEvent& scripted_event : story.script)
    if (const Workload* w = submitted_in(scripted_event); w != nullptr && w->job == job) return *w;
  std::abort();
}

/// The same story, but once the head is passed nobody turns up before it whom its reservation does not know: neither
/// newcomers of higher priority nor those who stand ahead of it as the second or third of their queue. They may take
/// what is promised; where, depends on who else is there.
Story undisturbed(Story story, const Passer& passer, const Passed& passed) {
  const std::int32_t priority = workload_of(story, passed.head).priority;
  std::erase_if(story.script, [&](const sim::ScriptedEvent& scripted_event) {
    const Workload* w = submitted_in(scripted_event);
    return w != nullptr && scripted_event.at > passer.at && w->priority > priority;
  });
  for (const JobId job : passed.unpromised) withdraw(story, job, passer.at + Millis(1));
  return story;
}

/// Was it, or somebody ahead of it beside whose promise its own is made, passed by a job that is not under the limit it
/// waits for?
bool is_passed_by_outsiders(const Story& story, const Starts& starts, const Passed& passed) {
  const auto order = [&](JobId job) {
    return std::pair(-workload_of(story, job).priority, workload_of(story, job).submitted);
  };
  return std::any_of(starts.by_outsiders.begin(), starts.by_outsiders.end(), [&](const auto& by) {
    return by.second >= passed.made_at && by.second < starts.of(passed.head) && order(by.first) <= order(passed.head);
  });
}

/// The same story in which every job is known to run as long as it does.
Story foretold(Story story) {
  for (sim::ScriptedEvent& scripted_event : story.script)
    if (auto* event = std::get_if<EventBody>(&scripted_event.what))
      if (auto* submitted = std::get_if<Submitted>(event))
        submitted->workload.estimate.p50 = submitted->workload.estimate.p90;
  return story;
}

struct Tally {
  int passers = 0, pairs = 0, by_outsiders = 0, delayed = 0;
  std::string text;  ///< the first few
};

void compare(const Story& story, Tally& tally) {
  const Starts played = starts_of(story);
  for (std::size_t p = 0; p < std::min(played.passers.size(), kPassersMax); ++p) {
    const Passer& passer = played.passers[p];
    ++tally.passers;
    for (const Passed& passed : passer.passed) {
      ++tally.pairs;
      const Story calm = undisturbed(story, passer, passed);
      const Starts with = starts_of(calm);
      const Millis start = with.of(passed.head);
      const Millis bound = std::max(passed.told, starts_of(without(calm, passer)).of(passed.head));
      if (start <= bound) continue;
      if (is_passed_by_outsiders(calm, with, passed)) {
        ++tally.by_outsiders;
        continue;
      }
      if (tally.delayed++ < 5)
        tally.text += "\nseed " + std::to_string(story.seed) + ": job " + std::to_string(passed.head.row()) +
                      " starts at " + std::to_string(start.value) + " ms, is promised " +
                      std::to_string(passed.told.value) + " ms, and starts without job " +
                      std::to_string(passer.job.row()) + ", which starts at " + std::to_string(passer.at.value) +
                      " ms, by " + std::to_string(bound.value) + " ms";
    }
  }
}

void expect_kept(const char* name, std::uint64_t first_seed, const std::function<Story(std::uint64_t)>& story) {
  Tally tally;
  for (std::uint64_t seed = first_seed; seed < first_seed + kStories; ++seed) compare(story(seed), tally);
  std::printf(
      "reservation oracle, %s: %llu histories, %d jobs passed somebody with a promise, %d pairs, %d delayed; %d later "
      "for jobs outside the "
      "limit they wait for\n",
      name, static_cast<unsigned long long>(kStories), tally.passers, tally.pairs, tally.delayed, tally.by_outsiders);
  EXPECT_GT(tally.passers, 200);
  EXPECT_LT(tally.by_outsiders, tally.pairs / 20);
  EXPECT_EQ(tally.delayed, 0) << tally.text;
}

TEST(ReservationOracle, NobodyIsDelayedByWhoPassed) {
  const std::uint64_t base = number_of("ASHLAR_FIRST_HISTORY", 0);
  const auto drawn = [](std::uint64_t seed) {
    return draw_story(seed, {.is_calm = true, .is_exact = true, .has_unlike_devices = seed % 2 == 1});
  };
  expect_kept("estimates with a spread", base, drawn);
  expect_kept("estimates without", base, [&](std::uint64_t seed) { return foretold(drawn(seed)); });
}

TEST(ReservationOracle, NobodyIsDelayedByWhoPassedWhereCapacityIsHeld) {
  expect_kept("with holds", 10'000, [](std::uint64_t seed) {
    return foretold(
        draw_story(seed, {.is_calm = true, .is_exact = true, .has_holds = true, .has_unlike_devices = seed % 2 == 1}));
  });
}

TEST(ReservationOracle, NobodyIsDelayedByWhoPassedWhereAllComesTogether) {
  expect_kept("with holds, groups and unlike devices", 20'000, [](std::uint64_t seed) {
    return foretold(draw_story(
        seed, {.is_calm = true, .is_exact = true, .has_holds = true, .has_groups = true, .has_unlike_devices = true}));
  });
}

/// When the job could start if nobody else came, by the ends that are known; max() if never.
Millis earliest_in_plain(PlainWorld world, int job, const std::multimap<Millis, int>& ends) {
  for (auto it = ends.begin(); it != ends.end();) {
    const Millis at = it->first;
    for (; it != ends.end() && it->first == at; ++it)
      for (PlainMember& m : world.jobs[static_cast<std::size_t>(it->second)].members) m.take_off();
    if (can_be_placed(world, job) == Answer::kYes) return at;
  }
  return Millis::max();
}

/// The first of all who wait for members that they need; kNowhere where there is none, or more than one may be it.
int first_waiting(const Mirror& mirror) {
  const std::vector<int> waiting = mirror.waiting();
  const auto is_first = [&](int job) {
    const PlainJob& of = mirror.world().jobs[static_cast<std::size_t>(job)];
    return of.placed() < of.min && std::none_of(waiting.begin(), waiting.end(), [&](int other) {
             return waits_ahead(mirror.world(), PlainOrder::kPriorityAge, other, job);
           });
  };
  const auto it = std::find_if(waiting.begin(), waiting.end(), is_first);
  return it == waiting.end() ? kNowhere : *it;
}

struct EarliestTally {
  long made = 0, too_late = 0;
  long at_most = 0;  ///< decisions after which as many promises are held as may be
  std::string text;  ///< the first few
};

/// Ends of those who run. Who starts in this decision and comes after the first of all was not there when that one got
/// its reservation, unless it is outside the limit that the first waits for (`is_outside`): such a job may break a
/// reservation, which is then made anew.
std::multimap<Millis, int> known_ends(const Story& story, const PlainWorld& world, const std::map<int, Millis>& started,
                                      int first, Millis now, const std::function<bool(int)>& is_outside) {
  std::multimap<Millis, int> ends;
  const auto turn = [&](int job) {
    const PlainJob& of = world.jobs[static_cast<std::size_t>(job)];
    return std::pair(-of.priority, of.submitted_ms);
  };
  for (const auto& [job, at] : started)
    if (world.jobs[static_cast<std::size_t>(job)].placed() > 0)
      ends.emplace(at == now && turn(first) < turn(job) && !is_outside(job)
                       ? now
                       : at + workload_of(story, JobId(job)).estimate.p90,
                   job);
  return ends;
}

/// Compares each reservation made to the first of all with the earliest time at which the plain world could place it;
/// every job runs as long as its p90.
void compare_with_earliest(const Story& story, EarliestTally& tally) {
  std::map<int, Millis> started;
  std::map<int, Millis> made;               ///< reservations of this decision
  std::set<std::pair<int, int>> outsiders;  ///< who starts outside the limit that such a job waits for
  PlayOptions options{.has_checks = false};
  options.after = [&](const State& state, const Engine& engine, const Plan& plan) {
    made.clear();
    for (const Reservation& p : engine.reservations()) {
      if (p.made_at != plan.at) continue;
      made.emplace(static_cast<int>(p.entry.job.row()), p.at);
      for (const Action& action : plan.actions)
        if (const auto* bind = std::get_if<Bind>(&action);
            bind != nullptr && !p.concerns(state, state.job(bind->job).queue))
          outsiders.emplace(static_cast<int>(p.entry.job.row()), static_cast<int>(bind->job.row()));
    }
    tally.at_most += engine.reservations().size() == Reservations::kMax ? 1 : 0;
    return std::string();
  };
  options.after_in_plain = [&](const Mirror& mirror, const Plan& plan) {
    for (const Action& action : plan.actions)
      if (const auto* bind = std::get_if<Bind>(&action)) started.emplace(static_cast<int>(bind->job.row()), plan.at);
    const int first = first_waiting(mirror);
    if (!made.contains(first)) return std::string();
    ++tally.made;
    const Millis earliest = earliest_in_plain(mirror.world(), first,
                                              known_ends(story, mirror.world(), started, first, plan.at, [&](int job) {
                                                return outsiders.contains({first, job});
                                              }));
    if (made.at(first) > earliest && tally.too_late++ < 5)
      tally.text += "\nseed " + std::to_string(story.seed) + ": at " + std::to_string(plan.at.value) + " ms job " +
                    std::to_string(first) + " (" + kind_of(mirror.world(), first) + ") is promised " +
                    std::to_string(made.at(first).value) + " ms and could start at " + std::to_string(earliest.value) +
                    " ms";
    return std::string();
  };
  play(story, options);
}

TEST(ReservationOracle, TheFirstOfAllIsPromisedItsEarliestTime) {
  EarliestTally tally;
  for (std::uint64_t seed = 0; seed < kStories; ++seed)
    compare_with_earliest(draw_story(seed, {.is_calm = true, .is_exact = true, .has_unlike_devices = seed % 2 == 1}),
                          tally);
  for (std::uint64_t seed = 0; seed < kStories / 5; ++seed)
    compare_with_earliest(
        draw_story(seed, {.is_calm = true, .is_exact = true, .is_crowded = true, .has_unlike_devices = seed % 2 == 1}),
        tally);
  std::printf(
      "reservation oracle: %ld promises to the first of all, %ld later than it could start; %ld decisions with %zu "
      "promises\n",
      tally.made, tally.too_late, tally.at_most, Reservations::kMax);
  EXPECT_GT(tally.made, 1000);
  EXPECT_EQ(tally.too_late, 0) << tally.text;
  EXPECT_GT(tally.at_most, 20);
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
      for (const Passed& passed : passer.passed)
        if (with.at.contains(passed.head) && other.at.contains(passed.head) &&
            with.of(passed.head) > other.of(passed.head))
          ++delayed;
    }
  }
  EXPECT_GT(delayed, 0);
}

}  // namespace
}  // namespace ashlar::oracle
