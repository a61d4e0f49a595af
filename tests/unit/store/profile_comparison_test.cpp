// A second comparison stands on the recorded state at every step, and tells each job that it would have treated
// otherwise once.
#include "store/profile_comparison.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "random_world.h"

namespace ashlar::store {
namespace {

/// Do all members stand where the recorded run has them, and do the same jobs run?
void expect_aligned(const State& recorded, const State& second, int step) {
  ASSERT_EQ(recorded.revision(), second.revision());
  ASSERT_EQ(recorded.member_rows(), second.member_rows());
  for (std::uint32_t m = 0; m < recorded.member_rows(); ++m) {
    ASSERT_EQ(recorded.is_live(MemberId(m)), second.is_live(MemberId(m)));
    if (!recorded.is_live(MemberId(m))) continue;
    ASSERT_EQ(recorded.member(MemberId(m)).node, second.member(MemberId(m)).node)
        << "member " << m << " after step " << step;
    ASSERT_EQ(recorded.member(MemberId(m)).devices, second.member(MemberId(m)).devices)
        << "member " << m << " after step " << step;
  }
  for (std::uint32_t j = 0; j < recorded.job_rows(); ++j) {
    if (!recorded.is_live(JobId(j))) continue;
    ASSERT_EQ(recorded.job(JobId(j)).is_started, second.job(JobId(j)).is_started)
        << "job " << j << " after step " << step;
    ASSERT_EQ(recorded.job(JobId(j)).is_in_backlog, second.job(JobId(j)).is_in_backlog)
        << "job " << j << " after step " << step;
  }
  ASSERT_EQ(recorded.backlog_size(), second.backlog_size()) << "after step " << step;
  ASSERT_TRUE(second.is_consistent());
}

struct Told {
  std::size_t same = 0, different = 0, evicted = 0, placed = 0, waiting = 0;
};

/// Runs a life by one profile, asked the other at every step.
Told told(std::string_view profile, std::string_view other, std::uint64_t seed, int steps_before) {
  Life life(profile, seed);
  life.open();
  life.run(steps_before);
  ProfileComparison second(profile_named(other), life.engine.options(), life.state);
  Told sum;
  std::map<JobId, bool> judged;  // job -> told as different
  for (int i = 0; i < 150; ++i) {
    const std::vector<Event> batch = life.world.next(life.state, life.plan);
    for (const Event& event : batch) {
      if (const auto* submitted = std::get_if<Submitted>(&event.body);
          submitted != nullptr && !second.state().is_live(submitted->workload.job))
        judged.erase(submitted->workload.job);
      second.apply(event);
    }
    life.step(batch);
    second.decide(life.state, life.plan);
    expect_aligned(life.state, second.state(), i);
    if (::testing::Test::HasFatalFailure()) return sum;
    for (const JobComparison& o : second.take_comparisons()) {
      const auto known = judged.find(o.job);
      EXPECT_EQ(o.is_first, known == judged.end()) << "job " << o.job.value;
      EXPECT_FALSE(known != judged.end() && known->second) << "told twice";
      judged[o.job] = !o.is_same;
      (o.is_same ? sum.same : sum.different) += 1;
      for (const JobDecision* stance : {&o.recorded, &o.other}) {
        sum.evicted += stance->is_evicted ? 1 : 0;
        sum.placed += stance->binds.empty() ? 0 : 1;
        sum.waiting += stance->binds.empty() && stance->verdict.kind == VerdictKind::kWaits ? 1 : 0;
      }
    }
    EXPECT_TRUE(second.take_comparisons().empty()) << "taken";
  }
  return sum;
}

TEST(ProfileComparison, of_the_same_profile_is_the_same) {
  for (const char* profile : {"ashlar", "spread"}) {
    std::size_t same = 0;
    for (const std::uint64_t seed : {6, 7}) {
      const Told sum = told(profile, profile, seed, 0);
      same += sum.same;
      EXPECT_EQ(sum.different, 0u) << profile << ", seed " << seed;
    }
    EXPECT_GT(same, 40u) << profile;
  }
}

TEST(ProfileComparison, stands_on_the_recorded_state_whatever_it_would_have_done) {
  Told sum;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const auto& [profile, other] : {std::pair("ashlar", "spread"), std::pair("srtf", "ashlar"),
                                         std::pair("ashlar", "srtf"), std::pair("fgd", "tiresias")}) {
      for (const int steps_before : {0, 40}) {
        const Told one = told(profile, other, seed, steps_before);
        ASSERT_FALSE(HasFatalFailure()) << profile << " by " << other << ", seed " << seed;
        sum.same += one.same, sum.different += one.different, sum.evicted += one.evicted, sum.placed += one.placed,
            sum.waiting += one.waiting;
      }
    }
  }
  EXPECT_GT(sum.same, 100u);
  EXPECT_GT(sum.different, 100u);
  EXPECT_GT(sum.evicted, 10u);
  EXPECT_GT(sum.placed, 100u);
  EXPECT_GT(sum.waiting, 10u);
}

}  // namespace
}  // namespace ashlar::store
