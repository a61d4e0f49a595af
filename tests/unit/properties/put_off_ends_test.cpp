// The ends of jobs that have outlasted their estimates: kept from one look to the next, they are those of a timeline
// that is read for the first time.
#include "engine/reserve/put_off_ends.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "base/rng.h"

namespace ashlar {
namespace {

std::vector<PutOffEnd> list_of(const PutOffEnds& ends) {
  std::vector<PutOffEnd> list;
  for (auto it = ends.begin(); it != ends.end(); ++it) list.push_back(*it);
  return list;
}

TEST(PutOffEnds, FollowTheTimelineAndTime) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    Timeline timeline;
    PutOffEnds kept;
    std::vector<Timeline::End> running;
    Millis now(0);
    for (int step = 0; step < 200; ++step) {
      for (std::uint64_t n = rng.below(4); n > 0; --n) {
        running.push_back({now + Millis(static_cast<std::int64_t>(rng.below(20'000))), 1, JobId(rng.below(1 << 20))});
        if (rng.below(20) == 0) running.back().at = Millis::max();
        timeline.add_end(running.back());
      }
      if (!running.empty() && rng.below(3) > 0) {
        const auto it = running.begin() + static_cast<std::ptrdiff_t>(rng.below(running.size()));
        timeline.remove_end(*it);
        running.erase(it);
      }
      now = now + Millis(static_cast<std::int64_t>(rng.below(3) == 0 ? 0 : rng.below(5'000)));
      if (rng.below(4) == 0) continue;
      kept.bring_up(timeline, now);
      PutOffEnds anew;
      anew.bring_up(timeline, now);
      ASSERT_EQ(list_of(kept), list_of(anew)) << "seed " << seed;
      for (const auto& [end, was] : list_of(kept)) {
        ASSERT_GT(end.at, now);
        ASSERT_EQ(end.at, put_off(was, now));
      }
    }
  }
}

TEST(PutOffEnds, TellWhichJobsWerePutOff) {
  int put_off_since = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    Timeline timeline;
    std::map<JobId, Millis> running, expected;
    for (std::uint32_t job = 0; job < 30; ++job) {
      const Millis at(static_cast<std::int64_t>(rng.below(20'000)));
      timeline.add_end({at, 1, JobId(job)});
      running[JobId(job)] = at;
    }
    PutOffEnds ends;
    ends.bring_up(timeline, Millis(0));
    for (Millis now(0); now < Millis(60'000); now = now + Millis(static_cast<std::int64_t>(rng.below(3'000)))) {
      const std::uint64_t since = ends.move_count();
      ends.bring_up(timeline, now);
      ASSERT_TRUE(ends.remembers(since));
      const auto moved = ends.moved_since(since);
      const std::set<JobId> told(moved.begin(), moved.end());
      for (const auto& [job, at] : running) {
        const Millis is_now = at > now ? at : put_off(at, now);
        const auto was = expected.find(job);
        if (was != expected.end()) ASSERT_EQ(told.contains(job), was->second != is_now) << "seed " << seed;
        put_off_since += was != expected.end() && was->second != is_now ? 1 : 0;
        expected[job] = is_now;
      }
    }
    const std::uint64_t since = ends.move_count();
    ends.bring_up(timeline, Millis(100));
    EXPECT_FALSE(ends.remembers(since)) << "time has run backwards";
  }
  EXPECT_GT(put_off_since, 1000);
}

TEST(PutOffEnds, AreReadAnewWhereTheTimelineHasForgotten) {
  Timeline timeline;
  PutOffEnds ends;
  ends.bring_up(timeline, Millis(5'000));
  for (std::uint32_t job = 0; job < Timeline::kChangesMax + 1; ++job) timeline.add_end({Millis(4'500), 1, JobId(job)});
  ends.bring_up(timeline, Millis(5'000));
  EXPECT_EQ(list_of(ends).size(), Timeline::kChangesMax + 1);
  ends.bring_up(timeline, Millis(4'000));
  EXPECT_TRUE(list_of(ends).empty()) << "time has run backwards, to before their ends";
}

TEST(PutOff, DoublesUntilItIsInTheFuture) {
  EXPECT_EQ(put_off(Millis(5'000), Millis(5'000)), Millis(6'000));
  EXPECT_EQ(put_off(Millis(5'000), Millis(5'999)), Millis(6'000));
  EXPECT_EQ(put_off(Millis(5'000), Millis(6'000)), Millis(7'000));
  EXPECT_EQ(put_off(Millis(5'000), Millis(7'500)), Millis(9'000));
  EXPECT_EQ(put_off(Millis(0), Millis::max()), Millis::max());
}

}  // namespace
}  // namespace ashlar
