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
