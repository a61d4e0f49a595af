// by-quota: who is marked to start and to stop.
#include "policy/victim/by_count.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

std::vector<unsigned> rows(const std::vector<JobId>& jobs) {
  std::vector<unsigned> out;
  for (const JobId j : jobs) out.push_back(j.value);
  return out;
}

using Rows = std::vector<unsigned>;

struct CountCandidate {
  JobId job;
  std::int64_t devices = 0;
  bool is_running = false;
};

CountMarks mark_by_count(std::int64_t quota_devices, const std::vector<CountCandidate>& candidates) {
  CountMarks marks;
  CountWalk walk(quota_devices);
  for (const CountCandidate& c : candidates) {
    const CountWalk::Mark mark = walk.next(c.devices, c.is_running);
    if (mark == CountWalk::Mark::kStart) marks.start.push_back(c.job);
    if (mark == CountWalk::Mark::kStop) marks.stop.push_back(c.job);
  }
  return marks;
}

TEST(ByCount, WhoeverComesFirstGetsDevicesAndRunningJobsThatGetNoneStop) {
  const std::vector<CountCandidate> candidates{
      {JobId(0u), 4, false}, {JobId(1u), 8, true}, {JobId(2u), 2, true}, {JobId(3u), 3, false}, {JobId(4u), 2, false}};
  const CountMarks marks = mark_by_count(8, candidates);
  EXPECT_EQ(rows(marks.start), (Rows{0, 4}));
  EXPECT_EQ(rows(marks.stop), Rows{1});
}

TEST(ByCount, NobodyStopsWhereAllFit) {
  const std::vector<CountCandidate> candidates{{JobId(0u), 4, true}, {JobId(1u), 4, true}, {JobId(2u), 1, false}};
  const CountMarks marks = mark_by_count(8, candidates);
  EXPECT_TRUE(marks.start.empty());
  EXPECT_TRUE(marks.stop.empty());
}

TEST(ByCount, ARunningJobThatPassesAWaitingOneChangesNothing) {
  // The reason why srtf need not look again while time passes: every running job has its devices, so neighbours may
  // change places.
  for (std::int64_t waiting = 1; waiting <= 10; ++waiting) {
    for (std::int64_t running = 1; running <= 8; ++running) {
      const CountCandidate w{JobId(0u), waiting, false}, r{JobId(1u), running, true}, last{JobId(2u), 2, false};
      const CountMarks before = mark_by_count(8, std::vector{w, r, last});
      if (!before.stop.empty()) continue;  // then r would not be running any more
      const CountMarks after = mark_by_count(8, std::vector{r, w, last});
      EXPECT_EQ(rows(before.start), rows(after.start));
      EXPECT_TRUE(after.stop.empty());
    }
  }
}

}  // namespace
}  // namespace ashlar
