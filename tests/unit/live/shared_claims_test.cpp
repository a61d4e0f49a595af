// Claims that thousands of pods name: what a change of one costs.
#include <gtest/gtest.h>

#include <string>

#include "volume_bench.h"

namespace ashlar::kube {
namespace {

class SharedClaims : public VolumeBench {
 protected:
  static constexpr std::uint64_t kPods = 400;

  /// A node for one of the pods, all of which name one claim for one pod.
  void see_users() {
    PersistentVolumeClaim c = bound_claim("data", "v");
    c.access_modes = {"ReadWriteOncePod"};
    see(node("n", 8));
    see(volume("v"));
    see(c);
    for (std::uint64_t i = 0; i < kPods; ++i) see(user("p" + std::to_string(i), {"data"}, 8));
  }
  std::uint64_t held() const {
    std::uint64_t count = 0;
    for (PodSlot s = 0; s < tracker.pods().slots(); ++s)
      count += tracker.pods()[s].volume_hold != HoldReason::kNone ? 1u : 0u;
    return count;
  }
};

TEST_F(SharedClaims, ThoseThatWaitForAClaimForOnePodAreNotEachComparedWithAll) {
  see_users();
  step();
  ASSERT_EQ(where("p0"), "n");
  const std::uint64_t looked = tracker.claim_users_looked_for(), touched = tracker.volumes().pods_touched();
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(held(), kPods - 1);
  EXPECT_LE(tracker.claim_users_looked_for() - looked, 3u) << "once in a step";
  EXPECT_LE(tracker.volumes().pods_touched() - touched, 3 * kPods) << "each once in a step";
}

TEST_F(SharedClaims, TheNextOneGetsTheClaimWhenThePodThatHasItIsGone) {
  see_users();
  for (int i = 0; i < 3; ++i) step();
  ASSERT_EQ(held(), kPods - 1);
  gone(user("p0", {"data"}, 8));
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(bound(), 1);
  EXPECT_EQ(held(), kPods - 2);
}

/// A claim changes twice between two decisions; the second time for a pod that was not there the first time.
TEST_F(SharedClaims, APodThatComesBetweenTwoChangesHearsOfTheSecond) {
  see(node("n", 8));
  see(volume("v"));
  PersistentVolumeClaim c = bound_claim("data", "v");
  c.deletion_requested = Millis(1);
  see(c);
  see(user("p", {"data"}, 1));
  PersistentVolumeClaim lost = c;
  lost.is_lost = true;
  see(lost);
  see(user("q", {"data"}, 1));
  see(bound_claim("data", "v"));
  step();
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(where("q"), "n");
}

}  // namespace
}  // namespace ashlar::kube
