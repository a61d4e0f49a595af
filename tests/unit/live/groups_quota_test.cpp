// PodGroups that run and go to another gang: what they use stays charged to the queue that they started in.
#include <algorithm>

#include "live/read/why_subject.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class GroupsQuota : public TrackerBench {
 protected:
  GroupsQuota()
      : TrackerBench(
            TrackerOptions{.queues = {{.name = "small", .parent = "", .quota = {1'000, kUnlimited, kUnlimited}},
                                      {.name = "shared", .parent = "", .quota = {4'000, kUnlimited, kUnlimited}}}}) {
    see(node("n0", 8));
    see(node("n1", 8));
  }
  static PodGroup group(const std::string& name, const std::string& gang, const std::string& size = "1") {
    PodGroup g = ClusterObjects::group(name, 1);
    if (gang.empty()) return g;
    g.annotations = {{PooledString("ashlar.dev/gang"), PooledString(gang)},
                     {PooledString("ashlar.dev/gang-size"), PooledString(size)}};
    return g;
  }
  static Pod member(const std::string& name, const std::string& of, std::int64_t gpus, const std::string& queue) {
    Pod p = with(pod(name, gpus), "ashlar.dev/queue", queue);
    p.group_name = PooledString(of);
    return p;
  }
  std::int64_t used(const std::string& queue) {
    return state.queues().used(tracker.names().queues.find(PooledString(queue)))[0];
  }
  /// A gang x with one GPU of the small queue, and by itself a PodGroup with all of the shared queue.
  void see_both() {
    see(group("g0", "x"));
    see(member("p0", "g0", 1, "small"));
    see(group("g1", ""));
    see(member("p1", "g1", 4, "shared"));
    step();
    ASSERT_EQ(used("small"), 1'000);
    ASSERT_EQ(used("shared"), 4'000);
  }
};

TEST_F(GroupsQuota, ARunningPodGroupDoesNotGoToAGangOfAnotherQueue) {
  see_both();
  see(group("g0", "x", "2"));
  see(group("g1", "x", "2"));
  step();
  EXPECT_EQ(used("small"), 1'000);
  EXPECT_EQ(used("shared"), 4'000);
  EXPECT_NE(record("p0").job, record("p1").job);
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.back(),
            "PodGroup ns/g1 names gang x of queue small, but its running pods are charged to queue shared: it stays a "
            "gang by itself");
  for (const char* name : {"ns/g1", "ns/p1"})
    EXPECT_EQ(apart_text(tracker.tables(), find_subject(tracker.tables(), name, "")), said.back()) << name;
  EXPECT_EQ(apart_text(tracker.tables(), find_subject(tracker.tables(), "ns/g0", "")), "");
  see(group("g2", ""));
  see(member("p2", "g2", 4, "shared"));
  step();
  EXPECT_FALSE(record("p2").is_bound_seen);
  EXPECT_EQ(where("p2"), "") << "the shared queue is used up";
}

TEST_F(GroupsQuota, TwoThatRunDoNotMeetInANewGang) {
  see_both();
  see(group("g0", "y", "2"));
  see(group("g1", "y", "2"));
  step();
  step();
  EXPECT_EQ(used("small"), 1'000);
  EXPECT_EQ(used("shared"), 4'000);
}

TEST_F(GroupsQuota, ARunningPodGroupGoesToAGangOfItsQueue) {
  see_both();
  gone(member("p0", "g0", 1, "small"));
  gone(group("g0", ""));
  step();
  see(group("g1", "x", "1"));
  step();
  EXPECT_EQ(tracker.gangs()[record("p1").gang].kind, GangKind::kGroups);
  EXPECT_EQ(used("shared"), 4'000);
}

TEST_F(GroupsQuota, WhatStartedInTheGangsQueueStaysChargedToItWhenItLeaves) {
  see(group("g0", "x"));
  see(member("p0", "g0", 1, "shared"));
  step();
  see(group("g0", "x", "2"));
  see(group("g1", "x", "2"));
  see(member("p1", "g1", 3, "small"));  // a gang that runs stays in its queue
  step();
  ASSERT_EQ(used("shared"), 4'000);
  see(group("g1", ""));
  step();
  EXPECT_EQ(used("shared"), 4'000);
  EXPECT_EQ(used("small"), 0);
}

}  // namespace
}  // namespace ashlar::kube
