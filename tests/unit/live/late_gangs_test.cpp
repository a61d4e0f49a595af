// Gangs whose PodGroups, pods, nodes and labels come and go in any order.
#include <algorithm>
#include <functional>
#include <random>

#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class AnyOrder : public TrackerBench {
 protected:
  std::mt19937 random;
  std::size_t draw(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }
  Node drawn_node(int n) {
    Labels labels;
    if (draw(4) != 0) labels.push_back({PooledString("l/rack"), PooledString("r" + std::to_string(draw(3)))});
    if (draw(3) == 0) labels.push_back({PooledString("l/switch"), PooledString("s" + std::to_string(draw(2)))});
    return node("n" + std::to_string(n), 4, std::move(labels));
  }
  PodGroup drawn_group(const std::string& name) {
    const char* keys[] = {"", "l/rack", "l/switch", "l/none", "l/block"};
    PodGroup g;
    g.ns = PooledString("ns");
    g.name = PooledString(name);
    g.uid = PooledString("uid-" + name + std::to_string(draw(3)));
    g.min_count = static_cast<int>(1 + draw(3));
    g.topology_key = PooledString(keys[draw(5)]);
    if (draw(3) == 0)
      g.annotations = {{PooledString("ashlar.dev/gang"), PooledString("x")},
                       {PooledString("ashlar.dev/gang-size"), PooledString(std::to_string(1 + draw(2)))}};
    if (draw(12) == 0) g.problem = PooledString("cannot be read");
    return g;
  }
  Pod drawn_pod(const std::string& group, int i) {
    Pod p = pod(group + "-" + std::to_string(i), static_cast<std::int64_t>(1 + draw(2)));
    if (group != "l")
      p.group_name = PooledString(group);
    else
      p = annotated(p, "ashlar.dev/gang", "l");
    p.uid = PooledString("uid-" + std::to_string(i) + group + std::to_string(draw(8) == 0));
    const PodRecord& r = record(p.name.str());
    if (r.phase == PodRecord::Phase::kBound || r.phase == PodRecord::Phase::kOnUnknownNode) {
      p.uid = r.uid;
      p.node_name = r.node_name;
    } else if (draw(4) == 0)
      p.node_name = PooledString("n" + std::to_string(draw(5)));
    PodRules rules;
    if (draw(2) == 0) {
      PodAffinityTerm term;
      term.topology_key = PooledString(draw(2) == 0 ? "l/rack" : "l/switch");
      rules.required_anti_affinity.push_back(term);
    }
    if (draw(5) == 0) rules.gpu_classes = PooledString("c" + std::to_string(draw(3)));
    return under(p, rules);
  }
  /// Pods looked at when the node is in other domains are those bound there that have terms.
  void expect_owners() {
    for (int n = 0; n < 5; ++n) {
      const NodeId id = tracker.names().nodes.find(PooledString("n" + std::to_string(n)));
      if (id.is_none()) continue;
      std::uint64_t owners = 0;
      for (PodSlot s = 0; s < tracker.pods().slots(); ++s) {
        const PodRecord& r = tracker.pods()[s];
        owners +=
            r.phase == PodRecord::Phase::kBound && r.node == id && r.rules && !r.rules->required_anti_affinity.empty();
      }
      const std::uint64_t before = tracker.owners_moved();
      see(drawn_node(n));
      const std::uint64_t moved = tracker.owners_moved() - before;
      EXPECT_TRUE(moved == 0 || moved == owners) << moved << " of " << owners;
      looked += moved > 0;
    }
  }
  int looked = 0;
  void act() {
    const char* groups[] = {"a", "b", "l"};
    const std::string group = groups[draw(3)];
    const int i = static_cast<int>(draw(4));
    switch (draw(9)) {
      case 0:
        return see(drawn_node(static_cast<int>(draw(5))));
      case 1:
        return draw(3) == 0 ? gone(node("n" + std::to_string(draw(5)), 4)) : see(drawn_node(static_cast<int>(draw(5))));
      case 2:
      case 3:
        return group == "l" ? void() : see(drawn_group(group));
      case 4:
        return group == "l" ? void() : draw(2) == 0 ? gone(drawn_group(group)) : void();
      case 5:
      case 6:
      case 7:
        return see(drawn_pod(group, i));
      default: {
        Pod p = pod(group + "-" + std::to_string(i), 1);
        p.uid = PooledString();
        return gone(p);
      }
    }
  }
};

class AnyOrderDrawn : public AnyOrder, public ::testing::WithParamInterface<unsigned> {};

TEST_P(AnyOrderDrawn, NothingBreaks) {
  random.seed(GetParam());
  for (int n = 0; n < 4; ++n) see(drawn_node(n));
  for (int turn = 0; turn < 500; ++turn) {
    for (std::size_t k = draw(4); k-- > 0;) act();
    is_answering = draw(4) != 0;
    step();
    if (!is_answering && draw(2) == 0)
      for (PodSlot s = 0; s < tracker.pods().slots(); ++s)
        if (tracker.pods()[s].phase == PodRecord::Phase::kAssumed) {
          const PodRecord& r = tracker.pods()[s];
          if (draw(3) == 0)
            tracker.note_rejected(s);
          else
            tracker.note_bound(s, tracker.names().nodes.name(r.node), PodDevices(r.devices, r.grants));
        }
    if (turn % 10 == 0) expect_owners();
    if (HasFailure()) return;
  }
  EXPECT_GT(looked, 10);
}

INSTANTIATE_TEST_SUITE_P(Drawn, AnyOrderDrawn, ::testing::Range(0u, 30u));

// What exists in the end is always the same; only the order differs.
class AnyOrderOfOne : public TrackerBench {
 protected:
  std::mt19937 random;
  std::size_t draw(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }
  static std::string key_of(const std::string& group) { return group == "a" || group == "c" ? "l/switch" : "l/rack"; }
  static PodGroup group(const std::string& name) {
    PodGroup g = ClusterObjects::group(name, 2, key_of(name));
    if (name == "c" || name == "d")
      g.annotations = {{PooledString("ashlar.dev/gang"), PooledString("x")},
                       {PooledString("ashlar.dev/gang-size"), PooledString("2")},
                       {PooledString("ashlar.dev/gang-within"), PooledString("l/zone")}};
    return g;
  }
  static Node node_with(int n, bool has_labels) {
    Labels labels;
    if (has_labels)
      labels = {{PooledString("l/rack"), PooledString("r" + std::to_string(n / 4))},
                {PooledString("l/switch"), PooledString("s" + std::to_string(n / 2))},
                {PooledString("l/zone"), PooledString("z" + std::to_string(n / 8))}};
    return node("n" + std::to_string(n), 4, std::move(labels));
  }
  void play() {
    std::vector<std::function<void()>> acts;
    for (int n = 0; n < 16; ++n) see(node_with(n, false));
    for (const char* name : {"a", "b", "c", "d"}) {
      acts.push_back([this, name] { see(group(name)); });
      if (draw(3) == 0) acts.push_back([this, name] { gone(group(name)); });
      for (int i = 0; i < 3; ++i) {
        Pod p = pod(std::string(name) + "-" + std::to_string(i), 1 + static_cast<std::int64_t>(draw(2)));
        p.group_name = PooledString(name);
        if (draw(3) == 0) p.node_name = PooledString("n" + std::to_string(name[0] - 'a' + 4));
        acts.push_back([this, p] { see(p); });
        if (draw(4) == 0) acts.push_back([this, p] { gone(p); });
      }
    }
    acts.push_back([this] {
      for (int n = 0; n < 16; ++n) see(node_with(n, true));
    });
    std::shuffle(acts.begin(), acts.end(), random);
    for (const auto& act : acts) {
      act();
      is_answering = draw(3) != 0;
      if (draw(2) == 0) step();
    }
    is_answering = true;
    for (const char* name : {"a", "b", "c", "d"}) see(group(name));
    for (PodSlot s = 0; s < tracker.pods().slots(); ++s)
      if (tracker.pods()[s].phase == PodRecord::Phase::kAssumed) {
        const PodRecord& r = tracker.pods()[s];
        tracker.note_bound(s, tracker.names().nodes.name(r.node), PodDevices(r.devices, r.grants));
      }
    for (int i = 0; i < 3; ++i) step();
  }
  std::string label_of(LevelId level) {
    return level.is_none() ? "none" : tracker.names().levels()[level.row()].label.str();
  }
};

class AnyOrderSeeds : public AnyOrderOfOne, public ::testing::WithParamInterface<int> {};

TEST_P(AnyOrderSeeds, ThePodGroupsDomainIsThatOfItsGang) {
  random.seed(static_cast<unsigned>(GetParam()));
  play();
  for (PodSlot s = 0; s < tracker.pods().slots(); ++s) {
    const PodRecord& r = tracker.pods()[s];
    if (r.phase == PodRecord::Phase::kFree || !r.is_in_engine()) continue;
    const std::string name = r.name.str().substr(0, 1);
    const Job& job = state.job(r.job);
    if (name == "a" || name == "b") {
      EXPECT_EQ(label_of(job.within), key_of(name)) << r.name.view();
    }
    if (name != "c" && name != "d") continue;
    if (tracker.gangs()[r.gang].kind != GangKind::kGroups) continue;
    EXPECT_EQ(label_of(job.within), "l/zone") << r.name.view();
    const auto& g = tracker.gangs()[r.gang];
    for (std::size_t i = 0; i < g.told_groups.size(); ++i) {
      const auto& its = tracker.gangs()[g.told_groups[i]];
      if (its.pods.empty()) continue;
      EXPECT_EQ(label_of(tracker.translator().spec_of(tracker.tables().owner(r.job).spec).groups[i].within),
                key_of(its.name.str()))
          << its.name.view();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Drawn, AnyOrderSeeds, ::testing::Range(0, 300));

}  // namespace
}  // namespace ashlar::kube
