// Pods with volumes: where they may go, and why they may not, as kube-scheduler has it.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "volume_bench.h"

namespace ashlar::kube {
namespace {

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kOldZone = "failure-domain.beta.kubernetes.io/zone";

class VolumesTest : public VolumeBench {
 protected:
  void zones() {
    for (const char* zone : {"a", "b", "c"}) see(node(std::string("n-") + zone, 8, {{kZone, zone}}));
  }
};

TEST_F(VolumesTest, APodGoesWhereItsBoundVolumeIs) {
  zones();
  see(at(volume("v"), kZone, {"b"}));
  see(bound_claim("data", "v"));
  see(user("p", {"data"}, 8));
  step();
  EXPECT_EQ(where("p"), "n-b");
}

TEST_F(VolumesTest, EachOfItsVolumesMustBeUsable) {
  zones();
  see(at(volume("v"), kZone, {"a", "b"}));
  see(at(volume("w"), kZone, {"b", "c"}));
  see(at(volume("x"), kZone, {"a", "c"}));
  see(bound_claim("v", "v"));
  see(bound_claim("w", "w"));
  see(bound_claim("x", "x"));
  see(user("two", {"v", "w"}));
  see(user("three", {"v", "w", "x"}));
  step();
  EXPECT_EQ(where("two"), "n-b");
  EXPECT_EQ(where("three"), "");
  EXPECT_EQ(verdict_of("three").message,
            "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity. It would not fit this "
            "cluster even if it were empty.");
}

TEST_F(VolumesTest, TermsAboutFieldsOfAVolumeDoNotCountAndAnEmptyListAllowsNoNode) {
  zones();
  PersistentVolume by_field = volume("f");
  by_field.has_affinity = true;
  by_field.affinity = {
      {.expressions = {}, .fields = {{.key = "metadata.name", .op = SelectorOp::kIn, .values = {"no"}}}}};
  see(by_field);
  PersistentVolume nowhere = volume("e");
  nowhere.has_affinity = true;
  nowhere.affinity = {NodeTerm{}};
  see(nowhere);
  see(bound_claim("f", "f"));
  see(bound_claim("e", "e"));
  see(user("anywhere", {"f"}));
  see(user("nowhere", {"e"}));
  step();
  EXPECT_NE(where("anywhere"), "");
  EXPECT_EQ(where("nowhere"), "");
}

TEST_F(VolumesTest, LabelsOfAZoneCloseNodesOfOthersButNotThoseWithoutAny) {
  zones();
  see(labelled(volume("v"), kZone, "x__ y"));
  see(bound_claim("data", "v"));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "");
  see(node("plain", 8));
  step();
  EXPECT_EQ(where("p"), "plain") << "a node without labels of zones or regions takes any";
  see(node("in-y", 8, {{kZone, "y"}}));
  see(node("plain", 0));
  see(user("q", {"data"}, 1));
  step();
  EXPECT_EQ(where("q"), "in-y");
}

TEST_F(VolumesTest, AnOldZoneLabelOfAVolumeIsMetByTheNewOneOfANode) {
  see(node("old", 8, {{kOldZone, "z"}, {kZone, "a"}}));
  see(node("new", 8, {{kZone, "a"}}));
  see(labelled(volume("v"), kOldZone, "a"));
  see(bound_claim("data", "v"));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "new");
}

TEST_F(VolumesTest, AZoneLabelWithAnEmptyPartIsIgnored) {
  zones();
  see(labelled(volume("v"), kZone, "x__"));
  see(bound_claim("data", "v"));
  see(user("p", {"data"}));
  step();
  EXPECT_NE(where("p"), "");
}

TEST_F(VolumesTest, ClaimsThatAreNotReadyHoldThePodInUpstreamsWords) {
  zones();
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(waits("p"), "0/3 nodes are available: persistentvolumeclaim \"data\" not found.");
  EXPECT_EQ(tracker.hold_condition(record("p")).reason, "Unschedulable");

  PersistentVolumeClaim c = claim("data", "");
  see(c);
  step();
  EXPECT_EQ(waits("p"),
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims: \"data\" (has no storage "
            "class).");

  c.is_lost = true;
  c.volume_name = "v";
  see(c);
  step();
  EXPECT_EQ(waits("p"),
            "0/3 nodes are available: persistentvolumeclaim \"data\" bound to non-existent persistentvolume \"v\".");

  c.is_lost = false;
  c.deletion_requested = Millis(1);
  see(c);
  step();
  EXPECT_EQ(waits("p"), "0/3 nodes are available: persistentvolumeclaim \"data\" is being deleted.");

  see(bound_claim("data", "v"));
  step();
  EXPECT_EQ(waits("p"), "0/3 nodes are available: persistentvolume \"v\" not found.");

  see(volume("v"));
  step();
  EXPECT_NE(where("p"), "");
}

TEST_F(VolumesTest, AClaimBoundBeforehandWaitsForTheController) {
  zones();
  PersistentVolumeClaim c = bound_claim("data", "v");
  c.is_bind_completed = false;
  see(volume("v"));
  see(storage_class("late", "driver"));
  see(c);
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(waits("p"),
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims: \"data\" (is being bound to "
            "persistentvolume \"v\").");
}

TEST_F(VolumesTest, AClaimForAVolumeThatDoesNotExistSaysSo) {
  zones();
  PersistentVolumeClaim c = bound_claim("data", "v");
  c.is_bind_completed = false;
  see(c);
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(waits("p"),
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims: \"data\" (names "
            "persistentvolume \"v\", which does not exist).");
  see(volume("v"));
  step();
  EXPECT_TRUE(waits("p").ends_with("\"data\" (is being bound to persistentvolume \"v\").")) << waits("p");
}

/// As kube-scheduler asks about all claims before it looks for the volumes of any.
TEST_F(VolumesTest, AClaimThatIsNotBoundIsNamedBeforeAVolumeThatIsGone) {
  zones();
  see(bound_claim("data", "gone"));
  see(claim("logs", "nosuch"));
  see(user("p", {"data", "logs"}));
  step();
  EXPECT_EQ(waits("p"),
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims: \"logs\" (storage class "
            "\"nosuch\" does not exist).");
}

TEST_F(VolumesTest, ClaimsThatArePendingAreNamedWithTheirClass) {
  zones();
  see(storage_class("fast", "driver", false));
  see(claim("a", "fast"));
  see(claim("b", "nosuch"));
  see(user("two", {"a", "b", "a"}));
  for (const char* name : {"c", "d", "e"}) see(claim(name, "fast"));
  see(user("many", {"a", "c", "d", "e"}));
  step();
  EXPECT_EQ(waits("two"),
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims: \"a\" (storage class \"fast\" "
            "binds it before the pod is placed), \"b\" (storage class \"nosuch\" does not exist).");
  EXPECT_TRUE(waits("many").ends_with("\"d\" (storage class \"fast\" binds it before the pod is placed) and 1 more."))
      << waits("many");
}

TEST_F(VolumesTest, AnEphemeralVolumeThatIsGoneIsNamed) {
  zones();
  Pod p = pod("p", 0);
  PodVolumes volumes;
  volumes.claims = {{"p-scratch", true}};
  p.volumes = std::make_shared<const PodVolumes>(volumes);
  PersistentVolumeClaim c = bound_claim("p-scratch", "v");
  c.controller_uid = p.uid;
  see(c);
  see(p);
  step();
  EXPECT_EQ(waits("p"),
            "0/3 nodes are available: 3 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s): "
            "\"p-scratch\" to \"v\".");
}

TEST_F(VolumesTest, TheClaimOfAnEphemeralVolumeMustBeThePodsOwn) {
  zones();
  Pod p = pod("p", 0);
  PodVolumes volumes;
  volumes.claims = {{"p-scratch", true}};
  p.volumes = std::make_shared<const PodVolumes>(volumes);
  see(p);
  step();
  EXPECT_EQ(waits("p"),
            "0/3 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim "
            "\"p-scratch\".");
  PersistentVolumeClaim c = bound_claim("p-scratch", "v");
  see(c);
  see(volume("v"));
  step();
  EXPECT_EQ(waits("p"), "0/3 nodes are available: PVC ns/p-scratch was not created for pod ns/p (pod is not owner).");
  c.controller_uid = p.uid;
  see(c);
  step();
  EXPECT_NE(where("p"), "");
}

TEST_F(VolumesTest, ZonesOfTheVolumeOfAnEphemeralOneDoNotCount) {
  zones();
  Pod p = pod("p", 0);
  PodVolumes volumes;
  volumes.claims = {{"p-scratch", true}};
  p.volumes = std::make_shared<const PodVolumes>(volumes);
  see(labelled(volume("v"), kZone, "x"));
  PersistentVolumeClaim c = bound_claim("p-scratch", "v");
  c.controller_uid = p.uid;
  see(c);
  see(p);
  step();
  EXPECT_NE(where("p"), "") << "kube-scheduler looks at the zones of claims that the pod names";
}

TEST_F(VolumesTest, AClaimForOnePodIsFreeAgainWhenThatPodIsGone) {
  zones();
  PersistentVolumeClaim c = bound_claim("data", "v");
  c.access_modes = {"ReadWriteOncePod"};
  see(c);
  see(volume("v"));
  see(on(user("first", {"data"}), "n-a"));
  see(user("second", {"data"}));
  step();
  EXPECT_EQ(waits("second"),
            "0/3 nodes are available: 3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access "
            "mode already in-use by another pod: \"data\".");
  gone(on(user("first", {"data"}), "n-a"));
  step();
  EXPECT_NE(where("second"), "");
}

TEST_F(VolumesTest, OfTwoPodsDecidedTogetherTheFirstKeepsTheClaimForOnePod) {
  zones();
  is_answering = false;
  PersistentVolumeClaim c = bound_claim("data", "v");
  c.access_modes = {"ReadWriteOncePod"};
  see(c);
  see(volume("v"));
  see(user("first", {"data"}));
  see(user("second", {"data"}));
  step();
  ASSERT_NE(where("first"), "");
  ASSERT_NE(where("second"), "") << "the engine does not know";
  const auto slot = [&](const char* name) { return tracker.pods().find("ns", name); };
  EXPECT_FALSE(tracker.is_place_outdated(slot("first"), nullptr));
  EXPECT_TRUE(tracker.is_place_outdated(slot("second"), nullptr));
  tracker.choose_anew(slot("second"));
  step();
  EXPECT_EQ(where("second"), "");
  EXPECT_NE(waits("second").find("ReadWriteOncePod"), std::string::npos) << waits("second");
}

TEST_F(VolumesTest, MembersOfAGangThatShareAClaimForOnePodWaitAsAWhole) {
  zones();
  PersistentVolumeClaim c = bound_claim("data", "v");
  c.access_modes = {"ReadWriteOncePod"};
  see(c);
  see(volume("v"));
  for (int i = 0; i < 2; ++i) {
    Pod p = gang_pod("g", i, 2, 1);
    PodVolumes volumes;
    volumes.claims = {{"data", false}};
    p.volumes = std::make_shared<const PodVolumes>(volumes);
    see(p);
  }
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(hold_of("g-0").reason, HoldReason::kGroupRefused);
}

TEST_F(VolumesTest, ADecisionIsMadeAnewIfTheClaimIsDeletedMeanwhile) {
  zones();
  is_answering = false;
  see(volume("v"));
  see(bound_claim("data", "v"));
  see(user("p", {"data"}));
  step();
  const PodSlot slot = tracker.pods().find("ns", "p");
  ASSERT_FALSE(tracker.is_place_outdated(slot, nullptr));
  gone(bound_claim("data", "v"));
  tracker.settle();
  EXPECT_TRUE(tracker.is_place_outdated(slot, nullptr));
  tracker.choose_anew(slot);
  step();
  EXPECT_EQ(waits("p"), "0/3 nodes are available: persistentvolumeclaim \"data\" not found.");
}

TEST_F(VolumesTest, LimitsOfADriverCountDistinctVolumesOfPods) {
  see(node("n", 8));
  see(csi_node("n", "d", 2));
  for (const char* name : {"v", "w", "x"}) {
    see(of_driver(volume(name), "d"));
    see(bound_claim(name, name));
  }
  see(on(user("old", {"v"}), "n"));
  see(on(user("shares", {"v"}), "n"));
  see(user("p", {"w"}));
  step();
  EXPECT_EQ(where("p"), "n") << "two pods share one volume";
  see(user("q", {"x"}));
  step();
  EXPECT_EQ(where("q"), "");
  EXPECT_NE(verdict_of("q").message.find("attachable-volumes-csi-d"), std::string::npos) << verdict_of("q").message;
  gone(on(user("old", {"v"}), "n"));
  step();
  EXPECT_EQ(where("q"), "") << "the other one has it still";
  gone(on(user("shares", {"v"}), "n"));
  step();
  EXPECT_EQ(where("q"), "n");
}

TEST_F(VolumesTest, NodesWithoutALimitTakeAnyNumberAndLimitsMayComeLate) {
  see(node("n", 8));
  see(node("m", 8));
  for (int i = 0; i < 3; ++i) {
    const std::string name = "v" + std::to_string(i);
    see(of_driver(volume(name), "d"));
    see(bound_claim(name, name));
  }
  see(user("p", {"v0"}, 8));
  step();
  ASSERT_NE(where("p"), "");
  const std::string taken = where("p"), other = taken == "n" ? "m" : "n";
  see(csi_node(other, "d", 1));
  see(user("q", {"v1", "v2"}, 1));
  step();
  EXPECT_EQ(where("q"), "") << "two volumes, one slot";
  see(csi_node(other, "d", 2));
  step();
  EXPECT_EQ(where("q"), other);
}

TEST_F(VolumesTest, VolumesThatAreStillAttachedCountOnce) {
  see(node("n", 8));
  see(csi_node("n", "d", 1));
  see(of_driver(volume("v"), "d"));
  see(of_driver(volume("w"), "d"));
  see(bound_claim("v", "v"));
  see(bound_claim("w", "w"));
  see(attachment("v", "d", "n"));
  see(user("p", {"w"}));
  step();
  EXPECT_EQ(where("p"), "") << "v is attached";
  gone(attachment("v", "d", "n"));
  step();
  EXPECT_EQ(where("p"), "n");
}

TEST_F(VolumesTest, MigratedDisksCountForTheDriverThatServesThem) {
  see(node("n", 8));
  see(csi_node("n", "ebs.csi.aws.com", 1));
  const auto with_disk = [](const char* name, const char* handle) {
    Pod p = pod(name, 0);
    PodVolumes volumes;
    volumes.inline_disks = {{"ebs.csi.aws.com", handle}};
    p.volumes = std::make_shared<const PodVolumes>(volumes);
    return p;
  };
  see(with_disk("p", "vol-1"));
  step();
  see(with_disk("q", "vol-2"));
  step();
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(where("q"), "");
}

TEST_F(VolumesTest, ADriverMayInsistOnItsNodes) {
  see(node("n", 8));
  see(node("m", 8));
  CsiDriver driver;
  driver.name = "d";
  driver.must_be_on_node = true;
  see(driver);
  see(of_driver(volume("v"), "d"));
  see(bound_claim("v", "v"));
  see(user("p", {"v"}));
  step();
  EXPECT_EQ(where("p"), "");
  see(csi_node("m", "d", std::nullopt));
  step();
  EXPECT_EQ(where("p"), "m");
}

TEST_F(VolumesTest, AMigratedVolumeIsTiedToItsDriversZonesWhereTheNodeSaysSo) {
  see(node("old", 1, {{kZone, "a"}}));
  see(node("new", 8, {{"topology.gke.io/zone", "a"}}));
  see(node("other", 8, {{kZone, "a"}, {"topology.gke.io/zone", "b"}}));
  for (const char* name : {"new", "other"}) {
    CsiNode n = csi_node(name, "pd.csi.storage.gke.io", std::nullopt);
    n.migrated_plugins = {"kubernetes.io/gce-pd"};
    see(n);
  }
  PersistentVolume v = at(volume("v"), kZone, {"a"});
  v.plugin = MigratedPlugin::kGcePd;
  see(v);
  see(bound_claim("v", "v"));
  see(user("p", {"v"}, 1));
  see(user("q", {"v"}, 1));
  see(user("r", {"v"}, 8));
  step();
  EXPECT_EQ(where("r"), "") << "one of the others is on new";
  EXPECT_NE(where("p"), "other");
  EXPECT_NE(where("q"), "other");
  EXPECT_NE(where("p"), "");
}

TEST_F(VolumesTest, ANodeThatTellsOfThousandsOfDriversTakesNoResources) {
  see(node("n", 8));
  see(node("m", 8));
  CsiNode many = csi_node("m", "d0", 1);
  for (int i = 1; i < 5000; ++i) many.drivers.push_back({PooledString("d" + std::to_string(i)), 1});
  see(many);
  step();
  EXPECT_EQ(tracker.volumes().limited_drivers().size(), VolumeBook::kLimitedDriversMax);
  EXPECT_TRUE(tracker.names().find_resource("attachable-volumes-csi-d0").is_none()) << "no pod requests it";
  see(of_driver(volume("v"), "d0"));
  see(of_driver(volume("w"), "d0"));
  see(of_driver(volume("x"), "d4000"));
  for (const char* name : {"v", "w", "x"}) see(bound_claim(name, name));
  see(csi_node("n", "d0", 1));
  see(user("p", {"v"}, 1));
  see(user("q", {"w"}, 1));
  see(user("r", {"x"}, 1));
  step();
  EXPECT_EQ(std::set<std::string>({where("p"), where("q")}), std::set<std::string>({"m", "n"})) << "one each";
  EXPECT_NE(where("r"), "") << "the limits of the last drivers are not kept";
  see(of_driver(volume("y"), "d0"));
  see(bound_claim("y", "y"));
  see(user("s", {"y"}, 1));
  step();
  EXPECT_EQ(where("s"), "");
}

TEST_F(VolumesTest, AClaimForOnePodIsFreeAgainWhenAWaitingMemberOfItsGangIsGone) {
  zones();
  PersistentVolumeClaim c = bound_claim("data", "v");
  c.access_modes = {"ReadWriteOncePod"};
  see(c);
  see(volume("v"));
  const auto member = [&](int i) {
    Pod p = gang_pod("g", i, 2, 1);
    p.volumes = user("x", {"data"}).volumes;
    return p;
  };
  see(member(0));
  see(member(1));
  step();
  ASSERT_NE(record("g-1").volume_hold, HoldReason::kNone);
  gone(member(0));
  step();
  EXPECT_EQ(record("g-1").volume_hold, HoldReason::kNone);
}

TEST_F(VolumesTest, WhatCannotBeListedHoldsPodsWithClaimsAlone) {
  zones();
  see(volume("v"));
  see(bound_claim("data", "v"));
  tracker.note_volumes("persistentvolumes", "HTTP 403");
  see(user("p", {"data"}));
  see(pod("plain", 0));
  step();
  EXPECT_NE(where("plain"), "");
  EXPECT_EQ(
      waits("p"),
      "VolumesUnreadable: what the pod's volumes need is not known: persistentvolumes cannot be listed: HTTP 403");
  tracker.note_volumes("persistentvolumes", "");
  step();
  EXPECT_NE(where("p"), "");
}

TEST_F(VolumesTest, AVolumeThatCannotBeReadHoldsItsPods) {
  zones();
  PersistentVolume v = volume("v");
  v.problem = "spec.nodeAffinity has more than 4096 terms and values";
  see(v);
  see(bound_claim("data", "v"));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(record("p").hold, HoldReason::kVolumesUnreadable);
}

TEST_F(VolumesTest, AChangeLooksAtThePodsOfThatClaimAlone) {
  zones();
  for (int i = 0; i < 200; ++i) {
    const std::string name = "v" + std::to_string(i);
    see(at(volume(name), kZone, {"x"}));
    see(bound_claim(name, name));
    see(user("p" + std::to_string(i), {name}));
  }
  step();
  const std::uint64_t before = tracker.constraints_renewed();
  see(at(volume("v7"), kZone, {"b"}));
  step();
  EXPECT_EQ(where("p7"), "n-b");
  EXPECT_LE(tracker.constraints_renewed() - before, 2u);
}

TEST_F(VolumesTest, NothingIsKeptOfPodsAndObjectsThatAreGone) {
  zones();
  const std::size_t topics = tracker.volumes().topics(), size = tracker.volumes().size();
  for (int i = 0; i < 50; ++i) {
    see(volume("v"));
    see(bound_claim("data", "v"));
    see(user("p", {"data"}));
    step();
    EXPECT_NE(where("p"), "");
    gone(user("p", {"data"}));
    gone(bound_claim("data", "v"));
    gone(volume("v"));
    step();
  }
  EXPECT_EQ(tracker.volumes().topics(), topics);
  EXPECT_EQ(tracker.volumes().size(), size);
}

TEST_F(VolumesTest, ClaimsThatFlipWhileTheirPodWaitsAreFollowed) {
  zones();
  see(at(volume("v"), kZone, {"x"}));
  see(at(volume("w"), kZone, {"c"}));
  see(user("p", {"data"}));
  for (int i = 0; i < 20; ++i) {
    see(bound_claim("data", "v"));
    step();
    EXPECT_EQ(where("p"), "");
    gone(bound_claim("data", "v"));
    step();
    EXPECT_EQ(record("p").hold, HoldReason::kVolumes);
  }
  see(bound_claim("data", "w"));
  step();
  EXPECT_EQ(where("p"), "n-c");
}

}  // namespace
}  // namespace ashlar::kube
