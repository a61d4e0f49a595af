// An API server that is newer than this release: what it says of a waiting pod that nobody here knows holds the pod,
// what it says elsewhere is counted and logged once.
#include <algorithm>

#include "../kubeclient/recorded.h"
#include "volume_bench.h"

namespace ashlar::kube {
namespace {

class NewerServer : public VolumeBench {
 protected:
  NewerServer() : NewerServer(std::set<std::string>{}) {}
  explicit NewerServer(std::set<std::string> accepted)
      : VolumeBench(TrackerOptions{.accepted_fields = std::move(accepted)}) {
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

// ---- what a waiting pod says elsewhere ------------------------------------------------------------------------------

TEST_F(NewerServer, AnUnknownFieldOfItsPodGroupHoldsAGang) {
  PodGroup g = group("g", 1);
  g.unknown_spec_fields = {"PodGroupSpec.newField", "GangSchedulingPolicy.maxCount"};
  see(g);
  see(member("g", 0));
  step();
  EXPECT_EQ(where("g-0"), "");
  EXPECT_NE(
      hold_of("g-0").detail.find("PodGroup g has what this release of Ashlar does not know (PodGroupSpec.newField, "
                                 "GangSchedulingPolicy.maxCount)"),
      std::string::npos)
      << hold_of("g-0").detail;
  EXPECT_EQ(tracker.unknown_fields_count(), 2u);
  see(group("g", 1));
  step();
  EXPECT_EQ(where("g-0"), "n") << "the field was removed";
}

TEST_F(NewerServer, AnUnknownFieldOfTheRestOfAPodGroupIsCounted) {
  PodGroup g = group("g", 1);
  g.unknown_fields = PooledString("PodGroupStatus.newField");
  see(g);
  see(member("g", 0));
  step();
  EXPECT_EQ(where("g-0"), "n");
  EXPECT_EQ(tracker.unknown_fields_count(), 1u);
}

/// A claim with an unknown field.
PersistentVolumeClaim newer_claim(PersistentVolumeClaim c) {
  c.unknown_spec_fields = {"PersistentVolumeClaimSpec.10"};
  return c;
}

TEST_F(NewerServer, AnUnknownFieldOfAClaimThatIsBoundWithThePodHoldsIt) {
  see(storage_class("late", "driver"));
  see(newer_claim(claim("c")));
  see(user("p", {"c"}));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(record("p").hold, HoldReason::kVolumesUnreadable);
  EXPECT_NE(waits("p").find("\"c\" has what this release of Ashlar does not know (PersistentVolumeClaimSpec.10)"),
            std::string::npos)
      << waits("p");
  EXPECT_EQ(lines_about("PersistentVolumeClaimSpec.10"), 1u);
  see(claim("c"));
  step();
  EXPECT_EQ(where("p"), "n") << "the field was removed";
}

TEST_F(NewerServer, UnknownFieldsOfABoundClaimAndOfInfrastructureAreCounted) {
  StorageClass made = storage_class("late", "driver");
  made.unknown_fields = PooledString("StorageClass.9");
  see(made);
  see(newer_claim(bound_claim("c", "v")));
  PersistentVolume v = volume("v");
  v.unknown_fields = PooledString("PersistentVolumeSpec.11");
  see(v);
  PersistentVolumeClaim late = claim("late");
  late.unknown_fields = PooledString("PersistentVolumeClaimStatus.11");
  see(late);
  see(user("p", {"c", "late"}));
  step();
  EXPECT_EQ(where("p"), "n") << waits("p");
  for (const char* field :
       {"StorageClass.9", "PersistentVolumeClaimSpec.10", "PersistentVolumeSpec.11", "PersistentVolumeClaimStatus.11"})
    EXPECT_EQ(lines_about(field), 1u) << field;
  EXPECT_EQ(tracker.unknown_fields_count(), 4u);
}

class AcceptedElsewhere : public NewerServer {
 protected:
  AcceptedElsewhere() : NewerServer({"PodGroupSpec.newField", "PersistentVolumeClaimSpec.10"}) {}
};

TEST_F(AcceptedElsewhere, DoesNotHoldAGangOrAClaim) {
  PodGroup g = group("g", 1);
  g.unknown_spec_fields = {"PodGroupSpec.newField"};
  see(g);
  see(member("g", 0, 1));
  see(storage_class("late", "driver"));
  see(newer_claim(claim("c")));
  see(user("p", {"c"}));
  step();
  EXPECT_EQ(where("g-0"), "n");
  EXPECT_EQ(where("p"), "n");
}

// ---- answers of three releases --------------------------------------------------------------------------------------

/// What the server of a release has recorded: its node, and its pods `plain`, which waits, and `running`, which has 3
/// GPUs of the node.
class Releases : public VolumeBench {
 protected:
  explicit Releases(std::set<std::string> accepted = {})
      : VolumeBench(TrackerOptions{.accepted_fields = std::move(accepted)}) {}
  void see_recorded(const std::string& release) {
    for (Node& n : recorded_list<Node>(release, "nodes.pb")) TrackerBench::see(std::move(n));
    for (StorageClass& c : recorded_list<StorageClass>(release, "storageclasses.pb")) VolumeBench::see(std::move(c));
    for (PersistentVolume& v : recorded_list<PersistentVolume>(release, "persistentvolumes.pb"))
      VolumeBench::see(std::move(v));
    for (PersistentVolumeClaim& c : recorded_list<PersistentVolumeClaim>(release, "persistentvolumeclaims.pb"))
      VolumeBench::see(std::move(c));
    for (PodGroup& g : recorded_list<PodGroup>(release, "podgroups.json")) TrackerBench::see(std::move(g));
    for (Pod& p : recorded_list<Pod>(release, "pods.pb")) TrackerBench::see(std::move(p));
    step();
  }
  const PodRecord& pod_of(const std::string& name) { return record(name, "default"); }
};

class ReleasesThatAreKnown : public Releases, public ::testing::WithParamInterface<const char*> {};

TEST_P(ReleasesThatAreKnown, HaveTheirPodsPlaced) {
  see_recorded(GetParam());
  EXPECT_EQ(pod_of("plain").phase, PodRecord::Phase::kBound) << tracker.hold_condition(pod_of("plain")).message;
  EXPECT_EQ(idle_devices("node-0"), 8 - 3 - 1);
  EXPECT_EQ(tracker.unknown_fields_count(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Of, ReleasesThatAreKnown, ::testing::Values("1.36.3", "1.37.1"),
                         [](const auto& of) { return of.param == std::string("1.36.3") ? "136" : "137"; });

TEST_F(Releases, AFieldThat138SetsByDefaultHoldsWaitingPodsAndNothingElse) {
  see_recorded("1.38");
  EXPECT_EQ(pod_of("plain").hold, HoldReason::kUnknownField);
  EXPECT_NE(tracker.hold_condition(pod_of("plain")).message.find("(Container.26, PodSpec.45)"), std::string::npos)
      << tracker.hold_condition(pod_of("plain")).message;
  EXPECT_EQ(pod_of("running").phase, PodRecord::Phase::kBound);
  EXPECT_EQ(idle_devices("node-0"), 8 - 3) << "a bound pod counts, and its node stays open";
  Pod later = on(pod("later", 1), "");
  PodRules tolerant;
  tolerant.tolerations = {{.exists = true}};
  TrackerBench::see(under(later, tolerant));
  step();
  EXPECT_EQ(where("later"), "node-0");
  EXPECT_GT(tracker.unknown_fields_count(), 8u);
}

class ReleasesAccepted : public Releases {
 protected:
  ReleasesAccepted() : Releases({"Container.26", "PodSpec.45"}) {}
};

TEST_F(ReleasesAccepted, PodsOf138ArePlacedAsThoseOf137AndPodGroupsAndLateClaimsHeld) {
  see_recorded("1.38");
  EXPECT_EQ(pod_of("plain").phase, PodRecord::Phase::kBound);
  EXPECT_EQ(idle_devices("node-0"), 8 - 3 - 1);
  EXPECT_EQ(pod_of("rich").hold, HoldReason::kVolumesUnreadable) << "of its claim";
  const GangSlot gang = tracker.gangs().find(PooledString("default"), PooledString("gang"), GangKind::kPodGroup);
  ASSERT_NE(gang, kNoGang);
  EXPECT_NE(tracker.gang_hold(tracker.gangs()[gang]).detail.find("(PodGroupSpec.newDefault)"), std::string::npos);
}

}  // namespace
}  // namespace ashlar::kube
