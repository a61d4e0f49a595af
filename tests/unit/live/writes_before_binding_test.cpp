// Commits that meet one another or a limit: who may write for a pod, for how long a place is kept, and what is taken back
// of a pod that another scheduler has bound.
#include "commit_bench.h"

namespace ashlar::kube {
namespace {

TEST_F(Preparation, ANewPlaceThatIsDecidedAtOnceWaitsUntilTheLastIsTakenBack) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  gone(node("n", 8));
  see(node("m", 8));
  step();
  binder->submit(plan);
  wants["p0"].wait = {};
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(sent("PATCH", 0), 3u) << "written, taken back, written";
  skipped = Millis(1'100);
  ASSERT_TRUE(until([&] { return wants["p0"].ended == 2 && binder->is_idle(); }));
  EXPECT_EQ(owner(0), "p0");
  EXPECT_EQ(owner(1), "p0");
}

TEST_F(Preparation, ANewPodOfTheSameNameWaitsUntilWhatWasWrittenForTheOldIsTakenBack) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  gone(pod("p0", 1));
  see(pod("other", 1));  // takes the slot
  Pod again = pod("p0", 1);
  again.uid = PooledString("uid-of-the-next");
  see(again);
  wants["p0"].wait = {};
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(sent("PATCH", 0), 3u) << "written, taken back, written";
  skipped = Millis(1'100);
  ASSERT_TRUE(until([&] { return wants["p0"].ended == 2 && binder->is_idle(); }));
  EXPECT_EQ(owner(0), "p0");
  EXPECT_EQ(owner(1), "p0");
}

}  // namespace
}  // namespace ashlar::kube
