// Jobs of which nobody knows how long they run: none waits longer than the time after which it holds nodes, and then as
// long as what runs there and as those that are ahead of it take.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

constexpr Millis kAgeing{20'000}, kLongestRun{10'000};

struct AgedJob {
  Millis came, ends = Millis::max();  ///< known to the world alone
  Millis duration;
  std::uint32_t ahead = 0;  ///< that waited when it came
  bool is_waiting = true;
};

class StreamOfUnknown {
 public:
  StreamOfUnknown(std::uint32_t seed, Millis ageing) : draws_(seed), state_(small_state(3)), engine_(profile(ageing)) {
    for (std::uint32_t count = 1; count <= 8; ++count)
      tell(state_, DemandDefined{DemandId(20 + count),
                                 {.amounts = {{resource::kPods, 1}},
                                  .devices = {static_cast<int>(count), MilliGpu(1000), MiB(0)}}});
  }
  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(draws_() % below); }
  /// One second; jobs come until `last`.
  void step(Millis last) {
    now_ += Millis(1000);
    for (std::uint32_t job = 0; job < jobs_.size(); ++job)
      if (jobs_[job].ends == now_) tell(state_, Ended{JobId(job)}, now_);
    if (now_ <= last)
      for (std::uint32_t more = 1 + draw(2); more > 0; --more) submit();
    const Plan plan = engine_.decide(state_, now_);
    for (const Action& action : plan.actions) {
      const Bind& bind = std::get<Bind>(action);
      tell(state_, Bound{bind.member, bind.node, bind.devices}, now_);
      AgedJob& job = jobs_[bind.job.row()];
      if (job.is_waiting) job.ends = now_ + job.duration;
      job.is_waiting = false;
      longest_ = std::max(longest_, now_ - job.came);
      late_ += now_ - job.came > kAgeing + kLongestRun * (1 + job.ahead) + Millis(2000) ? 1 : 0;
    }
  }
  std::size_t waiting() const {
    return static_cast<std::size_t>(std::ranges::count(jobs_, true, &AgedJob::is_waiting));
  }
  std::uint32_t late() const { return late_; }
  Millis longest() const { return longest_; }
  bool is_consistent() const { return state_.is_consistent(); }

 private:
  static Profile profile(Millis ageing) {
    Profile of = *builtin_profile("ashlar");
    of.ageing = ageing;
    return of;
  }
  /// Mostly small, sometimes a gang that needs two or three whole nodes.
  void submit() {
    const bool is_large = draw(25) == 0;
    const std::uint32_t members = is_large ? 2 + draw(2) : 1;
    const DemandId demand(20 + (is_large ? 8 : 1 + draw(4)));
    const auto job = static_cast<std::uint32_t>(jobs_.size());
    Workload w = workload(job, members_, members, demand);
    members_ += members;
    w.submitted = now_;
    jobs_.push_back({.came = now_,
                     .duration = Millis(1000 + 1000 * draw(static_cast<std::uint32_t>(kLongestRun.value / 1000))),
                     .ahead = static_cast<std::uint32_t>(waiting())});
    tell(state_, Submitted{w}, now_);
  }
  std::mt19937 draws_;
  State state_;
  Engine engine_;
  std::vector<AgedJob> jobs_;
  std::uint32_t members_ = 0, late_ = 0;
  Millis now_{0}, longest_{0};
};

Millis longest_wait(Millis ageing, std::uint32_t& late) {
  Millis longest{0};
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    StreamOfUnknown stream(seed, ageing);
    constexpr Millis kLast{400'000};
    for (int i = 0; i < 3000 && (i < 400 || stream.waiting() > 0); ++i) stream.step(kLast);
    EXPECT_EQ(stream.waiting(), 0u) << "seed " << seed;
    EXPECT_TRUE(stream.is_consistent());
    late += stream.late();
    longest = std::max(longest, stream.longest());
  }
  return longest;
}

TEST(Ageing, BoundsHowLongAnyJobWaits) {
  std::uint32_t late = 0, late_without = 0;
  longest_wait(kAgeing, late);
  EXPECT_EQ(late, 0u);
  longest_wait(Millis(0), late_without);
  EXPECT_GT(late_without, 20u) << "the bound says something";
}

/// Otherwise a job that can never start would cost a search each second, and a simulation would not come to an end.
TEST(Ageing, WhatDrainsIsLookedAtAgainOnlyWhereSomethingHappens) {
  State state = small_state(1);
  for (const int count : {1, 6, 8})
    tell(state, DemandDefined{DemandId(static_cast<std::uint32_t>(20 + count)),
                              {.amounts = {{resource::kPods, 1}}, .devices = {count, MilliGpu(1000), MiB(0)}}});
  Profile profile = *builtin_profile("ashlar");
  profile.ageing = kAgeing;
  Engine engine(profile);
  const auto submit = [&](std::uint32_t job, std::uint32_t devices, Millis at) {
    Workload w = workload(job, job, 1, DemandId(20 + devices));
    w.submitted = at;
    tell(state, Submitted{w}, at);
  };
  submit(0, 6, Millis(1'000));
  const Plan first = engine.decide(state, Millis(1'000));
  ASSERT_EQ(first.actions.size(), 1u);
  const Bind& bind = std::get<Bind>(first.actions.front());
  tell(state, Bound{bind.member, bind.node, bind.devices}, Millis(1'000));
  submit(1, 8, Millis(2'000));
  engine.decide(state, Millis(2'000));
  const Millis aged = Millis(2'000) + kAgeing;
  engine.decide(state, aged);
  submit(2, 1, aged + Millis(1'000));
  EXPECT_TRUE(engine.decide(state, aged + Millis(1'000)).actions.empty()) << "it is held";
  const Plan later = engine.decide(state, aged + Millis(5'000));
  EXPECT_TRUE(later.actions.empty());
  EXPECT_EQ(later.look_again_at, Millis::max());
  tell(state, Ended{JobId(0)}, aged + Millis(6'000));
  EXPECT_EQ(engine.decide(state, aged + Millis(6'000)).actions.size(), 1u) << "and then the one that has waited";
}

}  // namespace
}  // namespace ashlar
