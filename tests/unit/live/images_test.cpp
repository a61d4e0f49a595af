// Images that nodes report, and pods that name them.
#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

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
        reported.push_back({image(), static_cast<std::int64_t>(1 + draws.below(9))});
      see(node_with(name, reported, 0));
      upstream.update(name, reported);
    }
    const std::string of_pod = "p" + std::to_string(draws.below(6));
    if (waiting.contains(of_pod)) {
      gone(waiting.at(of_pod));
      waiting.erase(of_pod);
    } else {
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
