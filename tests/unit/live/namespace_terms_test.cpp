// The limit of terms about other pods in one namespace: which pods are let in, which wait and in what order, and that
// nothing is counted that is not there.
#include "live/track/company/namespace_terms.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

constexpr int kTermsOfOne = 64;
constexpr int kKindsMax = NamespaceTerms::kMax / kTermsOfOne;
const PooledString kNs("ns");

/// Would rather not be near pods with any of 64 values that no other kind names.
PodRules rules_of(int kind, int terms = kTermsOfOne) {
  PodRules rules;
  for (int t = 0; t < terms; ++t) {
    PodAffinityTerm term;
    term.topology_key = "kubernetes.io/hostname";
    term.selector.present = true;
    term.selector.match_labels = {{PooledString("k"), PooledString(std::to_string(kind) + "-" + std::to_string(t))}};
    rules.preferred_anti_affinity.push_back({1, term});
  }
  return rules;
}

class NamespaceTermsTest : public TrackerBench {
 protected:
  NamespaceTermsTest() { see(node("n", 8)); }
  using TrackerBench::gone;
  using TrackerBench::see;
  /// Asks for more GPUs than there are.
  static Pod waiting(int kind, const std::string& ns = "ns", int terms = kTermsOfOne) {
    return under(pod("p" + std::to_string(kind), 9, {}, ns), rules_of(kind, terms));
  }
  void fill(int kinds) {
    for (int k = 0; k < kinds; ++k) see(waiting(k));
  }
  bool is_in(int kind, const std::string& ns = "ns") {
    return record("p" + std::to_string(kind), ns).phase == PodRecord::Phase::kWaiting;
  }
};

TEST_F(NamespaceTermsTest, TheFirstBeyondTheLimitWaitsUntilAnotherHasGone) {
  fill(kKindsMax + 2);
  step();
  EXPECT_TRUE(is_in(kKindsMax - 1));
  const PodRecord& first = record("p" + std::to_string(kKindsMax));
  EXPECT_EQ(first.phase, PodRecord::Phase::kHeld);
  const ConditionText told = tracker.hold_condition(first);
  EXPECT_EQ(told.reason, "SchedulerError") << "no node that an autoscaler adds would help";
  EXPECT_EQ(told.message,
            "TermsFull: the pods of a namespace may have 4096 terms of pod affinity, anti-affinity and topology spread "
            "(alike pods count once), and those of ns leave no room for this one's; it waits until some with other "
            "terms have ended");
  gone(waiting(3));
  step();
  EXPECT_TRUE(is_in(kKindsMax));
  EXPECT_FALSE(is_in(kKindsMax + 1)) << "in the order in which they came";
  gone(waiting(kKindsMax));
  step();
  EXPECT_TRUE(is_in(kKindsMax + 1));
}

TEST_F(NamespaceTermsTest, AlikePodsCountOnce) {
  fill(kKindsMax);
  see(under(pod("like", 9), rules_of(5)));
  EXPECT_EQ(record("like").phase, PodRecord::Phase::kWaiting);
  see(waiting(kKindsMax));
  gone(waiting(5));
  step();
  EXPECT_FALSE(is_in(kKindsMax)) << "its like is still there";
  gone(under(pod("like", 9), rules_of(5)));
  step();
  EXPECT_TRUE(is_in(kKindsMax));
}

TEST_F(NamespaceTermsTest, OtherNamespacesAndPodsWithoutTermsAreNotConcerned) {
  fill(kKindsMax + 1);
  see(waiting(1, "other"));
  see(pod("plain", 1));
  step();
  EXPECT_TRUE(is_in(1, "other"));
  EXPECT_EQ(where("plain"), "n");
}

TEST_F(NamespaceTermsTest, BoundPodsCountBeyondIt) {
  fill(kKindsMax);
  for (int k = 0; k < 3; ++k) see(on(under(pod("b" + std::to_string(k), 0), rules_of(1000 + k)), "n"));
  see(waiting(kKindsMax));
  step();
  EXPECT_EQ(record("b2").phase, PodRecord::Phase::kBound);
  for (int k = 0; k < 3; ++k) gone(waiting(k));
  step();
  EXPECT_FALSE(is_in(kKindsMax)) << "no more than the limit is left";
  gone(waiting(3));
  step();
  EXPECT_TRUE(is_in(kKindsMax));
}

TEST_F(NamespaceTermsTest, OneThatIsBoundByAnotherLetsItsLikeIn) {
  fill(kKindsMax + 1);
  see(under(pod("like", 9), rules_of(kKindsMax)));
  see(on(waiting(kKindsMax), "n"));
  step();
  EXPECT_EQ(record("like").phase, PodRecord::Phase::kWaiting);
}

TEST_F(NamespaceTermsTest, SpreadsByLabelsOfThePodAreAsManyAsTheirValues) {
  PodRules rules;
  TopologySpread spread;
  spread.topology_key = "kubernetes.io/hostname";
  spread.selector.present = true;
  spread.match_label_keys = {PooledString("revision")};
  rules.spread.assign(kTermsOfOne, spread);
  for (int k = 0; k <= kKindsMax; ++k)
    see(under(pod("p" + std::to_string(k), 9, {{"revision", PooledString(std::to_string(k))}}), rules));
  step();
  EXPECT_TRUE(is_in(kKindsMax - 1));
  EXPECT_FALSE(is_in(kKindsMax));
}

TEST_F(NamespaceTermsTest, ASmallOneDoesNotPassThoseThatWait) {
  fill(kKindsMax - 1);
  see(waiting(500, "ns", 1));
  see(waiting(501));
  see(waiting(502, "ns", 1));
  EXPECT_TRUE(is_in(500));
  EXPECT_FALSE(is_in(501));
  EXPECT_FALSE(is_in(502)) << "there is room for it, but it came later";
}

TEST_F(NamespaceTermsTest, AGatedPodTakesNoRoom) {
  fill(kKindsMax - 1);
  Pod gated = waiting(500);
  gated.scheduling_gates = 1;
  see(gated);
  see(waiting(501));
  EXPECT_TRUE(is_in(501));
  gated.scheduling_gates = 0;
  see(gated);
  EXPECT_FALSE(is_in(500));
  gone(waiting(501));
  step();
  EXPECT_TRUE(is_in(500));
}

/// Of many pods that come, go, change their rules and are bound: what is counted is what is there, and none waits
/// while there is room for the first of them.
TEST(NamespaceTermsOfMany, WhatIsCountedIsThere) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Rng rng(seed);
    NamespaceTerms terms;
    std::map<PodSlot, PodRecord> pods;
    std::map<PodSlot, int> kind_of;
    std::map<PodSlot, bool> is_in;
    const auto place = [&](PodSlot slot) { is_in[slot] = terms.lets_in(pods[slot], slot); };
    for (int step = 0; step < 600; ++step) {
      const auto slot = static_cast<PodSlot>(rng.below(300));
      if (pods.contains(slot) && rng.below(3) == 0) {
        terms.forget(pods[slot]);
        pods.erase(slot);
        kind_of.erase(slot);
        is_in.erase(slot);
      } else {
        const int kind = static_cast<int>(rng.below(140));
        PodRecord& pod = pods[slot];
        pod.ns = kNs;
        pod.rules = std::make_shared<const PodRules>(rules_of(kind));
        terms.note(pod);
        kind_of[slot] = kind;
        if (rng.below(20) == 0) {
          terms.note_bound(pod);
          is_in[slot] = true;
        } else {
          place(slot);
        }
      }
      for (const PodSlot let_in : terms.take_let_in())
        if (pods.contains(let_in)) place(let_in);
      std::map<int, bool> kinds;  // whether any of them is in
      for (const auto& [s, kind] : kind_of) kinds[kind] = kinds[kind] || is_in[s];
      std::size_t counted = 0;
      bool waits_any = false;
      for (const auto& [kind, has_one] : kinds) {
        counted += has_one ? kTermsOfOne : 0;
        waits_any = waits_any || !has_one;
      }
      ASSERT_EQ(terms.kinds(), kinds.size());
      ASSERT_EQ(terms.terms_in(kNs), counted) << "seed " << seed << " step " << step;
      ASSERT_TRUE(!waits_any || counted + kTermsOfOne > NamespaceTerms::kMax) << "seed " << seed << " step " << step;
    }
    for (auto& [slot, pod] : pods) terms.forget(pod);
    static_cast<void>(terms.take_let_in());
    EXPECT_EQ(terms.kinds(), 0u);
    EXPECT_EQ(terms.terms_in(kNs), 0u);
  }
}

}  // namespace
}  // namespace ashlar::kube
