// An API server that is newer than this release: what it says of a waiting pod that nobody here knows holds the pod,
// what it says elsewhere is counted and logged once.
#include <algorithm>

#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class NewerServer : public TrackerBench {
 protected:
  NewerServer() : NewerServer(std::set<std::string>{}) {}
  explicit NewerServer(std::set<std::string> accepted)
      : TrackerBench(TrackerOptions{.accepted_fields = std::move(accepted)}) {
    see(node("n", 8));
  }
  static Pod newer(Pod p, const std::vector<PooledString>& fields) {
    PodRules rules = p.rules ? *p.rules : PodRules();
    rules.unknown_fields = fields;
    return under(std::move(p), std::move(rules));
  }
  std::size_t lines_about(const std::string& field) const {
    return static_cast<std::size_t>(std::count_if(
        said.begin(), said.end(), [&](const std::string& line) { return line.find(field) != std::string::npos; }));
  }
};

TEST_F(NewerServer, AnUnknownFieldOfItsSpecHoldsAWaitingPod) {
  see(newer(pod("p", 1), {"PodSpec.45", "Container.31"}));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(record("p").hold, HoldReason::kUnknownField);
  const ConditionText text = tracker.hold_condition(record("p"));
  EXPECT_EQ(text.reason, "SchedulerError") << "more nodes would not help";
  EXPECT_NE(text.message.find("(PodSpec.45, Container.31)"), std::string::npos) << text.message;
  see(pod("p", 1));
  step();
  EXPECT_EQ(where("p"), "n") << "the field was removed";
}

TEST_F(NewerServer, AGangWaitsForAMemberWithOne) {
  see(newer(gang_pod("g", 0, 2, 1), {"PodSpec.45"}));
  see(gang_pod("g", 1, 2, 1));
  step();
  EXPECT_EQ(bound(), 0);
}

TEST_F(NewerServer, ABoundPodWithOneIsCountedAndItsNodeStaysOpen) {
  see(on(newer(pod("p", 3), {"PodSpec.45"}), "n"));
  see(pod("q", 1));
  step();
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(where("q"), "n");
  EXPECT_EQ(idle_devices("n"), 4);
}

TEST_F(NewerServer, WhatIsNewElsewhereIsLoggedOnceAndPlacesThePod) {
  for (int i = 0; i < 3; ++i) {
    Pod p = pod("p" + std::to_string(i), 1);
    p.unknown_fields = PooledString("PodStatus.23");
    see(p);
  }
  Node n = node("n", 8);
  n.unknown_fields = PooledString("NodeStatus.15");
  see(n);
  step();
  EXPECT_EQ(bound(), 3);
  EXPECT_EQ(lines_about("PodStatus.23"), 1u);
  EXPECT_EQ(lines_about("NodeStatus.15"), 1u);
  EXPECT_EQ(tracker.unknown_fields_count(), 2u);
}

TEST_F(NewerServer, NoMoreThanSixtyFourKindsAreRemembered) {
  for (int i = 0; i < 100; ++i) see(newer(pod("p" + std::to_string(i), 1), {PooledString("X." + std::to_string(i))}));
  EXPECT_EQ(tracker.unknown_fields_count(), 64u);
}

class AcceptedFields : public NewerServer {
 protected:
  AcceptedFields() : NewerServer({"PodSpec.45"}) {}
};

TEST_F(AcceptedFields, DoNotHoldAPodButOthersBesideThemDo) {
  see(newer(pod("p", 1), {"PodSpec.45"}));
  see(newer(pod("q", 1), {"PodSpec.45", "PodSpec.46"}));
  step();
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(where("q"), "");
  EXPECT_EQ(tracker.hold_condition(record("q")).message.find("PodSpec.45"), std::string::npos);
}

}  // namespace
}  // namespace ashlar::kube
