// More pods than a node has volumes for: how many decisions and places that are given back until all have one; and which
// pods look again when volumes are taken, offered or made.
#include "live/track/volumes/scarce_volumes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "volume_bench.h"

namespace ashlar::kube {
namespace {

constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kNothingMadeHere = "kubernetes.io/no-provisioner";

class ScarceVolumesTest : public VolumeBench {
 protected:
  ScarceVolumesTest() { is_answering = false; }

  static std::string name(const std::string& letter, int number) { return letter + std::to_string(number); }
  void hosts(int count, std::int64_t gpus = 8) {
    for (int i = 0; i < count; ++i) see(node(name("n", i), gpus, {{kHost, name("n", i)}}));
  }
  void volumes(int node, int count, const std::string& of_class = "late") {
    for (int v = 0; v < count; ++v)
      see(at(volume(of_class + "-" + name("n", node) + "-" + std::to_string(v), of_class), kHost, {name("n", node)}));
  }
  void pods(int first, int last, std::int64_t gpus = 0, const std::string& of_class = "late") {
    for (int i = first; i < last; ++i) {
      see(claim(name("c", i), of_class));
      see(user(name("p", i), {name("c", i)}, gpus));
    }
  }
  PodSlot slot(const std::string& of) { return tracker.pods().find("ns", PooledString(of)); }

  struct Work {
    int decisions = 0, lost = 0, placed = 0;
  };
  /// Decides until nothing is placed any more; places without volumes are given back at once, as Binder does.
  Work decide() {
    Work work;
    for (bool is_going_on = true; is_going_on && work.decisions < 1'000;) {
      step();
      ++work.decisions;
      is_going_on = !plan.actions.empty();
      for (const Action& action : plan.actions) {
        const PodSlot of = tracker.pods().of_member(std::get<Bind>(action).member);
        if (!tracker.is_place_outdated(of, nullptr)) continue;
        tracker.choose_anew(of);
        ++work.lost;
      }
    }
    for (PodSlot s = 0; s < tracker.pods().slots(); ++s)
      work.placed += tracker.pods()[s].phase == PodRecord::Phase::kAssumed ? 1 : 0;
    return work;
  }
  std::set<std::string> places(int first, int last) {
    std::set<std::string> nodes;
    for (int i = first; i < last; ++i) nodes.insert(where(name("p", i)));
    return nodes;
  }
};

TEST_F(ScarceVolumesTest, PodsThatAllFitOnANodeWithOneVolumeLoseItOnce) {
  hosts(200);
  see(storage_class("late", kNothingMadeHere));
  for (int n = 0; n < 200; ++n) volumes(n, 1);
  pods(0, 200);
  const Work work = decide();
  EXPECT_EQ(work.placed, 200);
  EXPECT_EQ(places(0, 200).size(), 200u);
  EXPECT_LE(work.lost, 199) << "those of the first decision";
  EXPECT_LE(work.decisions, 3) << "all but a few are lost, all are placed, nothing is left to do";
}

TEST_F(ScarceVolumesTest, ANodeTakesAnotherOneInTheNextDecision) {
  hosts(5);
  see(storage_class("late", kNothingMadeHere));
  for (int n = 0; n < 5; ++n) volumes(n, 4);
  pods(0, 30);
  const Work work = decide();
  EXPECT_EQ(work.placed, 20) << "as many as there are volumes";
  EXPECT_LE(work.lost, 26);
  EXPECT_LE(work.decisions, 8);
}

TEST_F(ScarceVolumesTest, PodsThatLostNoneAreOnTheBestNodeTogether) {
  hosts(5);
  see(storage_class("late", kNothingMadeHere));
  for (int n = 0; n < 5; ++n) volumes(n, 8);
  pods(0, 8, 1);
  const Work work = decide();
  EXPECT_EQ(work.lost, 0);
  EXPECT_EQ(work.placed, 8);
  EXPECT_EQ(places(0, 8).size(), 1u);
}

TEST_F(ScarceVolumesTest, VolumesThatMoreThanOneNodeMayUseSpreadNobody) {
  hosts(4);
  see(storage_class("late", kNothingMadeHere));
  for (int v = 0; v < 2; ++v) see(at(volume(name("left", v)), kHost, {"n0", "n1"}));
  for (int v = 0; v < 6; ++v) see(at(volume(name("right", v)), kHost, {"n2", "n3"}));
  pods(0, 8, 1);
  const Work work = decide();
  EXPECT_EQ(work.placed, 8);
  EXPECT_LE(places(0, 8).size(), 2u);
}

TEST_F(ScarceVolumesTest, PodsWithAPlaceKeepNobodyAway) {
  hosts(2);
  see(storage_class("late", kNothingMadeHere));
  for (int n = 0; n < 2; ++n) volumes(n, 1);
  pods(0, 3);
  ASSERT_EQ(decide().placed, 2);
  volumes(1, 2);
  for (int i = 0; i < 3; ++i) {
    if (where(name("p", i)).empty()) continue;
    see(on(user(name("p", i), {name("c", i)}), where(name("p", i))));
  }
  EXPECT_EQ(decide().placed, 1) << "the third, beside one of those with a place";
  EXPECT_EQ(places(0, 3), (std::set<std::string>{"n0", "n1"}));
}

TEST_F(ScarceVolumesTest, APodWhoseClaimIsBoundMeanwhileKeepsNobodyAway) {
  hosts(2);
  see(storage_class("late", kNothingMadeHere));
  volumes(0, 1);
  pods(0, 3);
  ASSERT_EQ(decide().placed, 1);
  std::vector<int> waiting;
  for (int i = 0; i < 3; ++i)
    if (where(name("p", i)).empty()) waiting.push_back(i);
  ASSERT_EQ(waiting.size(), 2u);
  for (const int i : waiting) {
    const std::string own = name("own", i);
    see(at(volume(own), kHost, {"n1"}));
    see(bound_claim(name("c", i), own));
  }
  const Work work = decide();
  EXPECT_EQ(work.lost, 0);
  EXPECT_EQ(work.decisions, 2) << "both at once on n1, and one decision that has nothing to do";
  for (const int i : waiting) EXPECT_EQ(where(name("p", i)), "n1");
}

TEST_F(ScarceVolumesTest, MembersOfAStartedGangDecideAgainAtOnceAndTogether) {
  hosts(2);
  see(storage_class("late", kNothingMadeHere));
  volumes(0, 1);
  for (int i = 0; i < 2; ++i) see(on(gang_pod("g", i, 2, 1), "n0"));
  step();
  for (int i = 2; i < 5; ++i) {
    see(claim(name("c", i)));
    Pod p = gang_pod("g", i, 2, 1);
    p.volumes = user("x", {name("c", i)}).volumes;
    see(p);
  }
  step();
  std::vector<PodSlot> lost;
  for (const char* of : {"g-2", "g-3", "g-4"}) {
    ASSERT_EQ(where(of), "n0");
    if (tracker.is_place_outdated(slot(of), nullptr)) lost.push_back(slot(of));
  }
  ASSERT_EQ(lost.size(), 2u);
  for (const PodSlot of : lost) EXPECT_EQ(tracker.chosen_volumes(of), nullptr) << "no problem that it must wait with";
  volumes(1, 2);
  for (const PodSlot of : lost) tracker.choose_anew(of);
  step();
  for (const PodSlot of : lost) EXPECT_EQ(where(tracker.pods()[of].name.str()), "n1");
}

// ---- who looks again ------------------------------------------------------------------------------------------------

TEST_F(ScarceVolumesTest, PodsLookAgainOnlyWhenOtherNodesWillDoForTheirRequest) {
  hosts(4);
  see(storage_class("late", "csi.example.com"));
  pods(0, 100, 9);  // more GPUs than a node has
  see(claim("mine"));
  step();
  const std::uint64_t renewed = tracker.constraints_renewed();
  volumes(1, 3);
  step();
  volumes(2, 1);
  see(user("taker", {"mine"}, 1));
  step();
  EXPECT_EQ(where("taker"), "n0");
  gone(at(volume("late-n1-0"), kHost, {"n1"}));
  step();
  EXPECT_LE(tracker.constraints_renewed(), renewed + 3) << "a new one can be made anywhere";
  see(storage_class("late", kNothingMadeHere));
  step();
  EXPECT_GE(tracker.constraints_renewed(), renewed + 100) << "from now on volumes are all there is";
}

TEST_F(ScarceVolumesTest, VolumesOfTwoLabelsAreListedOnceForEachNode) {
  constexpr const char* kZone = "topology.kubernetes.io/zone";
  for (int i = 0; i < 10; ++i) see(node(name("n", i), 8, {{kHost, name("n", i)}, {kZone, "a"}}));
  see(storage_class("late", kNothingMadeHere));
  for (int v = 0; v < 40; ++v) {
    PersistentVolume one = at(volume(name("v", v), "late"), kHost, {name("n", v % 10)});
    ASSERT_EQ(one.affinity.size(), 1u);
    one.affinity.front().expressions.push_back({.key = kZone, .op = SelectorOp::kIn, .values = {"a"}});
    see(one);
  }
  pods(0, 20, 9);
  see(claim("mine"));
  step();
  const auto& lists = tracker.pods()[slot("p0")].volume_terms->lists;
  ASSERT_EQ(lists.size(), 1u);
  ASSERT_EQ(lists[0].size(), 1u) << "they differ in the host";
  EXPECT_EQ(lists[0][0].expressions[0].values.size(), 10u);
  const std::uint64_t renewed = tracker.constraints_renewed();
  see(user("taker", {"mine"}, 1));
  step();
  EXPECT_NE(where("taker"), "");
  EXPECT_LE(tracker.constraints_renewed(), renewed + 2) << "its node has three more";
}

TEST_F(ScarceVolumesTest, PodsThatAreCarriedToTheirPlacesDoNotFollowTheirClass) {
  hosts(3);
  see(storage_class("late", "csi.example.com"));
  see(driver_with_capacities("csi.example.com"));
  see(capacity("late", "", 100));
  pods(0, 20);
  step();
  for (int i = 0; i < 20; ++i) ASSERT_NE(where(name("p", i)), "");
  step();  // what they took of their claims is known
  const std::uint64_t made = tracker.late_choices_made();
  see(capacity("late", "", 90));
  step();
  EXPECT_LE(tracker.late_choices_made(), made + 1);
}

TEST_F(ScarceVolumesTest, CapacitiesThatChangeNothingForARequestAreNotLookedAtByItsPods) {
  hosts(3);
  see(storage_class("late", "d"));
  see(driver_with_capacities("d"));
  see(capacity("late", "n0", 30));
  pods(0, 50, 9);
  step();
  const std::uint64_t renewed = tracker.constraints_renewed();
  for (int round = 0; round < 10; ++round) {
    see(capacity("late", "n0", 29 - round));
    step();
  }
  EXPECT_EQ(tracker.constraints_renewed(), renewed) << "it is large enough still";
  see(capacity("late", "n1", 1));
  step();
  EXPECT_EQ(tracker.constraints_renewed(), renewed + 50);
}

/// Whatever happens, a waiting pod knows what it would if it were new.
TEST_F(ScarceVolumesTest, WhatPodsKnowFollowsEveryChange) {
  std::mt19937_64 draws(11);
  const auto below = [&](std::uint64_t bound) { return static_cast<int>(draws() % bound); };
  hosts(6);
  for (const char* of : {"late", "made"}) see(storage_class(of, of == std::string("made") ? "d" : kNothingMadeHere));
  see(driver_with_capacities("d"));
  std::vector<Pod> all;
  for (int i = 0; i < 24; ++i) {
    const std::string of = i % 3 == 0 ? "made" : "late";
    see(claim(name("c", i), of, 1 + i % 4));
    see(claim(name("d", i), i % 2 == 0 ? "late" : "made", 1 + i % 3));
    std::vector<std::string> claims{name("c", i)};
    if (i % 4 == 1) claims.push_back(name("d", i));
    all.push_back(user(name("p", i), claims, i % 6 == 5 ? 1 : 9));
    see(all.back());
  }
  for (int round = 0; round < 400; ++round) {
    const int which = below(12);
    const std::string host = name("n", below(6));
    PersistentVolume v = at(volume(name("v", which), which % 4 == 0 ? "made" : "late", 1 + which % 5), kHost, {host});
    switch (below(6)) {
      case 0:
      case 1:
        see(v);
        break;
      case 2:
        gone(v);
        break;
      case 3:
        v.has_claim = true;
        v.claim_ns = "ns";
        v.claim_name = PooledString(below(2) == 0 ? name("c", below(24)) : "somebody");
        see(v);
        break;
      case 4:
        see(capacity("made", host, below(5)));
        break;
      default:
        see(all[static_cast<std::size_t>(below(24))]);
    }
    if (below(3) != 0) continue;
    step();
    for (const Action& action : plan.actions) {
      const PodSlot of = tracker.pods().of_member(std::get<Bind>(action).member);
      if (tracker.is_place_outdated(of, nullptr) || below(2) == 0) tracker.choose_anew(of);
    }
    tracker.settle();
    for (const Pod& pod : all) {
      if (record(pod.name.str()).phase != PodRecord::Phase::kWaiting) continue;
      const auto known = record(pod.name.str()).volume_terms;
      gone(pod);
      see(pod);
      const auto fresh = record(pod.name.str()).volume_terms;
      ASSERT_EQ(known == nullptr, fresh == nullptr) << pod.name.str() << " round " << round;
      ASSERT_TRUE(known == fresh || known->lists == fresh->lists) << pod.name.str() << " round " << round;
    }
  }
}

TEST(ScarceVolumesRules, LabelsOfOneThatLostSomeAreInTheOrderOfTheirKeys) {
  const Labels labels = ScarceVolumes::labels({{"app", "web"}, {"zone", "a"}}, {"late", "fast"});
  ASSERT_EQ(labels.size(), 4u);
  EXPECT_TRUE(std::ranges::is_sorted(labels, {}, [](const KeyValue& label) { return label.key.str(); }));
  for (const char* key : {"app", "zone"}) EXPECT_NE(find_label(labels, key), nullptr) << key;
}

TEST(ScarceVolumesRules, ThoseOfAnyNamespaceThatLostOneOfTheSameKeepEachOtherOffTheNode) {
  ScarceVolumes scarce;
  const Labels own_labels{{"app", "web"}};
  PodRules own;
  own.node_selector = {{"zone", "a"}};
  own.required_anti_affinity.emplace_back().topology_key = "zone";
  const auto rules = scarce.rules(std::make_shared<const PodRules>(own), {"late", "fast"});
  EXPECT_EQ(rules->node_selector, own.node_selector);
  ASSERT_EQ(rules->required_anti_affinity.size(), 3u);
  EXPECT_EQ(rules->required_anti_affinity[0], own.required_anti_affinity[0]);
  const auto meant = [&](std::size_t term, const Labels& labels) {
    return matches(rules->required_anti_affinity[term].selector, labels);
  };
  for (const std::size_t term : {1u, 2u}) {
    const PodAffinityTerm& of = rules->required_anti_affinity[term];
    EXPECT_EQ(of.topology_key, kNodeNameKey);
    EXPECT_EQ(of.namespace_selector, (LabelSelector{.present = true, .match_labels = {}, .expressions = {}}));
    EXPECT_TRUE(of.namespaces.empty());
    EXPECT_TRUE(meant(term, ScarceVolumes::labels(own_labels, {"fast", "late"})));
    EXPECT_EQ(meant(term, ScarceVolumes::labels(own_labels, {"late"})), term == 1);
    EXPECT_EQ(meant(term, ScarceVolumes::labels(own_labels, {"fast"})), term == 2);
    EXPECT_FALSE(meant(term, own_labels));
  }
  EXPECT_EQ(scarce.rules(nullptr, {"late"})->required_anti_affinity.size(), 1u);
}

TEST(ScarceVolumesRules, APodThatNeedsNoneAnyMoreHasLostNone) {
  ScarceVolumes scarce;
  EXPECT_FALSE(scarce.forget(3));
  scarce.note_lost(3, {"late"});
  ASSERT_NE(scarce.lost_by(3), nullptr);
  EXPECT_EQ(*scarce.lost_by(3), ScarceVolumes::Classes{"late"});
  EXPECT_EQ(scarce.lost_by(4), nullptr);
  EXPECT_FALSE(scarce.forget(4));
  EXPECT_TRUE(scarce.forget(3));
  EXPECT_EQ(scarce.lost_by(3), nullptr);
}

TEST(ScarceVolumesRules, OneTemplateMoreThanAreKeptDoesNotCostAllOfThemAnew) {
  constexpr int kTemplates = 1025, kRounds = 4;
  ScarceVolumes scarce;
  std::vector<std::shared_ptr<const PodRules>> known(kTemplates);
  int made = 0;
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < kTemplates; ++i) {
      PodRules own;
      own.node_selector = {{"of", PooledString(std::to_string(i))}};
      const auto rules = scarce.rules(std::make_shared<const PodRules>(std::move(own)), {"late"});
      EXPECT_EQ(rules->required_anti_affinity.size(), 1u);
      made += rules == known[static_cast<std::size_t>(i)] ? 0 : 1;
      known[static_cast<std::size_t>(i)] = rules;
    }
  EXPECT_LT(made, kTemplates + 10 * kRounds);
}

}  // namespace
}  // namespace ashlar::kube
