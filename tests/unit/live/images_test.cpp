// Images that nodes report, and pods that name them.
#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20, kGiB = std::int64_t{1} << 30;

class ImagesTest : public TrackerBench {
 protected:
  static Node node_with(const std::string& name, std::vector<NodeImage> images, std::int64_t gpus = 8) {
    Node n = node(name, gpus);
    n.images = std::move(images);
    return n;
  }
  static Pod running(Pod p, std::vector<PooledString> images) {
    PodRules rules;
    rules.images = std::move(images);
    return under(std::move(p), std::move(rules));
  }
  const Images::Row& row_of(const std::string& pod_name) {
    const ContainerImages& images = constraint_of(pod_name).images;
    static const Images::Row kNone;
    return images.on_nodes.empty() ? kNone : state.cluster().images().row(images.on_nodes.front());
  }
  const Constraint& constraint_of(const std::string& pod_name) {
    return tracker.translator().constraint_of(record(pod_name).constraint);
  }
  const NodeImages& images() { return tracker.translator().images(); }
  /// The pod of that name is gone; false: none waits.
  bool end_waiting(std::map<std::string, Pod>& waiting, const std::string& name) {
    const auto it = waiting.find(name);
    if (it == waiting.end()) return false;
    gone(it->second);
    waiting.erase(it);
    return true;
  }
};

TEST_F(ImagesTest, APodGoesWhereItsImagesAre) {
  for (const char* name : {"a", "b", "c"}) see(node_with(name, {}));
  see(node_with("b", {{"app:1", kGiB}, {"app@sha256:7", kGiB}}));
  see(running(pod("p", 1), {"app:1"}));
  see(running(pod("q", 1), {"other:1"}));
  step();
  EXPECT_EQ(where("p"), "b");
  see(node_with("c", {{"big:1", 2 * kGiB}}));
  see(running(pod("r", 1), {"app:1", "big:1"}));
  see(running(pod("s", 1), {"app@sha256:7"}));
  step();
  EXPECT_EQ(where("r"), "c") << "the larger one";
  EXPECT_EQ(where("s"), "b") << "by its other name";
}

TEST_F(ImagesTest, APodWhoseImagesAreNowhereIsLikeOneWithout) {
  see(node_with("a", {{"app:1", kGiB}}, 0));
  see(pod("plain", 1));
  see(running(pod("p", 1), {"other:1"}));
  see(running(pod("q", 1), {"app:1", "app:1", "other:1", ""}));
  step();
  EXPECT_EQ(record("p").constraint, record("plain").constraint);
  EXPECT_EQ(constraint_of("p").images, ContainerImages());
  EXPECT_EQ(constraint_of("q").images.on_nodes.size(), 2u);
  EXPECT_EQ(constraint_of("q").images.count, 4u);
}

TEST_F(ImagesTest, PodsOfDifferentImagesThatGiveNoNodeAPointAreAlike) {
  std::vector<NodeImage> small;
  for (int i = 0; i < 100; ++i) small.push_back({"small:" + std::to_string(i), 32 * kMiB});
  small.push_back({"large:1", 33 * kMiB});
  see(node_with("a", small, 0));
  see(node_with("b", small, 0));
  see(pod("plain", 1));
  for (int i = 0; i < 100; ++i)
    see(running(pod("p" + std::to_string(i), 1), {"small:" + std::to_string(i), "nowhere:1"}));
  step();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(record("p" + std::to_string(i)).constraint, record("plain").constraint) << i;
  EXPECT_EQ(images().known_to_engine(), 0u);
  see(running(pod("of-large", 1), {"large:1"}));
  see(running(pod("of-two", 1), {"small:1", "small:2"}));
  step();
  EXPECT_EQ(constraint_of("of-large").images.on_nodes.size(), 1u);
  EXPECT_EQ(constraint_of("of-two").images.on_nodes.size(), 2u) << "together they are enough";
}

TEST_F(ImagesTest, AnImageThatBeginsToMatterIsTold) {
  for (int n = 0; n < 8; ++n) see(node_with("n" + std::to_string(n), {}, 0));
  see(node_with("n0", {{"grows:1", 20 * kMiB}, {"spreads:1", 100 * kMiB}, {"stays:1", 100 * kMiB}}, 0));
  for (const char* name : {"grows", "spreads", "stays"}) see(running(pod(name, 1), {std::string(name) + ":1"}));
  step();
  const auto is_told = [&](const char* name) { return !constraint_of(name).images.on_nodes.empty(); };
  EXPECT_FALSE(is_told("grows") || is_told("spreads") || is_told("stays"));
  see(node_with("n0", {{"grows:1", kGiB}, {"spreads:1", 100 * kMiB}, {"stays:1", 100 * kMiB}}, 0));
  step();
  EXPECT_TRUE(is_told("grows")) << "the node has a larger one";
  const std::uint64_t renewed = tracker.constraints_renewed();
  for (int n = 1; n < 5; ++n) see(node_with("n" + std::to_string(n), {{"spreads:1", 100 * kMiB}}, 0));
  step();
  EXPECT_TRUE(is_told("spreads")) << "more nodes have it";
  EXPECT_EQ(row_of("spreads").nodes.size(), 5u);
  EXPECT_EQ(tracker.constraints_renewed(), renewed + 1) << "no other pod is looked at";
  EXPECT_FALSE(is_told("stays"));
  for (int n = 3; n < 8; ++n) gone(node("n" + std::to_string(n), 0));
  step();
  EXPECT_TRUE(is_told("stays")) << "there are fewer nodes";
}

TEST_F(ImagesTest, ANodeThatComesAndGoesMakesNoPodsKindAnew) {
  for (int n = 0; n < 4; ++n) see(node_with("n" + std::to_string(n), {{"app:1", 30 * kMiB}}, 0));
  for (int n = 0; n < 2; ++n) see(node_with("n" + std::to_string(n), {{"rare:1", 90 * kMiB}}, 0));
  see(running(pod("p", 1), {"app:1"}));
  see(running(pod("q", 1), {"rare:1"}));
  gone(node("n3", 0));
  step();
  const std::uint64_t renewed = tracker.constraints_renewed();
  const std::size_t kinds = tracker.translator().constraint_count(), known = images().known_to_engine();
  for (int turn = 0; turn < 20; ++turn) {
    see(node_with("n3", {{"app:1", 30 * kMiB}}, 0));
    step();
    see(running(pod("like-q-" + std::to_string(turn), 1), {"rare:1"}));
    gone(node("n3", 0));
    step();
  }
  EXPECT_EQ(tracker.constraints_renewed(), renewed);
  EXPECT_EQ(tracker.translator().constraint_count(), kinds);
  EXPECT_EQ(images().known_to_engine(), known);
}

TEST_F(ImagesTest, AnImageThatFewerNodesHaveIsToldUntilAThirdOfItsWorthIsLeft) {
  const auto with_it = [&](const std::string& name) { see(node_with(name, {{"app:1", 40 * kMiB}}, 0)); };
  const auto is_told = [&](const std::string& name, const char* beside) {
    see(running(pod(name, 1), {"app:1", beside}));
    step();
    return !constraint_of(name).images.on_nodes.empty();
  };
  for (int n = 0; n < 6; ++n) see(node_with("n" + std::to_string(n), {}, 0));
  for (const char* name : {"n0", "n1", "n2"}) with_it(name);
  EXPECT_FALSE(is_told("three", "none:1")) << "of four, which six nodes are taken as: 30 MiB, taken as 32";
  with_it("n3");
  EXPECT_TRUE(is_told("four", "none:2")) << "40 MiB, taken as 64";
  see(node_with("n3", {}, 0));
  EXPECT_TRUE(is_told("three-again", "none:3")) << "64 still";
  see(node_with("n2", {}, 0));
  EXPECT_FALSE(is_told("two", "none:4")) << "20 MiB, less than a third of 64";
}

TEST_F(ImagesTest, FourNodesAreTakenAsTwo) {
  for (int n = 0; n < 4; ++n) see(node_with("n" + std::to_string(n), {}, 0));
  for (const char* name : {"n0", "n1"}) see(node_with(name, {{"app:1", 40 * kMiB}}, 0));
  see(running(pod("p", 1), {"app:1"}));
  step();
  EXPECT_EQ(constraint_of("p").images.on_nodes.size(), 1u) << "half of 40 MiB would be too little";
}

TEST_F(ImagesTest, TheOrderInWhichAPodNamesThemMakesNoDifference) {
  see(node_with("a", {{"app:1", kGiB}, {"base:1", kGiB}}, 0));
  see(running(pod("p", 1), {"app:1", "base:1"}));
  see(running(pod("q", 1), {"base:1", "app:1"}));
  step();
  EXPECT_EQ(constraint_of("p").images.on_nodes.size(), 2u);
  EXPECT_EQ(record("p").constraint, record("q").constraint);
}

TEST_F(ImagesTest, AnImageThatNoNodeHasAnyMoreIsForgottenWithTheLastPodThatNamesIt) {
  see(node_with("a", {{"app:1", kGiB}}, 0));
  const Pod p = running(pod("p", 1), {"app:1"});
  see(p);
  step();
  see(node_with("a", {}, 0));
  step();
  EXPECT_EQ(images().size(), 1u);
  gone(p);
  step();
  step();
  EXPECT_EQ(images().size() + images().known_to_engine(), 0u);
}

TEST_F(ImagesTest, AnImageThatComesWhileAPodWaitsCounts) {
  see(node_with("a", {}, 0));
  see(running(pod("p", 1), {"app:1"}));
  see(running(pod("q", 1), {"other:1"}));
  step();
  const std::uint64_t renewed = tracker.constraints_renewed();
  see(node_with("a", {{"nobody:1", kGiB}}, 0));
  step();
  EXPECT_EQ(tracker.constraints_renewed(), renewed) << "nobody names it";
  see(node_with("a", {{"app:1", kGiB}}, 0));
  step();
  EXPECT_EQ(tracker.constraints_renewed(), renewed + 1) << "the one that names it";
  EXPECT_EQ(row_of("p").nodes.size(), 1u);
  see(running(pod("r", 1), {"app:1"}));
  see(node_with("b", {}, 1));
  see(node_with("c", {{"app:1", kGiB}}, 1));
  step();
  EXPECT_EQ(record("r").constraint, record("p").constraint);
  EXPECT_EQ(where("p"), "c");
}

TEST_F(ImagesTest, WhatNobodyNamesIsNoEventAndWhatNobodyUsesIsGivenBack) {
  see(node_with("a", {{"app:1", kGiB}, {"base:1", kGiB}}, 0));
  step();
  see(node_with("a", {{"app:1", kGiB}}, 0));
  EXPECT_EQ(source.size(), 0u);
  EXPECT_EQ(images().size(), 1u);
  const Pod p = running(pod("p", 1), {"app:1"});
  see(p);
  step();
  EXPECT_EQ(images().known_to_engine(), 1u);
  gone(p);
  step();
  step();
  EXPECT_EQ(images().known_to_engine(), 0u);
  see(node_with("a", {}, 0));
  step();
  EXPECT_EQ(images().size(), 0u);
  EXPECT_EQ(state.cluster().images().row(ImageId(0u)).bytes, 0);
}

TEST_F(ImagesTest, AnotherImageIsNoReasonToDecideAgain) {
  see(node_with("a", {{"app:1", kGiB}}, 0));
  see(node_with("b", {}, 0));
  see(running(pod("p", 1), {"app:1"}));
  step();
  see(node_with("b", {{"app:1", kGiB}}, 0));
  EXPECT_GT(source.size(), 0u);
  EXPECT_FALSE(source.has_news());
  EXPECT_FALSE(tracker.has_unsettled());
}

TEST_F(ImagesTest, TooManyNamesThatAreNowhereAreForgottenOnceTheyAreNamedAnew) {
  see(node_with("a", {}, 0));
  std::vector<Pod> pods;
  for (int p = 0; p < 66; ++p) {
    std::vector<PooledString> names;
    for (int i = 0; i < 1024; ++i) names.emplace_back("none:" + std::to_string(p * 1024 + i));
    pods.push_back(running(pod("p" + std::to_string(p), 1), names));
    see(pods.back());
  }
  see(running(pod("q", 1), {"app:1"}));
  step();
  for (const Pod& one : pods) gone(one);
  step();
  see(node_with("a", {{"nobody:1", kGiB}}, 0));
  EXPECT_TRUE(images().has_news()) << "it may have been one of them";
  step();
  see(node_with("a", {{"nobody:2", kGiB}}, 0));
  EXPECT_FALSE(images().has_news());
  see(node_with("a", {{"app:1", kGiB}}, 0));
  EXPECT_TRUE(images().has_news()) << "a pod that waits names it";
  step();
  EXPECT_EQ(row_of("q").nodes.size(), 1u);
}

/// kube-scheduler's cache of images, as it is written there.
struct UpstreamCache {
  struct State {
    std::int64_t size = 0;
    std::set<std::string> nodes;
  };
  void remove(const std::string& node) {
    for (const NodeImage& image : of_node[node]) {
      const auto found = states.find(image.name.str());
      if (found == states.end()) continue;
      found->second.nodes.erase(node);
      if (found->second.nodes.empty()) states.erase(found);
    }
    of_node.erase(node);
  }
  void update(const std::string& node, const std::vector<NodeImage>& images) {
    remove(node);
    of_node[node] = images;
    for (const NodeImage& image : images) {
      const auto [found, is_new] = states.try_emplace(image.name.str(), State{image.bytes, {}});
      found->second.nodes.insert(node);
    }
  }
  std::map<std::string, State> states;
  std::map<std::string, std::vector<NodeImage>> of_node;
};

/// kube-scheduler's ImageLocality, as it is written there.
std::int64_t points_upstream(const UpstreamCache& cache, const std::vector<PooledString>& images,
                             const std::string& node) {
  std::int64_t sum = 0;
  for (const PooledString& name : images) {
    const auto found = cache.states.find(name.str());
    if (found == cache.states.end() || !found->second.nodes.contains(node)) continue;
    const double spread = static_cast<double>(found->second.nodes.size()) / static_cast<double>(cache.of_node.size());
    sum += static_cast<std::int64_t>(static_cast<double>(found->second.size) * spread);
  }
  const std::int64_t least = 23 * kMiB, most = 1000 * kMiB * static_cast<std::int64_t>(images.size());
  return 100 * (std::clamp(sum, least, most) - least) / (most - least);
}

TEST_F(ImagesTest, AWaitingPodHasKubeSchedulersPointsWhateverIsToldOfItsImages) {
  Rng draws(11);
  UpstreamCache upstream;
  const auto image = [&] { return "app:" + std::to_string(draws.below(12)); };
  std::map<std::string, Pod> waiting;
  std::size_t with_points = 0, not_told = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const std::string name = "n" + std::to_string(draws.below(12));
    if (draws.below(turn / 300 % 2 == 0 ? 8 : 2) == 0) {
      gone(node(name, 0));
      upstream.remove(name);
    } else {
      std::vector<NodeImage> reported;
      for (std::uint64_t left = draws.below(6); left > 0; --left)
        reported.push_back({image(), static_cast<std::int64_t>(draws.below(20) * draws.below(20)) * kMiB});
      see(node_with(name, reported, 0));
      upstream.update(name, reported);
    }
    const std::string of_pod = "p" + std::to_string(draws.below(6));
    if (!end_waiting(waiting, of_pod)) {
      std::vector<PooledString> names;
      for (std::uint64_t left = 1 + draws.below(4); left > 0; --left) names.emplace_back(image());
      waiting[of_pod] = running(pod(of_pod, 1), names);
      see(waiting.at(of_pod));
    }
    if (draws.below(3) != 0) continue;
    step();
    for (const auto& [pod_name, one] : waiting) {
      const ContainerImages& told = constraint_of(pod_name).images;
      std::vector<std::uint8_t> points(tracker.names().nodes.rows());
      state.cluster().images().score(told, upstream.of_node.size(), points);
      not_told += told.on_nodes.empty() ? 1 : 0;
      for (const auto& [of_node, images] : upstream.of_node) {
        const NodeId id = tracker.names().nodes.find(PooledString(of_node));
        ASSERT_EQ(points[id.row()], points_upstream(upstream, one.rules->images, of_node)) << turn << " " << pod_name;
        with_points += points[id.row()] > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(with_points, 1000u);
  EXPECT_GT(not_told, 100u);
}

TEST_F(ImagesTest, TheEngineKnowsOfThoseThatWaitingPodsNameWhatKubeSchedulersCacheDoes) {
  Rng draws(7);
  UpstreamCache upstream;
  const auto image = [&] { return "app:" + std::to_string(draws.below(5)); };
  std::map<std::string, Pod> waiting;
  std::size_t compared = 0;
  for (int turn = 0; turn < 400; ++turn) {
    const std::string name = "n" + std::to_string(draws.below(4));
    if (draws.below(6) == 0) {
      gone(node(name, 0));
      upstream.remove(name);
    } else {
      std::vector<NodeImage> reported;
      for (std::uint64_t left = draws.below(4); left > 0; --left)
        reported.push_back({image(), static_cast<std::int64_t>(1 + draws.below(9)) * kGiB});
      see(node_with(name, reported, 0));
      upstream.update(name, reported);
    }
    const std::string of_pod = "p" + std::to_string(draws.below(6));
    if (!end_waiting(waiting, of_pod)) {
      waiting[of_pod] = running(pod(of_pod, 1), {image()});
      see(waiting.at(of_pod));
    }
    if (draws.below(3) != 0) continue;
    step();
    for (const auto& [pod_name, one] : waiting) {
      const auto state_of_image = upstream.states.find(one.rules->images.front().str());
      const bool is_anywhere = state_of_image != upstream.states.end();
      const Images::Row& row = row_of(pod_name);
      EXPECT_EQ(!row.nodes.empty(), is_anywhere) << turn;
      if (!is_anywhere) continue;
      std::set<std::string> nodes;
      for (const NodeId n : row.nodes) nodes.insert(tracker.names().nodes.name(n).str());
      EXPECT_EQ(nodes, state_of_image->second.nodes) << turn;
      EXPECT_EQ(row.bytes, state_of_image->second.size) << turn;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100u);
}

}  // namespace
}  // namespace ashlar::kube
