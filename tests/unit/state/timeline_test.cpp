// The order of expected ends, and the changes listed for those who follow it.
#include "state/time/timeline.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

Timeline::End end_of(std::uint32_t job, std::int64_t at) { return {Millis(at), 1, JobId(job)}; }

TEST(Timeline, AfterATimeComeOnlyLaterEnds) {
  Timeline timeline;
  for (std::uint32_t job = 0; job < 5; ++job) timeline.add_end(end_of(job, 100 * job));
  const auto first_after = [&](std::int64_t at) { return timeline.ends().after(Millis(at)); };
  EXPECT_EQ(first_after(199)->at, Millis(200));
  EXPECT_EQ(first_after(200)->at, Millis(300)) << "not the one at that time";
  EXPECT_EQ(first_after(400), timeline.ends().end());
}

TEST(Timeline, AfterATimeIsFoundInEveryBlock) {
  Timeline timeline;
  constexpr std::uint32_t kEnds = 5 * Timeline::kBlockMax;
  for (std::uint32_t job = 0; job < kEnds; ++job) timeline.add_end(end_of(job, 10 * job));
  EXPECT_EQ(timeline.ends().size(), kEnds);
  for (std::uint32_t job = 0; job + 1 < kEnds; ++job)
    ASSERT_EQ(*timeline.ends().after(Millis(10 * job)), end_of(job + 1, 10 * (job + 1)));
}

TEST(Timeline, UnknownEndsFreeNothing) {
  Timeline timeline;
  timeline.add_end({Millis(100), 1, JobId(0u)});
  timeline.add_end({Millis::max(), 4, JobId(1u)});
  EXPECT_EQ(timeline.earliest(0, 1).at, Millis(100));
  EXPECT_EQ(timeline.earliest(0, 2).at, Millis::max());
  EXPECT_EQ(timeline.earliest(0, 2).extra, 0) << "nothing is left over of what never comes";
}

TEST(Timeline, EndsArePutOffUpToTheEndOfTime) {
  constexpr Millis kLongest(std::int64_t{1000} << 52);
  EXPECT_EQ(put_off(Millis(0), kLongest), kLongest + kLongest);
  EXPECT_EQ(put_off(Millis(0), kLongest + kLongest), Millis::max());
}

TEST(Timeline, ListsTheChangesSinceALookAlsoOnceOlderOnesAreForgotten) {
  Timeline timeline;
  for (std::uint32_t job = 0; job < Timeline::kChangesMax; ++job) timeline.add_end(end_of(job, 1000));
  const std::uint64_t seen = timeline.change_count();
  EXPECT_TRUE(timeline.remembers(0));
  timeline.remove_end(end_of(7, 1000));
  timeline.add_end(end_of(7, 2000));
  EXPECT_EQ(timeline.change_count(), seen + 2);
  EXPECT_FALSE(timeline.remembers(0));
  ASSERT_TRUE(timeline.remembers(seen));
  const auto changes = timeline.changes_since(seen);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].end, end_of(7, 1000));
  EXPECT_FALSE(changes[0].is_new);
  EXPECT_EQ(changes[1].end, end_of(7, 2000));
  EXPECT_TRUE(changes[1].is_new);
}

}  // namespace
}  // namespace ashlar
