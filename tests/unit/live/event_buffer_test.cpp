// The clock that never runs backwards, and the list of events between the watches and the engine.
#include "live/track/event_buffer.h"

#include <gtest/gtest.h>

namespace ashlar::kube {
namespace {

TEST(WallClock, StandsStillWhileTheWallClockIsSetBack) {
  Millis wall(1'000);
  WallClock clock([&] { return wall; });
  EXPECT_EQ(clock.now(), Millis(1'000));
  wall = Millis(400);
  EXPECT_EQ(clock.now(), Millis(1'000));
  wall = Millis(1'001);
  EXPECT_EQ(clock.now(), Millis(1'001));
}

TEST(WallClock, GoesOnAtHalfItsSpeedAfterAJumpAheadThatIsCorrected) {
  Millis wall(1'000'000), steady(50);
  WallClock clock([&] { return wall; }, [&] { return steady; });
  EXPECT_EQ(clock.now(), Millis(1'000'000));
  wall = Millis(4'600'000);  // an hour ahead
  steady = Millis(60);
  EXPECT_EQ(clock.now(), Millis(4'600'000));
  wall = Millis(1'000'020);
  EXPECT_EQ(clock.now(), Millis(4'600'000));
  for (int i = 0; i < 100'000; ++i) {  // every millisecond
    wall += Millis(1);
    steady += Millis(1);
    clock.now();
  }
  EXPECT_EQ(clock.now(), Millis(4'650'000));
  wall += Millis(7'100'000);
  steady += Millis(7'100'000);
  EXPECT_EQ(clock.now(), wall) << "caught up";
  wall -= Millis(10);
  EXPECT_EQ(clock.now(), wall + Millis(10));
  steady += Millis(4);
  EXPECT_EQ(clock.now(), wall + Millis(12));
}

TEST(EventBuffer, HandsOverInOrderWithTheTimeOfTheLastStamp) {
  Millis wall(1'000);
  WallClock clock([&] { return wall; });
  EventBuffer source(clock);
  EXPECT_FALSE(source.has_news());
  source.stamp();
  source.add(Ended{JobId(1)});
  wall = Millis(2'000);
  source.add(Ended{JobId(2)});
  EXPECT_EQ(source.now(), Millis(1'000));
  source.stamp();
  source.add(Ended{JobId(3)});
  EXPECT_EQ(source.size(), 3u);
  std::vector<Event> out{{Millis(5), Tick{}}};
  source.take(out);
  ASSERT_EQ(out.size(), 4u);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(std::get<Ended>(out[static_cast<std::size_t>(i)].body).job, JobId(i));
    EXPECT_EQ(out[static_cast<std::size_t>(i)].at, Millis(i < 3 ? 1'000 : 2'000));
  }
  EXPECT_EQ(source.size(), 0u);
  source.add(Ended{JobId(4)});
  std::vector<Event> next;
  source.take(next);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(std::get<Ended>(next[0].body).job, JobId(4));
  source.take(next);
  EXPECT_EQ(next.size(), 1u);
}

TEST(EventBuffer, ConfirmationsAreNoNews) {
  WallClock clock([] { return Millis(1); });
  EventBuffer source(clock);
  source.add_confirmation(Bound{MemberId(0), NodeId(0), {}});
  source.add_confirmation(Bound{MemberId(1), NodeId(0), {}});
  EXPECT_EQ(source.size(), 2u);
  EXPECT_FALSE(source.has_news());
  source.add(Ended{JobId(1)});
  EXPECT_TRUE(source.has_news());
  std::vector<Event> out;
  source.take(out);
  EXPECT_EQ(out.size(), 3u);
  EXPECT_FALSE(source.has_news());
  source.add(Ended{JobId(2)});
  EXPECT_TRUE(source.has_news()) << "what was confirmed before is forgotten";
}

}  // namespace
}  // namespace ashlar::kube
