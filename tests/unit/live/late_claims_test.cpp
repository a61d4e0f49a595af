// Claims that wait for their first consumer: which nodes will do, what is taken with a place, what is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "live/track/hashes.h"
#include "live/write/commit/volume_work.h"
#include "volume_bench.h"

namespace ashlar::kube {
namespace {

constexpr const char* kHost = "kubernetes.io/hostname";

class LateClaimsTest : public VolumeBench {
 protected:
  LateClaimsTest() { is_answering = false; }

  void hosts(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(i);
      see(node(name, 8, {{kHost, name}}));
    }
  }
  PodSlot slot(const std::string& name) { return tracker.pods().find("ns", name); }
  /// "claim=volume" or "claim=new" of what a pod has taken.
  std::string taken(const std::string& name) {
    const ChosenVolumes* chosen = tracker.chosen_volumes(slot(name));
    if (chosen == nullptr) return "nothing";
    std::string text = chosen->problem;
    for (const ChosenVolumes::Item& item : chosen->items)
      text +=
          (text.empty() ? "" : " ") + item.claim.name.str() + "=" + (item.is_new() ? "new" : item.volume.name.str());
    return text;
  }
  bool is_outdated(const std::string& name) { return tracker.is_place_outdated(slot(name), nullptr); }
};

TEST_F(LateClaimsTest, TheSmallestVolumeThatWillDoIsTaken) {
  hosts(3);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("big", "late", 9), kHost, {"n1"}));
  see(at(volume("right", "late", 5), kHost, {"n1"}));
  see(at(volume("small", "late", 1), kHost, {"n1"}));
  see(at(volume("other-class", "else", 5), kHost, {"n0"}));
  PersistentVolume leaving = at(volume("leaving", "late", 4), kHost, {"n0"});
  leaving.deletion_requested = Millis(1);
  see(leaving);
  PersistentVolume taken_one = at(volume("taken", "late", 4), kHost, {"n0"});
  taken_one.has_claim = true;
  taken_one.claim_ns = "ns";
  taken_one.claim_name = "somebody";
  see(taken_one);
  PersistentVolume block = at(volume("block", "late", 4), kHost, {"n0"});
  block.volume_mode = "Block";
  see(block);
  PersistentVolume pending = at(volume("pending", "late", 4), kHost, {"n0"});
  pending.is_available = false;
  see(pending);
  PersistentVolume read_only = at(volume("read-only", "late", 4), kHost, {"n0"});
  read_only.access_modes = {"ReadOnlyMany"};
  see(read_only);
  see(claim("data", "late", 4));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "n1");
  EXPECT_EQ(taken("p"), "data=right");
}

TEST_F(LateClaimsTest, WithoutAVolumeAndAProvisionerNoNodeWillDo) {
  hosts(2);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(claim("data"));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "");
  see(at(volume("v"), kHost, {"n1"}));
  step();
  EXPECT_EQ(where("p"), "n1");
}

TEST_F(LateClaimsTest, AClaimSelectsVolumesByTheirLabels) {
  hosts(2);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("slow"), kHost, {"n0"}));
  see(labelled(at(volume("fast"), kHost, {"n1"}), "speed", "fast"));
  PersistentVolumeClaim c = claim("data");
  c.selector.present = true;
  c.selector.match_labels = {{"speed", "fast"}};
  see(c);
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(taken("p"), "data=fast");
}

TEST_F(LateClaimsTest, AVolumeBoundToTheClaimBeforehandIsTheOnlyOne) {
  hosts(2);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("free"), kHost, {"n0"}));
  PersistentVolume own = at(volume("own", "late", 9), kHost, {"n1"});
  own.has_claim = true;
  own.claim_ns = "ns";
  own.claim_name = "data";
  see(own);
  see(claim("data"));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(taken("p"), "data=own");
}

TEST_F(LateClaimsTest, AVolumeOfAnEarlierClaimOfThatNameIsNotItsOwn) {
  hosts(2);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("free", "late", 2), kHost, {"n0"}));
  PersistentVolume released = at(volume("released"), kHost, {"n1"});
  released.has_claim = true;
  released.claim_ns = "ns";
  released.claim_name = "data";
  released.claim_uid = "uid-of-the-last";
  see(released);
  see(claim("data"));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(taken("p"), "data=free");
}

TEST_F(LateClaimsTest, AVolumeIsMadeWhereTheClassAllowsIt) {
  hosts(3);
  StorageClass c = storage_class("late", "d");
  c.allowed_topologies = {{.expressions = {{.key = kHost, .op = SelectorOp::kIn, .values = {"n2"}}}, .fields = {}}};
  see(c);
  see(claim("data"));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "n2");
  EXPECT_EQ(taken("p"), "data=new");
}

TEST_F(LateClaimsTest, WhereADriverTellsItsCapacitiesOneMustBeLargeEnough) {
  hosts(3);
  see(storage_class("late", "d"));
  see(driver_with_capacities("d"));
  see(capacity("late", "n0", 3));
  see(claim("data", "late", 5));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "");
  see(capacity("late", "n1", 5));
  step();
  EXPECT_EQ(where("p"), "n1");
  gone(capacity("late", "n1", 5));
  step();
  EXPECT_FALSE(is_outdated("p")) << "the volume that is made takes of it";
}

TEST_F(LateClaimsTest, AClaimWithASelectedNodeGoesThereAlone) {
  hosts(3);
  see(storage_class("late", "d"));
  see(at(volume("v"), kHost, {"n0"}));
  PersistentVolumeClaim c = claim("data");
  c.has_selected_node = true;
  c.selected_node = "n1";
  see(c);
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "n1");
  EXPECT_EQ(taken("p"), "data=new");
  EXPECT_EQ(volume_work_of(tracker, slot("p"))->writes(), 0u) << "it says so already";
}

TEST_F(LateClaimsTest, TwoClaimsOfAPodNeedTwoVolumes) {
  hosts(3);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("a", "late", 1), kHost, {"n0"}));
  see(at(volume("b", "late", 1), kHost, {"n1"}));
  see(at(volume("c", "late", 3), kHost, {"n1"}));
  see(at(volume("d", "late", 1), kHost, {"n2"}));
  see(at(volume("e", "late", 1), kHost, {"n2"}));
  see(claim("one", "late", 1));
  see(claim("two", "late", 2));
  see(user("p", {"two", "one"}));
  step();
  EXPECT_EQ(where("p"), "n1") << "n0 has one volume, those of n2 are too small";
  EXPECT_EQ(taken("p"), "one=b two=c");
}

TEST_F(LateClaimsTest, PodsWhoseClaimsCompeteShareWhichNodesWillDo) {
  hosts(50);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  for (int n = 0; n < 50; ++n)
    for (int v = 0; v < 2; ++v)
      see(at(volume("v" + std::to_string(n) + "-" + std::to_string(v)), kHost, {"n" + std::to_string(n)}));
  for (int pod = 0; pod < 50; ++pod) {
    const std::string one = "one" + std::to_string(pod), two = "two" + std::to_string(pod);
    see(claim(one));
    see(claim(two));
    see(user("p" + std::to_string(pod), {one, two}));
  }
  EXPECT_LE(tracker.late_nodes_asked(), 50u) << "each node once for all pods";
  step();
  EXPECT_EQ(where("p0"), "n0");
  EXPECT_LE(tracker.late_nodes_asked(), 100u) << "and once more for all now that two volumes are taken";
  step();
  const std::uint64_t asked = tracker.late_nodes_asked();
  see(node("n50", 8, {{kHost, "n50"}}));
  step();
  EXPECT_EQ(tracker.late_nodes_asked(), asked + 51) << "a node that comes is asked, with the others";
}

TEST_F(LateClaimsTest, ThereIsALimitOfClaimsThatBindLateForOnePod) {
  hosts(1);
  see(storage_class("late", "csi.example.com"));
  const auto add = [&](const std::string& pod, int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      names.push_back(pod + "-" + std::to_string(i));
      see(claim(names.back()));
    }
    see(user(pod, names));
  };
  add("many", 64);
  add("too-many", 65);
  step();
  EXPECT_EQ(where("many"), "n0");
  EXPECT_EQ(where("too-many"), "");
  EXPECT_EQ(
      tracker.pods()[slot("too-many")].volume_problem.str(),
      "the pod names 65 claims that wait for their first consumer; Ashlar chooses volumes for at most 64 of one pod");
}

TEST_F(LateClaimsTest, KindsOfClaimsAskedForLatelyAreKept) {
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("v", "late", 4000), kHost, {"n0"}));
  for (int i = 0; i < 1100; ++i) {
    see(claim("c" + std::to_string(i), "late", 2000 - i));
    see(user("p" + std::to_string(i), {"c" + std::to_string(i)}));
  }
  const std::uint64_t made = tracker.late_choices_made();
  see(user("q", {"c1099"}));
  EXPECT_LE(tracker.late_choices_made(), made + 1) << "the last kinds are known still";
}

TEST_F(LateClaimsTest, OneKindOfClaimsMoreThanAreKeptDoesNotCostAllOfThemAnew) {
  constexpr int kKinds = 1025, kRounds = 4;
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  for (int i = 0; i < kKinds; ++i) see(claim("c" + std::to_string(i), "late", i + 1));
  std::uint64_t made = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kKinds; ++i)
      see(user("p" + std::to_string(i) + "-" + std::to_string(round), {"c" + std::to_string(i)}));
    if (round == 0) made = tracker.late_choices_made();
  }
  EXPECT_LT(tracker.late_choices_made(), made + 20u * kRounds);
  see(at(volume("v", "late", 600), kHost, {"n0"}));
  step();
  EXPECT_EQ(where("p700-0"), "") << "too small";
  int placed = 0;
  for (int i = 0; i < 600; ++i) placed += where("p" + std::to_string(i) + "-0").empty() ? 0 : 1;
  EXPECT_GT(placed, 0) << "whatever is forgotten of a kind, its pods see what comes";
}

TEST_F(LateClaimsTest, OneSetOfCompetingClaimsMoreThanAreKeptDoesNotCostAllOfThemAnew) {
  constexpr int kSets = 65, kRounds = 4;
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  for (const char* name : {"a", "b"}) see(at(volume(name, "late", 100), kHost, {"n0"}));
  see(claim("one", "late", 1));
  for (int i = 0; i < kSets; ++i) see(claim("c" + std::to_string(i), "late", i + 2));
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < kSets; ++i)
      see(user("p" + std::to_string(i) + "-" + std::to_string(round), {"one", "c" + std::to_string(i)}));
  EXPECT_GE(tracker.late_nodes_asked(), kSets + 0u);
  EXPECT_LT(tracker.late_nodes_asked(), kSets + 10u * kRounds);
}

TEST_F(LateClaimsTest, ANodeThatComesLaterIsAskedToo) {
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("a"), kHost, {"n1"}));
  see(at(volume("b"), kHost, {"n1"}));
  see(claim("one"));
  see(claim("two"));
  see(user("p", {"two", "one"}));
  step();
  EXPECT_EQ(where("p"), "");
  see(node("n1", 8, {{kHost, "n1"}}));
  step();
  EXPECT_EQ(where("p"), "n1");
}

TEST_F(LateClaimsTest, TwoPodsAtOnceDoNotTakeOneVolume) {
  hosts(2);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("v"), kHost, {"n0"}));
  for (const char* name : {"a", "b"}) {
    see(claim(name));
    see(user(std::string("p-") + name, {name}));
  }
  step();
  const std::string first = taken("p-a") == "a=v" ? "p-a" : "p-b", second = first == "p-a" ? "p-b" : "p-a";
  EXPECT_FALSE(is_outdated(first));
  EXPECT_TRUE(is_outdated(second));
  tracker.choose_anew(slot(second));
  step();
  EXPECT_EQ(where(second), "");
  see(at(volume("w"), kHost, {"n1"}));
  step();
  EXPECT_EQ(where(second), "n1");
}

TEST_F(LateClaimsTest, APlaceThatIsGivenBackGivesItsVolumesBack) {
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("v"), kHost, {"n0"}));
  see(claim("a"));
  see(user("p-a", {"a"}));
  step();
  ASSERT_EQ(taken("p-a"), "a=v");
  gone(user("p-a", {"a"}));
  see(claim("b"));
  see(user("p-b", {"b"}));
  step();
  EXPECT_EQ(taken("p-b"), "b=v");
}

TEST_F(LateClaimsTest, APodThatSawAVolumeTakenSeesItGivenBack) {
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("v"), kHost, {"n0"}));
  for (const char* name : {"a", "b"}) see(claim(name));
  see(user("p-a", {"a"}));
  step();
  ASSERT_EQ(taken("p-a"), "a=v");
  see(user("p-b", {"b"}));
  step();
  ASSERT_EQ(where("p-b"), "");
  gone(user("p-a", {"a"}));
  step();
  EXPECT_EQ(taken("p-b"), "b=v");
}

TEST_F(LateClaimsTest, APodThatSawAVolumeTakenSeesItOfferedByTheServerAgain) {
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  const PersistentVolume served = at(volume("v"), kHost, {"n0"});
  see(served);
  for (const char* name : {"a", "b"}) see(claim(name));
  see(user("p-a", {"a"}));
  step();
  ASSERT_EQ(taken("p-a"), "a=v");
  see(user("p-b", {"b"}));
  step();
  ASSERT_EQ(where("p-b"), "");
  see(served);  // another version that says the same: what was assumed of it is over
  step();
  EXPECT_EQ(where("p-b"), "n0");
}

TEST_F(LateClaimsTest, APodThatGivesItsVolumeBackLeavesWhatAnotherHasTakenSince) {
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  const PersistentVolume served = at(volume("v"), kHost, {"n0"});
  see(served);
  for (const char* name : {"a", "b", "c"}) see(claim(name));
  see(user("p-a", {"a"}));
  step();
  ASSERT_EQ(taken("p-a"), "a=v");
  see(served);  // another version that says the same: what was assumed of it is over
  see(user("p-b", {"b"}));
  step();
  ASSERT_EQ(taken("p-b"), "b=v");
  gone(user("p-a", {"a"}));
  see(user("p-c", {"c"}));
  step();
  EXPECT_EQ(where("p-c"), "") << "the volume is b's";
  gone(user("p-b", {"b"}));
  step();
  EXPECT_EQ(taken("p-c"), "c=v");
}

TEST_F(LateClaimsTest, APodThatGivesItsNodeForAClaimBackLeavesWhatAnotherHasTakenSince) {
  hosts(2);
  see(storage_class("late", "csi.example.com"));
  const PersistentVolumeClaim served = claim("data");
  see(served);
  see(user("p-a", {"data"}));
  step();
  ASSERT_EQ(taken("p-a"), "data=new");
  see(served);  // another version that says the same: what was assumed of it is over
  see(user("p-b", {"data"}));
  step();
  ASSERT_EQ(taken("p-b"), "data=new");
  gone(user("p-a", {"data"}));
  const PersistentVolumeClaim* known = tracker.volumes().claim("ns", "data");
  ASSERT_NE(known, nullptr);
  EXPECT_TRUE(known->has_selected_node) << "the second pod waits for a volume there";
}

TEST_F(LateClaimsTest, WhetherClaimsCompeteIsAskedOfEachPair) {
  hosts(3);
  for (const char* name : {"late", "other"}) see(storage_class(name, "kubernetes.io/no-provisioner"));
  see(at(volume("elsewhere", "other"), kHost, {"n0", "n1", "n2"}));
  see(at(volume("one", "late", 2), kHost, {"n1"}));
  for (const char* name : {"two", "three"}) see(at(volume(name, "late", 2), kHost, {"n2"}));
  see(claim("x", "other"));
  see(claim("a"));
  see(user("p", {"x", "a"}, 9));  // more GPUs than a node has
  see(claim("b"));
  see(claim("c", "late", 2));
  see(user("q", {"c", "b"}));
  step();
  EXPECT_EQ(where("q"), "n2") << "n1 has one volume that would do for either";
}

TEST_F(LateClaimsTest, APodThatIsBoundHasNothingToGiveBack) {
  is_answering = true;
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("v"), kHost, {"n0"}));
  see(claim("a"));
  see(user("p", {"a"}));
  step();
  ASSERT_EQ(where("p"), "n0");
  EXPECT_EQ(taken("p"), "nothing");
}

TEST_F(LateClaimsTest, MembersOfAGangThatTakeTheSameVolumesWaitBeforeTheyTryAgain) {
  hosts(2);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("v"), kHost, {"n0", "n1"}));  // of two nodes: how many a node has left is not counted
  for (int i = 0; i < 2; ++i) {
    const std::string name = "c" + std::to_string(i);
    see(claim(name));
    Pod p = gang_pod("g", i, 2, 1);
    p.volumes = user("x", {name}).volumes;
    see(p);
  }
  step();
  EXPECT_EQ(taken("g-0"), "c0=v");
  EXPECT_EQ(taken("g-1"), "node n0 has no volumes left for the claims of pod g-1");
  EXPECT_EQ(volume_work_of(tracker, slot("g-1"))->problem(), taken("g-1"));
  EXPECT_EQ(volume_work_of(tracker, slot("g-1"))->writes(), 0u);
  EXPECT_EQ(volume_work_of(tracker, slot("g-0"))->problem(), "");
  const BindHold hold = tracker.note_bind_failed(slot("g-1"), "no volumes");
  EXPECT_NE(hold.number, 0u);
  step();
  EXPECT_EQ(where("g-0") + where("g-1"), "");
}

TEST_F(LateClaimsTest, PodsThatAskForTheSameShareWhatIsKnown) {
  hosts(4);
  see(storage_class("late", "d"));
  for (int i = 0; i < 100; ++i) see(at(volume("v" + std::to_string(i), "late", 9), kHost, {"n9"}));
  StorageClass nowhere = storage_class("late", "d");
  nowhere.allowed_topologies = {
      {.expressions = {{.key = kHost, .op = SelectorOp::kIn, .values = {"x"}}}, .fields = {}}};
  see(nowhere);
  for (int i = 0; i < 50; ++i) {
    see(claim("c" + std::to_string(i)));
    see(user("p" + std::to_string(i), {"c" + std::to_string(i)}));
  }
  step();
  EXPECT_LE(tracker.late_choices_made(), 2u);
  const ConstraintId shared = record("p0").constraint;
  for (int i = 1; i < 50; ++i) EXPECT_EQ(record("p" + std::to_string(i)).constraint, shared);
}

TEST_F(LateClaimsTest, AChangeOfAVolumeThatIsNotOfferedCostsThoseThatWaitForItsClassNothing) {
  hosts(4);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  for (int i = 0; i < 20; ++i) see(at(volume("v" + std::to_string(i), "late", 9), kHost, {"n9"}));
  PersistentVolume bound = at(volume("bound", "late", 9), kHost, {"n9"});
  bound.has_claim = true;
  bound.claim_ns = "ns";
  bound.claim_name = "somebody";
  see(bound);
  for (int i = 0; i < 30; ++i) {
    see(claim("c" + std::to_string(i)));
    see(user("p" + std::to_string(i), {"c" + std::to_string(i)}));
  }
  step();
  const std::uint64_t made = tracker.late_choices_made(), renewed = tracker.constraints_renewed();
  for (int i = 0; i < 10; ++i) {
    see(labelled(bound, "round", std::to_string(i)));
    PersistentVolume of_provisioner = bound;
    of_provisioner.name = PooledString("made-" + std::to_string(i));
    see(of_provisioner);
    step();
  }
  EXPECT_EQ(tracker.late_choices_made(), made);
  EXPECT_EQ(tracker.constraints_renewed(), renewed);
  see(at(volume("new", "late", 9), kHost, {"n2"}));
  step();
  EXPECT_GT(tracker.late_choices_made(), made) << "it is offered";
  EXPECT_EQ(
      std::ranges::count_if(std::views::iota(0, 30), [&](int i) { return where("p" + std::to_string(i)) == "n2"; }), 30)
      << "the engine does not know that it is one";
}

TEST_F(LateClaimsTest, PlacesThatAreTakenListNoVolumesAnew) {
  hosts(1);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  for (int i = 0; i < 40; ++i) see(at(volume("v" + std::to_string(i)), kHost, {"n0"}));
  for (int i = 0; i < 40; ++i) {
    see(claim("c" + std::to_string(i)));
    see(user("p" + std::to_string(i), {"c" + std::to_string(i)}));
  }
  step();
  const std::uint64_t made = tracker.late_choices_made();
  EXPECT_LE(made, 2u) << "a list and its terms";
  std::set<std::string> volumes;
  for (int i = 0; i < 40; ++i) volumes.insert(taken("p" + std::to_string(i)).substr(1));
  for (const std::string& one : volumes) EXPECT_NE(one.find("=v"), std::string::npos) << one;
  std::set<std::string> distinct;
  for (const std::string& one : volumes) distinct.insert(one.substr(one.find('=')));
  EXPECT_EQ(distinct.size(), 40u);
}

TEST_F(LateClaimsTest, AVolumeThatIsWithdrawnOrGivenToOthersIsPassedOverAndComesBack) {
  hosts(2);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("small", "late", 1), kHost, {"n0"}));
  see(at(volume("large", "late", 2), kHost, {"n1"}));
  see(claim("first"));
  see(user("p", {"first"}, 9));
  step();
  ASSERT_EQ(where("p"), "") << "no node has as many GPUs, but the list is made";
  PersistentVolume others = at(volume("small", "late", 1), kHost, {"n0"});
  others.has_claim = true;
  others.claim_ns = "ns";
  others.claim_name = "somebody";
  see(others);
  see(claim("second"));
  see(user("q", {"second"}));
  step();
  EXPECT_EQ(taken("q"), "second=large");
  gone(user("q", {"second"}));
  gone(at(volume("large", "late", 2), kHost, {"n1"}));
  see(at(volume("small", "late", 1), kHost, {"n0"}));
  see(user("r", {"second"}));
  step();
  EXPECT_EQ(taken("r"), "second=small");
}

TEST_F(LateClaimsTest, AVolumeThatNamesTheClaimLaterIsSeen) {
  hosts(2);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(claim("data"));
  see(user("p", {"data"}));
  step();
  ASSERT_EQ(where("p"), "");
  PersistentVolume own = at(volume("own"), kHost, {"n1"});
  own.has_claim = true;
  own.claim_ns = "ns";
  own.claim_name = "data";
  see(own);
  step();
  EXPECT_EQ(taken("p"), "data=own");
}

TEST_F(LateClaimsTest, ClaimsWithOtherSelectorsAreToldApartByTheirHash) {
  LabelSelector a, b;
  a.present = b.present = true;
  a.expressions = {{.key = "k", .op = SelectorOp::kIn, .values = {"1"}}};
  b.expressions = {{.key = "k", .op = SelectorOp::kIn, .values = {"2"}}};
  EXPECT_NE(hash_of(a), hash_of(b));
  b = a;
  b.expressions[0].op = SelectorOp::kNotIn;
  EXPECT_NE(hash_of(a), hash_of(b));
  b = a;
  b.match_labels = {{"k", "1"}};
  EXPECT_NE(hash_of(a), hash_of(b));
}

TEST_F(LateClaimsTest, AClaimThatChangesBackWakesThePodsThatSawItAssumed) {
  hosts(2);
  see(storage_class("late", "d"));
  const PersistentVolumeClaim served = claim("data");
  see(served);
  see(user("p", {"data"}));
  step();
  ASSERT_EQ(taken("p"), "data=new");
  see(user("q", {"data"}, 9));
  step();
  const ConstraintId on_one = record("q").constraint;
  see(served);  // another version that says the same: what was assumed of it is over
  step();
  EXPECT_NE(record("q").constraint, on_one) << "no node is selected any more";
}

// ---- what is written and waited for ---------------------------------------------------------------------------------

class VolumeWorkTest : public LateClaimsTest {
 protected:
  VolumeWorkTest() {
    hosts(1);
    see(storage_class("late", "d"));
  }
  static std::string shown(const std::string& uid, const std::string& version, const std::string& more) {
    return R"({"metadata":{"uid":")" + uid + R"(","resourceVersion":")" + version + R"(")" + more;
  }
};

TEST_F(VolumeWorkTest, AVolumeIsGivenItsClaim) {
  see(at(volume("v"), kHost, {"n0"}));
  see(claim("data"));
  see(user("p", {"data"}));
  step();
  const std::shared_ptr<CommitWork> work = volume_work_of(tracker, slot("p"));
  ASSERT_EQ(work->writes(), 1u);
  EXPECT_EQ(work->subject(0), "persistentvolume v");
  EXPECT_EQ(work->path(0), "/api/v1/persistentvolumes/v");
  const std::string of_claim =
      R"("claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"ns","name":"data","uid":"uid-data","resourceVersion":"3"})";
  EXPECT_EQ(
      work->patch(0, ""),
      R"({"metadata":{"uid":"uid-v","resourceVersion":"2","annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},"spec":{)" +
          of_claim + "}}");
  const std::string undone = shown("uid-v", "7", R"(},"spec":{}})");
  EXPECT_EQ(work->look_at(0, undone), WriteFinding::kUndone);
  EXPECT_NE(work->patch(0, undone).find(R"("resourceVersion":"7")"), std::string::npos) << "of what was read again";
  EXPECT_EQ(work->look_at(0, shown("uid-w", "7", "}}")), WriteFinding::kOther);
  EXPECT_EQ(work->look_at(0, shown("uid-v", "7", R"(},"spec":{"claimRef":{"namespace":"ns","name":"x","uid":"y"}}})")),
            WriteFinding::kOther);
  const std::string named = R"(},"spec":{"claimRef":{"namespace":"ns","name":"data")";
  EXPECT_EQ(work->look_at(0, shown("uid-v", "7", named + "}}}")), WriteFinding::kUndone) << "bound beforehand";
  EXPECT_EQ(work->look_at(0, shown("uid-v", "7", named + R"(,"uid":"of-the-last"}}})")), WriteFinding::kOther);
  EXPECT_EQ(work->look_at(0, "<html>"), WriteFinding::kUnreadable);
  EXPECT_EQ(work->look_at(0, "{}"), WriteFinding::kUnreadable);
  EXPECT_EQ(work->look_at(0, shown("uid-v", "8", R"(},"spec":{)" + of_claim + "}}")), WriteFinding::kDone);
  EXPECT_EQ(work->undo_patch(0, undone), "") << "the controller does that";

  EXPECT_EQ(work->wait().state, WaitState::kNotYet) << "the watch is behind";
  version = 7;
  PersistentVolume written = at(volume("v"), kHost, {"n0"});
  written.has_claim = true;
  written.claim_ns = "ns";
  written.claim_name = "data";
  written.claim_uid = "uid-data";
  see(written);
  EXPECT_EQ(work->wait().state, WaitState::kNotYet);
  EXPECT_EQ(work->wait().words, "persistentvolumeclaim ns/data is not bound yet");
  see(bound_claim("data", "v"));
  EXPECT_EQ(work->wait().state, WaitState::kHolds);
  written.claim_uid = PooledString();
  see(written);
  EXPECT_EQ(work->wait().words, "ClaimRef got reset for pv \"v\"");
  EXPECT_EQ(work->wait().state, WaitState::kBroken);
}

TEST_F(VolumeWorkTest, AClaimIsGivenItsNode) {
  see(claim("data"));
  see(user("p", {"data"}));
  step();
  const std::shared_ptr<CommitWork> work = volume_work_of(tracker, slot("p"));
  ASSERT_EQ(work->writes(), 1u);
  EXPECT_EQ(work->path(0), "/api/v1/namespaces/ns/persistentvolumeclaims/data");
  EXPECT_EQ(
      work->patch(0, ""),
      R"({"metadata":{"uid":"uid-data","resourceVersion":"2","annotations":{"volume.kubernetes.io/selected-node":"n0"}}})");
  EXPECT_EQ(work->look_at(0, shown("uid-data", "5", R"(,"annotations":{}}})")), WriteFinding::kUndone);
  EXPECT_EQ(work->look_at(0, shown("uid-data", "5", R"(,"annotations":{"volume.kubernetes.io/selected-node":"n7"}}})")),
            WriteFinding::kOther);
  EXPECT_EQ(work->look_at(0, shown("uid-data", "5", R"(,"annotations":{"volume.kubernetes.io/selected-node":"n0"}}})")),
            WriteFinding::kDone);
  EXPECT_EQ(work->wait().state, WaitState::kNotYet);
  version = 10;
  PersistentVolumeClaim c = claim("data");
  c.has_selected_node = true;
  c.selected_node = "n0";
  see(c);
  EXPECT_EQ(work->wait().state, WaitState::kNotYet);
  c.volume_name = "made";
  see(c);
  EXPECT_EQ(work->wait().state, WaitState::kNotYet) << "the volume is not known yet";
  see(at(volume("made"), kHost, {"n9"}));
  EXPECT_EQ(work->wait().state, WaitState::kBroken);
  EXPECT_EQ(work->wait().words, "pv \"made\" node affinity doesn't match node \"n0\"");
  see(at(volume("made"), kHost, {"n0"}));
  EXPECT_EQ(work->wait().state, WaitState::kNotYet);
  c.is_bind_completed = true;
  see(c);
  EXPECT_EQ(work->wait().state, WaitState::kHolds);
  c.has_selected_node = false;
  see(c);
  EXPECT_EQ(work->wait().words, "provisioning failed for PVC \"data\"");
}

/// Two pods with one claim: the first one writes, the other one waits for it.
TEST_F(VolumeWorkTest, APodThatSharesAnUnboundClaimWaitsForTheOneThatWrites) {
  for (const bool is_new : {true, false}) {
    const std::string data = is_new ? "new" : "listed", first = "a-" + data, second = "b-" + data;
    if (!is_new) see(at(volume("v"), kHost, {"n0"}));
    see(claim(data));
    see(user(first, {data}));
    step();
    ASSERT_EQ(taken(first), data + (is_new ? "=new" : "=v"));
    see(user(second, {data}));
    step();
    ASSERT_EQ(taken(second), taken(first));
    const std::shared_ptr<CommitWork> work = volume_work_of(tracker, slot(second));
    EXPECT_EQ(work->writes(), 0u);
    EXPECT_EQ(work->wait().state, WaitState::kNotYet) << work->wait().words;
    see(user("c-" + data, {data}));
    step();
    ASSERT_EQ(taken("c-" + data), taken(first));
    gone(user("c-" + data, {data}));
    step();
    EXPECT_EQ(work->wait().state, WaitState::kNotYet)
        << "what the first one has taken is not given back with the third";
    EXPECT_FALSE(is_outdated(first));
    gone(user(first, {data}));
    EXPECT_EQ(work->wait().state, WaitState::kBroken) << "nobody writes it";
    gone(user(second, {data}));
    step();
  }
}

TEST_F(VolumeWorkTest, APodWhoseClaimsAreBoundWritesNothing) {
  see(at(volume("v"), kHost, {"n0"}));
  see(bound_claim("data", "v"));
  see(user("p", {"data"}));
  see(pod("plain", 0));
  step();
  EXPECT_EQ(where("p"), "n0");
  EXPECT_EQ(volume_work_of(tracker, slot("p")), nullptr);
  EXPECT_EQ(volume_work_of(tracker, slot("plain")), nullptr);
}

}  // namespace
}  // namespace ashlar::kube
