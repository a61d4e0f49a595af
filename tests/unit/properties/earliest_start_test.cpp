// The search for an earliest start in random lives: what is known of a reservation that is not kept changes nothing of
// the search that follows, and what has ended by the time found is gone from the nodes that the job takes.
#include "engine/reserve/earliest_start.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <vector>

#include "played_life.h"
#include "state/state_fields.h"

namespace ashlar {
namespace {

/// A search on a copy of the state, without reservations ahead.
class LoneSearch {
 public:
  LoneSearch(const State& state, const Profile& profile, JobId job, Millis now)
      : state_(state), tables_(profile), trial_(state_), context_{trial_, tables_, profile, draws_} {
    StateFields::forget_caches(state_);
    availability_.bring_up(state_, now);
    start_.emplace(context_, job, ExpectedEnds(state_, availability_.put_off()), availability_,
                   std::span<const Reservation* const>{});
  }

  EarliestStart& start() { return *start_; }
  const State& state() const { return state_; }
  std::vector<Reservation::Place> places(JobId job) const {
    std::vector<Reservation::Place> places;
    each_placement(trial_.steps(), [&](const Trial::Placement& step) {
      if (state_.member(step.member).job == job) places.push_back({step.member, step.node, step.devices});
    });
    return places;
  }

 private:
  State state_;
  FitTables tables_;
  Rng draws_{1};
  Trial trial_;
  PlacementContext context_;
  Availability availability_;
  std::optional<EarliestStart> start_;
};

/// `look` is called for each job that waits, after most of the decisions of a life.
template <class Look>
void each_waiting(const std::vector<Move>& moves, Look&& look) {
  play({.has_holds = true, .has_layouts = true, .has_gangs = true}, moves,
       [&](const State& state, const Engine& engine, Millis now) {
         for (std::size_t row = 0; row < state.job_rows(); ++row)
           if (const JobId job(row); state.is_live(job) && state.job(job).is_in_backlog)
             look(state, engine.profile(), job, now);
       });
}

RC_GTEST_PROP(EarliestStarts, AreTheSameAfterALookAtWhatWasReserved, ()) {
  std::map<JobId, Reservation> made;
  each_waiting(*some_moves(), [&](const State& state, const Profile& profile, JobId job, Millis now) {
    LoneSearch fresh(state, profile, job, now);
    const std::optional<Millis> at = fresh.start().run();
    if (const auto before = made.find(job); before != made.end()) {
      LoneSearch other(state, profile, job, now);
      if (!other.start().is_still(before->second)) {
        RC_ASSERT(other.start().run() == at);
        RC_ASSERT(other.places(job) == fresh.places(job));
        RC_ASSERT(other.state().digest() == fresh.state().digest());
      }
    }
    made.erase(job);
    if (!at) return;
    Reservation& now_made = made[job];
    now_made.entry.job = job;
    now_made.at = *at;
    now_made.lasts = state.job(job).late_end_if_started(*at);
    now_made.places = fresh.places(job);
  });
}

RC_GTEST_PROP(EarliestStarts, AreFoundOnlyBeforeTheTimeThatIsAskedFor, ()) {
  each_waiting(*some_moves(), [&](const State& state, const Profile& profile, JobId job, Millis now) {
    const std::optional<Millis> at = LoneSearch(state, profile, job, now).start().run();
    if (!at) return;
    RC_ASSERT(!LoneSearch(state, profile, job, now).start().run(*at));
    RC_ASSERT(LoneSearch(state, profile, job, now).start().run(*at + Millis(1)) == at);
  });
}

RC_GTEST_PROP(EarliestStarts, WhatHasEndedIsGoneFromTheNodesTaken, ()) {
  each_waiting(*some_moves(), [&](const State& state, const Profile& profile, JobId job, Millis now) {
    LoneSearch search(state, profile, job, now);
    const std::optional<Millis> at = search.start().run();
    if (!at) return;
    for (const Reservation::Place& place : search.places(job))
      search.state().each_on(place.node, [&](const Member& m) {
        const Job& other = search.state().job(m.job);
        RC_ASSERT(m.job == job || !other.is_started || other.late_end(now) > *at);
      });
  });
}

}  // namespace
}  // namespace ashlar
