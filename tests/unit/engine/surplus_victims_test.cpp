// Members beyond gangs' minima give way first: in random worlds of gangs against a count of what could be stopped, also
// while pods of stopped members are not gone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "engine/victims/victim.h"

namespace ashlar {
namespace {

constexpr std::uint32_t kMembersMax = 5, kGpusMax = 4, kPrioritiesOfGangs = 3;

DemandId of_gpus(std::uint32_t gpus) { return DemandId(20 + gpus); }

Profile stopping_by(VictimRule rule) {
  Profile profile = *builtin_profile("ashlar");
  profile.blocking = Blocking::kSkip;
  profile.victim = rule;
  profile.order = find_order("priority-age");
  return profile;
}

class Gangs {
 public:
  Gangs(std::uint32_t seed, VictimRule rule)
      : draws_(seed), state_(small_state(1 + seed % 3)), engine_(stopping_by(rule)) {
    for (std::uint32_t gpus = 1; gpus <= 2 * kGpusMax; ++gpus)
      tell(state_, DemandDefined{of_gpus(gpus),
                                 {.amounts = {{resource::kPods, 1}},
                                  .devices = {static_cast<int>(gpus), MilliGpu(1000), MiB(0)}}});
  }
  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(draws_() % below); }
  const State& state() const { return state_; }

  void submit(std::uint32_t members, std::uint32_t minimum, std::uint32_t gpus) {
    Workload w = workload(jobs_, members_, members, of_gpus(gpus));
    members_ += members;
    w.members_min = minimum;
    w.priority = static_cast<std::int32_t>(draw(kPrioritiesOfGangs));
    w.submitted = next();
    w.stopping.leaves_whole = draw(6) == 0;
    tell(state_, Submitted{w}, w.submitted);
    ++jobs_;
  }
  void end_one() {
    const std::vector<JobId> live = jobs([](const Job& job) { return job.members_placed > 0; });
    if (!live.empty()) tell(state_, Ended{live[draw(static_cast<std::uint32_t>(live.size()))]}, next());
  }
  /// A pod whose member was stopped is gone: it comes back, or it does not.
  void let_one_leave() {
    if (leaving_.empty()) return;
    const Victim gone = leaving_.front();
    leaving_.erase(leaving_.begin());
    if (!state_.is_live(gone.member) || state_.member(gone.member).job != gone.job) return;
    if (draw(3) == 0)
      tell(state_, MemberGone{gone.member}, next());
    else
      tell(state_, Evicted{gone.job, state_.job(gone.job).remaining, gone.member}, next());
  }
  bool has_leaving() const { return !leaving_.empty(); }
  Plan decide(bool is_answered_late) {
    Plan plan = engine_.decide(state_, now_);
    for (const Action& action : plan.actions)
      if (const auto* bind = std::get_if<Bind>(&action))
        tell(state_, Bound{bind->member, bind->node, bind->devices}, now_);
      else if (const Evict& evict = std::get<Evict>(action); is_answered_late && !evict.member.is_none())
        leaving_.push_back({evict.job, evict.member});
      else
        tell(state_, Evicted{evict.job, state_.job(evict.job).remaining, evict.member}, now_);
    return plan;
  }
  template <class Is>
  std::vector<JobId> jobs(Is&& is) const {
    std::vector<JobId> out;
    for (std::uint32_t job = 0; job < jobs_; ++job)
      if (state_.is_live(JobId(job)) && is(state_.job(JobId(job)))) out.emplace_back(job);
    return out;
  }

 private:
  Millis next() { return now_ += Millis(1000); }
  std::mt19937 draws_;
  State state_;
  Engine engine_;
  std::vector<Victim> leaving_;
  std::uint32_t jobs_ = 0, members_ = 0;
  Millis now_;
};

std::int64_t gpus_of(const State& state, MemberId member) {
  return state.demand(state.member(member).demand).devices.count;
}

/// Before a decision: what is free on each node, and what gangs of lower priority do without there.
struct RoomBefore {
  std::map<NodeId, std::int64_t> free;
  std::map<MemberId, NodeId> nodes;
  std::map<MemberId, bool> is_surplus;
  explicit RoomBefore(const Gangs& gangs) {
    const State& state = gangs.state();
    for (std::size_t n = 0; n < state.cluster().rows(); ++n) free[NodeId(n)] = state.cluster().idle_devices()[n];
    for (const JobId job : gangs.jobs([](const Job& j) { return j.members_placed > 0; })) {
      const Job& j = state.job(job);
      std::uint32_t rank = 0;  // among those that are placed
      state.each_member(job, [&](MemberId id, const Member& m) {
        if (!m.is_placed()) return;
        nodes[id] = m.node;
        if (rank++ >= j.members_min && !j.stopping.leaves_whole) is_surplus[id] = true;
      });
    }
  }
  std::int64_t surplus_on(const State& state, NodeId node, JobId starter) const {
    std::int64_t sum = 0;
    for (const auto& [member, on] : nodes) {
      const JobId job = state.member(member).job;
      if (on == node && is_surplus.contains(member) && state.job(job).priority < state.job(starter).priority)
        sum += gpus_of(state, member);
    }
    return sum;
  }
};

struct Stops {
  std::vector<Victim> victims;
  std::vector<std::pair<MemberId, NodeId>> places;  ///< of the job for which they were stopped
};

/// By the job for which they were stopped; only of plans that start nothing else.
std::map<JobId, Stops> stops_in(const Plan& plan) {
  std::map<JobId, Stops> stops;
  for (const Action& action : plan.actions)
    if (const auto* evict = std::get_if<Evict>(&action))
      stops[evict->for_job].victims.push_back({evict->job, evict->member});
  for (const Action& action : plan.actions)
    if (const auto* bind = std::get_if<Bind>(&action); bind != nullptr && stops.contains(bind->job))
      stops[bind->job].places.emplace_back(bind->member, bind->node);
  return stops;
}

bool starts_only(const Plan& plan, JobId job) {
  return std::ranges::all_of(plan.actions, [&](const Action& action) {
    const auto* bind = std::get_if<Bind>(&action);
    return bind == nullptr || bind->job == job;
  });
}

/// No gang runs with less than its minimum; none is decided about while a pod of its members leaves.
void expect_whole(const Gangs& gangs, std::uint32_t seed) {
  for (const JobId job : gangs.jobs([](const Job&) { return true; })) {
    const Job& j = gangs.state().job(job);
    EXPECT_TRUE(j.members_placed == 0 || j.members_placed >= j.members_min) << "job " << job.value << " seed " << seed;
    EXPECT_FALSE(j.members_leaving > 0 && j.is_in_backlog) << seed;
  }
}

struct Seen {
  std::size_t shrunk = 0, whole = 0, both = 0;
};

/// Of a job of one member: each that was stopped was needed, and none whole where members beyond minima are enough.
void expect_needed(const Gangs& gangs, const RoomBefore& before, const Stops& stops, JobId starter,
                   bool is_by_lost_work, std::uint32_t seed) {
  const State& state = gangs.state();
  const NodeId node = stops.places.front().second;
  const std::int64_t needs = gpus_of(state, stops.places.front().first);
  const auto freed_by = [&](const Victim& victim) {
    std::int64_t sum = 0;
    for (const auto& [member, on] : before.nodes)
      if (on == node && (victim.is_whole() ? state.member(member).job == victim.job : member == victim.member))
        sum += gpus_of(state, member);
    return sum;
  };
  std::int64_t room = before.free.at(node);
  for (const Victim& victim : stops.victims) room += freed_by(victim);
  EXPECT_GE(room, needs) << seed;
  for (const Victim& victim : stops.victims) EXPECT_LT(room - freed_by(victim), needs) << "more than needed, " << seed;
  const bool is_any_whole = std::ranges::any_of(stops.victims, &Victim::is_whole);
  for (const auto& [on, free] : before.free)
    if (is_by_lost_work && is_any_whole) {
      EXPECT_LT(free + before.surplus_on(state, on, starter), needs) << "members would have been enough, " << seed;
    }
}

TEST(SurplusVictims, GoFirstAndNoMoreOfThemThanNeeded) {
  Seen seen;
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    const bool is_by_lost_work = seed % 2 == 0;
    Gangs gangs(seed, is_by_lost_work ? VictimRule::kLostWork : VictimRule::kPriority);
    for (int step = 0; step < 14; ++step) {
      const std::uint32_t what = gangs.draw(8);
      if (what == 0)
        gangs.end_one();
      else if (what < 4)
        gangs.submit(1, 1, 1 + gangs.draw(2 * kGpusMax));
      else
        gangs.submit(2 + gangs.draw(kMembersMax - 1), 1 + gangs.draw(2), 1 + gangs.draw(kGpusMax));
      for (int round = 0;; ++round) {
        ASSERT_LT(round, 200) << "evictions do not end, seed " << seed;
        const RoomBefore before(gangs);
        const bool is_at_rest = !gangs.has_leaving();
        const Plan plan = gangs.decide(gangs.draw(2) == 0);
        ASSERT_TRUE(gangs.state().is_consistent()) << seed;
        expect_whole(gangs, seed);
        for (const auto& [starter, stops] : stops_in(plan)) {
          ASSERT_FALSE(stops.places.empty()) << "stopped in vain, seed " << seed;
          for (const Victim& victim : stops.victims) ++(victim.is_whole() ? seen.whole : seen.shrunk);
          if (is_at_rest && stops.places.size() == 1 && gangs.state().job(starter).members_present == 1 &&
              starts_only(plan, starter))
            expect_needed(gangs, before, stops, starter, is_by_lost_work, seed);
        }
        if (testing::Test::HasFailure()) return;
        if (!plan.actions.empty() || plan.look_again_at != Millis::max()) continue;
        if (!gangs.has_leaving()) break;
        gangs.let_one_leave();
      }
    }
  }
  EXPECT_GT(seen.shrunk, 500u);
  EXPECT_GT(seen.whole, 500u);
}

}  // namespace
}  // namespace ashlar
