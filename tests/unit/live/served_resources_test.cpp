// Pods that request a resource which Dynamic Resource Allocation serves by a DeviceClass: held, never unschedulable,
// until a node has the resource.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

constexpr const char* kAccel = "example.com/accel";
constexpr const char* kHeld =
    "FieldNotEvaluated: spec.containers[].resources.requests (example.com/accel, which no node has and DeviceClass "
    "accel serves) is not evaluated by Ashlar, so the pod is not placed: remove the field or use another scheduler, "
    "or wait until a node has it";

class ServedResourcesTest : public TrackerBench {
 protected:
  ServedResourcesTest() { see(node("plain", 8)); }
  using TrackerBench::gone;
  using TrackerBench::see;
  static DeviceClassObject serving(const std::string& name, const std::string& resource) {
    DeviceClassObject c;
    c.name = PooledString(name);
    c.uid = PooledString("uid-" + name);
    c.extended_resource = PooledString(resource);
    return c;
  }
  void see(DeviceClassObject c) {
    tracker.take(Change<DeviceClassObject>{Change<DeviceClassObject>::Kind::kModified, std::move(c)});
  }
  void gone(DeviceClassObject c) {
    tracker.take(Change<DeviceClassObject>{Change<DeviceClassObject>::Kind::kDeleted, std::move(c)});
  }
  static Pod asking(Pod p, std::int64_t amount = 1, const std::string& resource = kAccel) {
    p.requests.extended.push_back({PooledString(resource), amount});
    std::sort(p.requests.extended.begin(), p.requests.extended.end(),
              [](const Amount& a, const Amount& b) { return a.name < b.name; });
    return p;
  }
  static Node having(const std::string& name, std::int64_t amount, const std::string& resource = kAccel) {
    Node n = node(name, 0);
    n.allocatable.extended = {{PooledString(resource), amount}};
    return n;
  }
  std::string held(const std::string& name) { return tracker.hold_condition(record(name)).message; }
  std::string token(const std::string& name) { return tracker.hold_condition(record(name)).reason; }
};

TEST_F(ServedResourcesTest, APodIsHeldWithTheWordsForFieldsThatAreNotEvaluated) {
  see(serving("accel", kAccel));
  see(asking(pod("p", 0)));
  see(asking(pod("none", 0), 0));
  see(pod("other", 1));
  step();
  EXPECT_EQ(token("p"), "SchedulerError") << "no autoscaler adds nodes for it";
  EXPECT_EQ(held("p"), kHeld);
  EXPECT_TRUE(record("p").member.is_none());
  EXPECT_EQ(due, (std::vector<std::string>{"p"}));
  EXPECT_EQ(where("none"), "plain") << "it requests none of it";
  EXPECT_EQ(where("other"), "plain");
}

TEST_F(ServedResourcesTest, ANodeThatHasTheResourceTakesThePod) {
  see(serving("accel", kAccel));
  see(asking(pod("p", 0)));
  step();
  see(having("empty", 0));
  step();
  EXPECT_EQ(held("p"), kHeld) << "a node that tells 0 of it is served by the class, as with kube-scheduler";
  see(having("plugged", 2));
  step();
  EXPECT_EQ(where("p"), "plugged");
  see(asking(pod("q", 0)));
  see(asking(pod("full", 0)));
  step();
  EXPECT_EQ(where("q"), "plugged");
  EXPECT_EQ(verdict_of("full").reason, "Unschedulable") << "the nodes have it, and have none left";
  see(having("plugged", 0));
  step();
  EXPECT_EQ(held("full"), kHeld);
  EXPECT_EQ(where("p"), "plugged") << "it is bound";
  see(having("plugged", 3));
  step();
  EXPECT_EQ(where("full"), "plugged");
}

TEST_F(ServedResourcesTest, WhatWaitsIsLookedAtAgainWhenANodeGoes) {
  see(serving("accel", kAccel));
  see(having("plugged", 1));
  see(having("second", 1));
  see(asking(pod("large", 0), 2));
  step();
  EXPECT_EQ(verdict_of("large").reason, "Unschedulable");
  gone(having("second", 1));
  step();
  EXPECT_EQ(verdict_of("large").reason, "Unschedulable");
  gone(having("plugged", 1));
  EXPECT_TRUE(tracker.has_unsettled());
  step();
  EXPECT_EQ(held("large"), kHeld);
  EXPECT_FALSE(tracker.has_unsettled());
}

TEST_F(ServedResourcesTest, DeviceClassesComeChangeAndGo) {
  see(asking(pod("p", 0)));
  step();
  EXPECT_EQ(verdict_of("p").reason, "Unschedulable") << "nothing serves it";
  see(serving("accel", kAccel));
  EXPECT_TRUE(tracker.has_unsettled());
  step();
  EXPECT_EQ(held("p"), kHeld);
  see(serving("accel", "example.com/other"));
  step();
  EXPECT_EQ(verdict_of("p").reason, "Unschedulable");
  see(serving("accel", kAccel));
  see(serving("zeta", kAccel));
  step();
  EXPECT_EQ(held("p"), kHeld);
  gone(serving("accel", ""));
  step();
  EXPECT_NE(held("p").find("DeviceClass zeta serves"), std::string::npos) << held("p");
  DeviceClassObject unread = serving("zeta", "");
  unread.problem = PooledString("spec is a number");
  see(unread);
  step();
  EXPECT_NE(held("p").find("DeviceClass zeta serves"), std::string::npos) << "what was last read of it stays";
  gone(serving("zeta", ""));
  step();
  EXPECT_EQ(verdict_of("p").reason, "Unschedulable");
  see(serving("named-after", ""));
  see(asking(pod("q", 0)));
  step();
  EXPECT_EQ(held("q"), "");
}

TEST_F(ServedResourcesTest, AFieldOfThePodItselfThatIsNotEvaluatedKeepsItHeld) {
  see(serving("accel", kAccel));
  PodRules rules;
  rules.unsupported = "spec.resourceClaims";
  see(under(asking(pod("p", 0)), rules));
  step();
  gone(serving("accel", kAccel));
  see(having("plugged", 1));
  step();
  EXPECT_TRUE(held("p").starts_with("FieldNotEvaluated: spec.resourceClaims is")) << held("p");
  EXPECT_TRUE(held("p").ends_with("or use another scheduler")) << "no node helps: " << held("p");
}

TEST_F(ServedResourcesTest, AGangWithSuchAMemberIsHeldUntilANodeHasIt) {
  see(serving("accel", kAccel));
  see(gang_pod("g", 0, 2, 1));
  see(asking(gang_pod("g", 1, 2, 1)));
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(held("g-1"), kHeld);
  Node plugged = node("plugged", 8);
  plugged.allocatable.extended.insert(plugged.allocatable.extended.begin() + 1, {PooledString(kAccel), 1});
  see(plugged);
  step();
  EXPECT_EQ(bound(), 2);
  EXPECT_EQ(where("g-1"), "plugged");
}

TEST_F(ServedResourcesTest, APodWhosePlaceIsLostIsHeldIfNoNodeHasTheResourceAnyMore) {
  is_answering = false;
  see(serving("accel", kAccel));
  see(having("plugged", 1));
  see(asking(pod("p", 0)));
  step();
  ASSERT_EQ(where("p"), "plugged");
  see(having("plugged", 0));
  step();
  const PodSlot slot = tracker.pods().find(PooledString("ns"), PooledString("p"));
  ASSERT_EQ(record("p").phase, PodRecord::Phase::kAssumed) << "its binding may be under way";
  tracker.note_rejected(slot);
  EXPECT_EQ(held("p"), kHeld);
  step();
  EXPECT_EQ(where("p"), "");
}

TEST_F(ServedResourcesTest, AResourceBeyondTheColumnsIsSaidAsSuch) {
  see(serving("accel", kAccel));
  see(asking(pod("p", 0)));
  step();
  for (int i = 0; i < 70; ++i) see(having("n" + std::to_string(i), 1, "example.com/x" + std::to_string(i)));
  step();
  EXPECT_EQ(held("p"), kHeld);
  see(having("late", 1));
  step();
  EXPECT_TRUE(held("p").starts_with("Misconfigured: requests example.com/accel, but all ")) << held("p");
}

TEST_F(ServedResourcesTest, APodThatComesAfterTheClassIsHeldAtOnce) {
  see(serving("accel", kAccel));
  step();
  see(asking(pod("p", 0)));
  EXPECT_EQ(held("p"), kHeld);
}

TEST_F(ServedResourcesTest, NothingIsLookedAtAgainForWhatChangesNoAnswer) {
  see(serving("accel", kAccel));
  see(having("plugged", 1));
  step();
  see(serving("accel", kAccel));
  EXPECT_FALSE(tracker.has_unsettled()) << "it serves what it served";
  see(having("second", 1));
  EXPECT_FALSE(tracker.has_unsettled()) << "a node had it";
  see(having("third", 1, "example.com/unserved"));
  EXPECT_FALSE(tracker.has_unsettled()) << "no class serves it";
}

}  // namespace
}  // namespace ashlar::kube
