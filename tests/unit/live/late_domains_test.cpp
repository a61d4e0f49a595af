// Gangs with a pod that is bound before their domain is known: those that follow it are placed in its domain, as they
// would be after a restart.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class LateDomains : public TrackerBench {
 protected:
  LateDomains() {
    for (int n = 0; n < 4; ++n)
      see(node("n" + std::to_string(n), 8, {{PooledString("l/rack"), PooledString("r" + std::to_string(n / 2))}}));
  }
  /// The PodGroup as one of this many of gang x.
  static PodGroup of_x(PodGroup g, const std::string& size) {
    g.annotations = {{PooledString("ashlar.dev/gang"), PooledString("x")},
                     {PooledString("ashlar.dev/gang-size"), PooledString(size)}};
    return g;
  }
  /// The only other node of n2's rack is taken.
  void fill_rack() { see(on(pod("busy", 8), "n3")); }
};

TEST_F(LateDomains, APodThatIsBoundBeforeItsPodGroupIsSeenHasItsDomain) {
  fill_rack();
  see(on(member("pg", 0), "n2"));
  step();
  ASSERT_EQ(bound(), 2);
  see(group("pg", 2, "l/rack"));
  see(member("pg", 1));
  step();
  EXPECT_EQ(where("pg-1"), "") << "its rack is full";
  EXPECT_EQ(where("pg-0"), "n2");
  EXPECT_EQ(idle_devices("n2"), 0);
  gone(pod("busy", 8));
  step();
  EXPECT_EQ(where("pg-1"), "n3");
}

TEST_F(LateDomains, TheFirstPodOfAGroupOfARunningGangMayBeBoundAlready) {
  see(of_x(group("leader", 1, ""), "1"));
  see(member("leader", 0, 1));
  step();
  ASSERT_EQ(bound(), 1);
  fill_rack();
  see(of_x(group("leader", 1, ""), "2"));
  see(of_x(group("workers", 2, "l/rack"), "2"));
  step();
  see(on(member("workers", 0), "n2"));
  step();
  see(member("workers", 1));
  step();
  EXPECT_EQ(where("workers-1"), "") << "its rack is full";
  EXPECT_EQ(record("leader-0").job, record("workers-0").job);
  gone(pod("busy", 8));
  step();
  EXPECT_EQ(where("workers-1"), "n3");
}

TEST_F(LateDomains, ALabelThatNodesGetLateCountsForWhatIsBoundBefore) {
  see(on(member("pg", 0), "n2"));
  see(group("pg", 2, "l/switch"));
  see(member("pg", 1));
  step();
  ASSERT_EQ(bound(), 1);
  EXPECT_EQ(hold_of("pg-1").reason, HoldReason::kNoSuchDomain);
  for (int n = 0; n < 4; ++n)
    see(node("n" + std::to_string(n), 8,
             {{PooledString("l/rack"), PooledString("r" + std::to_string(n / 2))},
              {PooledString("l/switch"), PooledString(n == 3 ? "other" : "s" + std::to_string(n))}}));
  step();
  EXPECT_EQ(where("pg-1"), "") << "no other node has the switch of the one that is bound";
  see(node("n4", 8, {{PooledString("l/switch"), PooledString("s2")}}));
  step();
  EXPECT_EQ(where("pg-1"), "n4");
}

/// The domain of what has started under a PodGroup is not that of another one of the same name.
TEST_F(LateDomains, APodGroupThatIsCreatedAgainMovesNoStartedGang) {
  see(group("pg", 2, "l/rack"));
  for (int i = 0; i < 2; ++i) see(member("pg", i));
  step();
  ASSERT_EQ(bound(), 2);
  const JobId job = record("pg-0").job;
  gone(group("pg", 2, "l/rack"));
  step();
  PodGroup other = group("pg", 2, "");
  other.uid = PooledString("uid-other");
  see(other);
  step();
  EXPECT_EQ(record("pg-0").job, job);
  EXPECT_FALSE(state.job(job).within.is_none());
}

TEST_F(LateDomains, WhatHasBegunWithoutADomainUnderItsPodGroupGetsNoneLater) {
  see(on(member("pg", 0), "n2"));
  step();
  see(group("pg", 2, ""));
  see(member("pg", 1));
  step();
  ASSERT_EQ(bound(), 2);
  const JobId job = record("pg-0").job;
  gone(group("pg", 2, ""));
  step();
  PodGroup other = group("pg", 2, "l/rack");
  other.uid = PooledString("uid-other");
  see(other);
  step();
  EXPECT_EQ(record("pg-0").job, job);
  EXPECT_TRUE(state.job(job).within.is_none());
}

}  // namespace
}  // namespace ashlar::kube
