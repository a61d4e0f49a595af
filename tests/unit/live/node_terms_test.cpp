// Terms about nodes that volumes bring: how few there are, and what becomes of a pod with too many.
#include "live/track/volumes/node_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/rng.h"
#include "volume_bench.h"

namespace ashlar::kube {
namespace {

constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";

Requirement in(const std::string& key, std::vector<PooledString> values) {
  return {.key = PooledString(key), .op = SelectorOp::kIn, .values = std::move(values)};
}
std::string name(const std::string& letter, std::size_t number) { return letter + std::to_string(number); }

TEST(NodeTerms, ThatDifferInTheValuesOfOneLabelAreOne) {
  std::vector<NodeTerm> terms;
  for (std::size_t i = 0; i < 300; ++i) {
    const Requirement host = in(kHost, {name("n", i)}), zone = in(kZoneLabel, {name("z", i % 3)});
    const NodeTerm one{.expressions = {host, zone}, .fields = {}}, other{.expressions = {zone, host}, .fields = {}};
    terms.push_back(i % 2 == 0 ? one : other);
    terms.push_back(other);
  }
  merge_terms(terms);
  ASSERT_EQ(terms.size(), 3u) << "one for each zone";
  for (const NodeTerm& term : terms) EXPECT_EQ(term.expressions[0].values.size(), 100u);
}

TEST(NodeTerms, ThatListTheSameInAnotherOrderAreOne) {
  std::vector<NodeTerm> terms{{.expressions = {in("a", {"2", "1", "2"}), in("b", {"x"})}, .fields = {}},
                              {.expressions = {in("b", {"x"}), in("a", {"1", "2"})}, .fields = {}}};
  merge_terms(terms);
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].expressions, (std::vector{in("a", {"1", "2"}), in("b", {"x"})}));
}

TEST(NodeTerms, ThatDifferInMoreStayApart) {
  std::vector<NodeTerm> terms;
  for (std::size_t i = 0; i < 20; ++i)
    terms.push_back({.expressions = {in("a", {name("", i)}), in("b", {name("", i)})}, .fields = {}});
  merge_terms(terms);
  EXPECT_EQ(terms.size(), 20u);
}

TEST(NodeTerms, MergedOnesAllowTheSameNodes) {
  Rng draws(3);
  const auto below = [&](std::uint64_t bound) { return static_cast<std::size_t>(draws.below(bound)); };
  std::size_t before = 0, after = 0, allowed = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<NodeTerm> terms(below(12));
    for (NodeTerm& term : terms)
      for (std::size_t left = below(4); left > 0; --left) {
        Requirement r = in(name("k", below(3)), {});
        r.op = std::array{SelectorOp::kIn,    SelectorOp::kIn,     SelectorOp::kIn,
                          SelectorOp::kNotIn, SelectorOp::kExists, SelectorOp::kDoesNotExist}[below(6)];
        const bool has_values = r.op == SelectorOp::kIn || r.op == SelectorOp::kNotIn;
        for (std::size_t values = has_values ? below(3) : 0; values > 0; --values)
          r.values.push_back(name("v", below(3)));
        term.expressions.push_back(std::move(r));
      }
    std::vector<NodeTerm> merged = terms;
    merge_terms(merged);
    before += terms.size();
    after += merged.size();
    ASSERT_LE(merged.size(), terms.size());
    for (int node = 0; node < 20; ++node) {
      Labels labels;
      for (const char* key : {"k0", "k1", "k2"})
        if (below(4) > 0) labels.push_back({key, PooledString(name("v", below(3)))});
      ASSERT_EQ(holds(AnyOf(terms), labels), holds(AnyOf(merged), labels)) << round;
      (holds(AnyOf(terms), labels) ? allowed : refused) += 1;
    }
  }
  EXPECT_LT(after, before * 9 / 10);
  EXPECT_GT(std::min(allowed, refused), 5000u);
}

TEST(NodeTerms, TwoThatDifferInOneLabelBesideAnotherAreOne) {
  const Requirement row{"row", SelectorOp::kExists, {}};
  std::vector<NodeTerm> terms{{.expressions = {in("a", {"1"}), row}, .fields = {}},
                              {.expressions = {in("a", {"2"}), row}, .fields = {}}};
  merge_terms(terms);
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].expressions, (std::vector{in("a", {"1", "2"}), row}));
}

TEST(NodeTerms, ThatNameFieldsKeepThem) {
  const NodeTerm of_field{.expressions = {in("a", {"1"})}, .fields = {in("metadata.name", {"n"})}};
  std::vector<NodeTerm> terms{of_field, {.expressions = {in("a", {"2"})}, .fields = {}}};
  merge_terms(terms);
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_TRUE(std::ranges::find(terms, of_field) != terms.end());
}

// ---- where they hold ------------------------------------------------------------------------------------------------

bool holds_by(SelectorOp op, std::vector<PooledString> values, const Labels& labels) {
  std::vector<NodeTerm> terms(1);
  terms[0].expressions.push_back({.key = "k", .op = op, .values = std::move(values)});
  return holds(AnyOf(std::move(terms)), labels);
}

TEST(NodeTerms, AnExpressionHoldsForANodeAsUpstreamHasIt) {
  using Op = SelectorOp;
  const Labels five{{"j", "7"}, {"k", "5"}}, without{{"j", "5"}};
  EXPECT_TRUE(holds_by(Op::kIn, {"4", "5"}, five));
  EXPECT_FALSE(holds_by(Op::kIn, {"4", "7"}, five) || holds_by(Op::kIn, {"5"}, without));
  EXPECT_TRUE(holds_by(Op::kNotIn, {"4", "7"}, five) && holds_by(Op::kNotIn, {"5"}, without));
  EXPECT_FALSE(holds_by(Op::kNotIn, {"4", "5"}, five));
  EXPECT_TRUE(holds_by(Op::kExists, {}, five) && holds_by(Op::kDoesNotExist, {}, without));
  EXPECT_FALSE(holds_by(Op::kExists, {}, without) || holds_by(Op::kDoesNotExist, {}, five));
  EXPECT_TRUE(holds_by(Op::kGt, {"4"}, five) && holds_by(Op::kLt, {"6"}, five));
  EXPECT_FALSE(holds_by(Op::kGt, {"5"}, five) || holds_by(Op::kLt, {"5"}, five));
  EXPECT_FALSE(holds_by(Op::kGt, {"6"}, five) || holds_by(Op::kLt, {"4"}, five));
  EXPECT_FALSE(holds_by(Op::kGt, {"4"}, without) || holds_by(Op::kLt, {"6"}, without));
}

TEST(NodeTerms, WhatIsNoNumberIsNeitherMoreNorLess) {
  for (const SelectorOp op : {SelectorOp::kGt, SelectorOp::kLt}) {
    for (const char* value : {"", "x", "5x", "5.0", "99999999999999999999"}) {
      EXPECT_FALSE(holds_by(op, {"0"}, {{"k", value}})) << value;
      EXPECT_FALSE(holds_by(op, {value}, {{"k", "0"}})) << value;
    }
    EXPECT_FALSE(holds_by(op, {}, {{"k", "5"}}));
    EXPECT_FALSE(holds_by(op, {"4", "4"}, {{"k", "5"}}) || holds_by(op, {"6", "6"}, {{"k", "5"}}));
  }
}

using Terms = std::vector<NodeTerm>;

TEST(NodeTerms, OneWithoutExpressionsAndAnEmptyListHoldNowhere) {
  const Labels node{{"k", "5"}};
  EXPECT_TRUE(holds(AnyOf(), node)) << "no list";
  EXPECT_FALSE(holds(AnyOf(Terms()), node));
  EXPECT_FALSE(holds(AnyOf(Terms(1)), node));
  const NodeTerm five{.expressions = {in("k", {"5"})}, .fields = {}};
  const NodeTerm other{.expressions = {in("j", {"5"})}, .fields = {}};
  EXPECT_TRUE(holds(AnyOf(Terms{NodeTerm(), other, five}), node));
  NodeTerm both = five;
  both.expressions.push_back(other.expressions.front());
  EXPECT_FALSE(holds(AnyOf(Terms{both}), node));
}

/// Terms of this many nodes.
Terms some(const std::string& key, std::size_t count) {
  Terms terms;
  for (std::size_t i = 0; i < count; ++i) terms.push_back({.expressions = {in(key, {name(key, i)})}, .fields = {}});
  return terms;
}

TEST(NodeTerms, EitherOfTwoListsAndBoth) {
  const AnyOf everywhere, nowhere = Terms(), two = some("a", 2), three = some("b", 3);
  EXPECT_EQ(either(everywhere, two), everywhere);
  EXPECT_EQ(either(two, everywhere), everywhere);
  EXPECT_EQ(either(nowhere, two), two);
  EXPECT_EQ(either(two, three)->size(), 5u);
  EXPECT_EQ(both(everywhere, two, 0), std::optional<AnyOf>(two));
  EXPECT_EQ(both(two, everywhere, 0), std::optional<AnyOf>(two));
  EXPECT_EQ(both(nowhere, two, 0), std::optional<AnyOf>(nowhere));
  const std::optional<AnyOf> six = both(two, three, 6);
  ASSERT_TRUE(six.has_value());
  EXPECT_EQ((**six).size(), 6u);
  EXPECT_TRUE(holds(*six, {{"a", "a1"}, {"b", "b2"}}));
  EXPECT_FALSE(holds(*six, {{"a", "a1"}}) || holds(*six, {{"b", "b2"}}));
  EXPECT_FALSE(both(two, three, 5).has_value()) << "too many";
}

TEST(NodeTerms, OfASelectorAllThatItSays) {
  LabelSelector selector{.present = false, .match_labels = {{"a", "1"}}, .expressions = {}};
  EXPECT_EQ(selector_terms(selector), AnyOf(Terms())) << "absent: no node";
  selector = {.present = true, .match_labels = {}, .expressions = {}};
  EXPECT_EQ(selector_terms(selector), AnyOf()) << "empty: all";
  selector = {.present = true, .match_labels = {{"a", "1"}}, .expressions = {{"b", SelectorOp::kExists, {}}}};
  EXPECT_TRUE(holds(selector_terms(selector), {{"a", "1"}, {"b", "x"}}));
  EXPECT_FALSE(holds(selector_terms(selector), {{"a", "1"}}) || holds(selector_terms(selector), {{"b", "x"}}));
}

TEST(NodeTerms, OfTheTopologiesOfAClassThoseThatSaySomething) {
  StorageClass of;
  EXPECT_EQ(topology_terms(of), AnyOf());
  of.allowed_topologies = Terms(1);
  EXPECT_EQ(topology_terms(of), AnyOf(Terms())) << "no node";
  of.allowed_topologies = some("a", 2);
  of.allowed_topologies.emplace_back();
  EXPECT_EQ(topology_terms(of), AnyOf(some("a", 2)));
}

TEST(NodeTerms, OfADriverThatPodsMustFollow) {
  const Labels other{{"csinode driver e", ""}, {"csinode present", ""}}, runs_it{{"csinode driver d", ""}};
  for (const bool is_migrated : {false, true}) {
    const AnyOf terms = driver_terms("d", is_migrated);
    EXPECT_TRUE(holds(terms, runs_it));
    EXPECT_FALSE(holds(terms, other));
    EXPECT_EQ(holds(terms, {}), is_migrated) << "a node that says nothing of drivers";
  }
}

/// Whether a bound volume's labels of zone and region allow the node.
bool is_in_zone(const Labels& of_volume, const Labels& node) {
  PersistentVolume volume;
  volume.labels = of_volume;
  return std::ranges::all_of(zone_terms(volume), [&](const Terms& list) { return holds(AnyOf(list), node); });
}

constexpr const char* kRegionLabel = "topology.kubernetes.io/region";
constexpr const char* kOldRegionLabel = "failure-domain.beta.kubernetes.io/region";

TEST(NodeTerms, OfAVolumesZoneAllowNodesThatHaveNeitherZoneNorRegion) {
  const Labels zone_a{{kZoneLabel, "a"}};
  EXPECT_TRUE(is_in_zone(zone_a, {}) && is_in_zone(zone_a, zone_a));
  EXPECT_FALSE(is_in_zone(zone_a, {{kZoneLabel, "b"}}));
  EXPECT_FALSE(is_in_zone(zone_a, {{kRegionLabel, "r"}}) || is_in_zone(zone_a, {{kOldRegionLabel, "r"}}));
  const Labels both{{kRegionLabel, "r"}, {kZoneLabel, "a"}};
  EXPECT_TRUE(is_in_zone(both, both));
  EXPECT_FALSE(is_in_zone(both, zone_a) || is_in_zone(both, {{kRegionLabel, "r"}}));
}

TEST(NodeTerms, OfAVolumesOldRegionAreMetByTheNewOne) {
  const Labels old_region{{kOldRegionLabel, "r"}};
  EXPECT_TRUE(is_in_zone(old_region, old_region) && is_in_zone(old_region, {{kRegionLabel, "r"}}));
  EXPECT_FALSE(is_in_zone(old_region, {{kRegionLabel, "s"}}));
  EXPECT_FALSE(is_in_zone(old_region, {{kOldRegionLabel, "s"}, {kRegionLabel, "r"}})) << "its own one counts first";
  EXPECT_FALSE(is_in_zone({{kRegionLabel, "r"}}, old_region)) << "not the other way round";
}

TEST(NodeTerms, OfSeveralZonesAreCutAtTheDelimiterAndSpacesAroundThemAreNoPart) {
  const Labels three{{kZoneLabel, "x __ y__z \t"}};
  for (const char* zone : {"x", "y", "z"}) EXPECT_TRUE(is_in_zone(three, {{kZoneLabel, zone}})) << zone;
  EXPECT_FALSE(is_in_zone({{kZoneLabel, "x __ y"}}, {{kZoneLabel, "x "}}));
  EXPECT_TRUE(is_in_zone({{kZoneLabel, "x__ __y"}}, {{kZoneLabel, "other"}})) << "an empty part: it is ignored";
}

// ---- volumes of plugins that CSI drivers have taken over ------------------------------------------------------------

constexpr const char* kDriversZone = "topology.gke.io/zone";

/// A node with these labels, of which the driver says that it has taken the plugin over.
Labels migrated(Labels labels) {
  labels.push_back({"csinode migrated kubernetes.io/gce-pd", ""});
  return labels;
}

PersistentVolume gce_disk(Labels labels) {
  PersistentVolume v;
  v.plugin = MigratedPlugin::kGcePd;
  v.labels = std::move(labels);
  return v;
}

TEST(NodeTerms, OfAMigratedVolumeWithZoneLabelsAreItsDriversOnNodesThatSaySo) {
  const AnyOf terms = affinity_terms(gce_disk({{kZoneLabel, "a__b"}}));
  EXPECT_TRUE(holds(terms, {}) && holds(terms, {{kDriversZone, "c"}})) << "its affinity is all that counts there";
  for (const char* zone : {"a", "b"}) EXPECT_TRUE(holds(terms, migrated({{kDriversZone, zone}}))) << zone;
  EXPECT_FALSE(holds(terms, migrated({})) || holds(terms, migrated({{kDriversZone, "c"}})));
  EXPECT_EQ(affinity_terms(gce_disk({})), AnyOf()) << "it says nothing of zones";
}

TEST(NodeTerms, OfAMigratedVolumeWithOtherAffinityHaveTheZoneOfItsLabelBesides) {
  PersistentVolume v = gce_disk({{kZoneLabel, "a"}});
  v.has_affinity = true;
  v.affinity = {{.expressions = {in(kHost, {"h"})}, .fields = {}}, {.expressions = {in(kHost, {"i"})}, .fields = {}}};
  const AnyOf terms = affinity_terms(v);
  for (const char* host : {"h", "i"}) {
    EXPECT_TRUE(holds(terms, {{kHost, host}}));
    EXPECT_TRUE(holds(terms, migrated({{kHost, host}, {kDriversZone, "a"}})));
    EXPECT_FALSE(holds(terms, migrated({{kHost, host}})));
  }
  EXPECT_FALSE(holds(terms, migrated({{kDriversZone, "a"}})) || holds(terms, {}));
}

TEST(NodeTerms, OfAMigratedVolumeOfOldLabelsHaveTheDriversZoneAndTheNewRegion) {
  PersistentVolume v = gce_disk({});
  v.has_affinity = true;
  v.affinity = {
      {.expressions = {in("failure-domain.beta.kubernetes.io/zone", {"a"}), in(kOldRegionLabel, {"r"})}, .fields = {}}};
  const AnyOf terms = affinity_terms(v);
  EXPECT_TRUE(holds(terms, {{"failure-domain.beta.kubernetes.io/zone", "a"}, {kOldRegionLabel, "r"}}));
  EXPECT_TRUE(holds(terms, migrated({{kDriversZone, "a"}, {kRegionLabel, "r"}})));
  EXPECT_FALSE(holds(terms, migrated({{kDriversZone, "a"}, {kOldRegionLabel, "r"}})));
  EXPECT_FALSE(holds(terms, migrated({{kRegionLabel, "r"}})));
  const AnyOf by_label = affinity_terms(gce_disk({{"failure-domain.beta.kubernetes.io/zone", "a"}}));
  EXPECT_TRUE(holds(by_label, migrated({{kDriversZone, "a"}})));
  EXPECT_FALSE(holds(by_label, migrated({{kDriversZone, "b"}})));
}

class NodeTermsOfPods : public VolumeBench {
 protected:
  /// Volumes of which each is on one node, in words that cannot be made one.
  static std::vector<NodeTerm> unlike_terms(std::size_t count) {
    std::vector<NodeTerm> terms;
    for (std::size_t i = 0; i < count; ++i)
      terms.push_back({.expressions = {in("row", {name("r", i)}), in("slot", {name("s", i)})}, .fields = {}});
    return terms;
  }
  void see_node(std::size_t number) {
    const Labels labels{{kHost, PooledString(name("n", number))},
                        {"row", PooledString(name("r", number))},
                        {"slot", PooledString(name("s", number))}};
    see(node(name("n", number), 8, labels));
  }
  /// A claim that is bound to a volume with these terms, and a pod with it.
  void see_bound(const std::string& of, std::vector<NodeTerm> terms) {
    PersistentVolume v = volume("volume-" + of);
    v.has_affinity = true;
    v.affinity = std::move(terms);
    see(std::move(v));
    see(bound_claim(of, "volume-" + of));
    see(user("pod-" + of, {of}));
  }
};

TEST_F(NodeTermsOfPods, APodWithTooManyIsHeldByTheNameOfItsClaim) {
  see_node(7);
  see_bound("enough", unlike_terms(1024));
  see_bound("over", unlike_terms(1025));
  step();
  EXPECT_EQ(where("pod-enough"), "n7");
  EXPECT_EQ(where("pod-over"), "");
  EXPECT_EQ(record("pod-over").volume_problem.str(),
            "persistentvolumeclaim \"over\" is bound to persistentvolume \"volume-over\", with which the nodes for the "
            "pod's volumes are described by 1025 terms; Ashlar compares nodes with at most 1024 of one pod");
  see(user("both", {"enough", "over"}));
  step();
  EXPECT_NE(waits("both").find("persistentvolumeclaim \"over\""), std::string::npos) << waits("both");
  PersistentVolume fewer = at(volume("volume-over"), kHost, {"n7"});
  see(fewer);
  step();
  EXPECT_EQ(where("pod-over"), "n7") << "the volume says it in fewer words now";
  EXPECT_EQ(where("both"), "") << "1,024 terms and one more";
}

TEST_F(NodeTermsOfPods, ManyTermsThatDifferInOneLabelHoldNobody) {
  see_node(7);
  std::vector<NodeTerm> terms;
  for (std::size_t i = 0; i < 2000; ++i)
    terms.push_back({.expressions = {in(kHost, {name("n", i)}), {"row", SelectorOp::kExists, {}}}, .fields = {}});
  see_bound("data", std::move(terms));
  step();
  EXPECT_EQ(where("pod-data"), "n7");
}

TEST_F(NodeTermsOfPods, OfManyUnlikeVolumesForAnUnboundClaimNodesAreAskedOneByOne) {
  constexpr std::size_t kVolumes = 1100;
  is_answering = false;
  for (const std::size_t n : {3u, 1099u, 5000u}) see_node(n);
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  std::vector<NodeTerm> terms = unlike_terms(kVolumes);
  for (std::size_t i = 0; i < kVolumes; ++i) {
    PersistentVolume v = volume(name("v", i));
    v.has_affinity = true;
    v.affinity = {terms[i]};
    see(std::move(v));
  }
  for (const char* of : {"a", "b", "c"}) {
    see(claim(std::string("claim-") + of));
    see(user(of, {std::string("claim-") + of}, 8));
  }
  const auto& lists = record("a").volume_terms->lists;
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(lists[0].size(), 1u) << "the names of two nodes";
  step();
  std::vector<std::string> nodes{where("a"), where("b"), where("c")};
  std::ranges::sort(nodes);
  EXPECT_EQ(nodes, (std::vector<std::string>{"", "n1099", "n3"}));
}

}  // namespace
}  // namespace ashlar::kube
