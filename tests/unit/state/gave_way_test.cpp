// GaveWay: who has given way for whom, also through others, as long as all of them are there.
#include "state/jobs/gave_way.h"

#include <gtest/gtest.h>

#include <vector>

namespace ashlar {
namespace {

std::vector<JobId> rows_of(std::initializer_list<std::uint32_t> rows) {
  std::vector<JobId> jobs;
  for (const std::uint32_t row : rows) jobs.emplace_back(row);
  return jobs;
}

/// 1 for 2, 2 for 3 and for 4.
struct WaysGiven {
  GaveWay gave_way;
  WaysGiven() {
    gave_way.note(JobId(1u), JobId(2u));
    gave_way.note(JobId(2u), JobId(3u));
    gave_way.note(JobId(2u), JobId(4u));
  }
};

TEST(GaveWay, ReachesThroughOthersInBothDirections) {
  const WaysGiven w;
  EXPECT_EQ(w.gave_way.ahead_of(JobId(1u)), rows_of({2, 3, 4}));
  EXPECT_EQ(w.gave_way.ahead_of(JobId(2u)), rows_of({3, 4}));
  EXPECT_TRUE(w.gave_way.ahead_of(JobId(3u)).empty());
  EXPECT_EQ(w.gave_way.behind(JobId(4u)), rows_of({1, 2}));
  EXPECT_EQ(w.gave_way.behind(JobId(2u)), rows_of({1}));
  EXPECT_TRUE(w.gave_way.behind(JobId(1u)).empty());
}

TEST(GaveWay, OfAJobThatIsOverCountsNoMore) {
  WaysGiven w;
  w.gave_way.forget(JobId(2u));
  for (const std::uint32_t job : {1u, 2u, 3u, 4u}) {
    EXPECT_TRUE(w.gave_way.ahead_of(JobId(job)).empty()) << job;
    EXPECT_TRUE(w.gave_way.behind(JobId(job)).empty()) << job;
  }
  w.gave_way.note(JobId(2u), JobId(5u));  // another in its row
  EXPECT_TRUE(w.gave_way.ahead_of(JobId(1u)).empty());
  EXPECT_TRUE(w.gave_way.behind(JobId(3u)).empty());
}

/// Though it has given way for the same job before.
TEST(GaveWay, OfAJobThatGaveWayTwiceCountsNoMoreEither) {
  WaysGiven w;
  w.gave_way.note(JobId(1u), JobId(2u));
  w.gave_way.forget(JobId(1u));
  EXPECT_TRUE(w.gave_way.behind(JobId(2u)).empty());
  w.gave_way.note(JobId(1u), JobId(2u));
  w.gave_way.note(JobId(1u), JobId(2u));
  w.gave_way.forget(JobId(2u));
  EXPECT_TRUE(w.gave_way.ahead_of(JobId(1u)).empty());
}

}  // namespace
}  // namespace ashlar
