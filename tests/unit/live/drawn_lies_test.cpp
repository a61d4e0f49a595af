// Nodes and bound pods that say anything of GPUs: kinds, memory, health, grants and labels drawn at random, many of them
// impossible, while honest pods come and go. Nothing breaks, and what is counted is what is there.
#include <random>

#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class DrawnLies : public TrackerBench, public ::testing::WithParamInterface<unsigned> {
 protected:
  DrawnLies()
      : TrackerBench({.levels = {{PooledString("block"), PooledString("l/block")},
                                 {PooledString("rack"), PooledString("l/rack")}},
                      .queues = {{.name = "small", .limits = {{"nvidia.com/gpu", "H100", 3'000}}}},
                      .device_classes = {{.name = "big", .models = {"H100", "B200"}, .capabilities = {"fp8"}}}}) {}

  std::mt19937 random;
  std::size_t draw(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }
  std::string any_of(std::initializer_list<const char*> texts) { return texts.begin()[draw(texts.size())]; }
  std::string number() { return any_of({"0", "1", "2", "3", "7", "8", "15", "127", "128", "-1", "x", "99999999999"}); }
  std::string devices() {
    std::string text = number();
    if (draw(3) == 0) text += "-" + number();
    if (draw(3) == 0) text += "," + number();
    return text;
  }
  std::string grants() {
    std::string text;
    for (std::size_t i = draw(3); i < 3; ++i)
      text += (text.empty() ? "" : ",") + devices() + ":" + any_of({"0", "1", "300", "500", "1000", "1001", "-5"}) +
              any_of({"", "", ":0", ":4096", ":999999999999", ":1:1"});
    return text;
  }
  std::string stated() {
    std::string text;
    for (std::size_t i = draw(4); i < 4; ++i)
      text += devices() + any_of({"", " model=H100", " model=A100", " model=big", " model=odd"}) +
              any_of({"", " memory=40Gi", " memory=80Gi", " memory=1"}) + any_of({"", " island=1", " sliced"}) + ";";
    return text;
  }
  Node any_node() {
    Node n = node("n" + std::to_string(draw(4)), static_cast<std::int64_t>(draw(3) == 0 ? draw(130) : 8));
    const auto maybe = [&](Labels& labels, const char* key, const std::string& value) {
      if (draw(2) == 0) labels.push_back({PooledString(key), PooledString(value)});
    };
    maybe(n.annotations, "ashlar.dev/gpus", stated());
    maybe(n.annotations, "ashlar.dev/unhealthy-gpus", devices());
    maybe(n.labels, "l/rack", any_of({"r0", "r1"}));
    maybe(n.labels, "metadata.name", "n0");
    maybe(n.labels, "nvidia.com/gpu.memory", any_of({"81920", "40960", "x"}));
    maybe(n.labels, "nvidia.com/gpu.product", any_of({"H100", "A100", "B200"}));
    maybe(n.labels, "power", std::to_string(draw(100)));
    if (draw(10) == 0) n.problem = PooledString("cannot be read");
    if (draw(6) == 0) n.allocatable.cpu = MilliCores(static_cast<std::int64_t>(draw(3)) * 1000);
    return n;
  }
  Pod any_pod() {
    const std::string name = "p" + std::to_string(draw(12));
    Pod p = draw(3) == 0 ? share(name, static_cast<std::int64_t>(1 + draw(1000)))
                         : pod(name, static_cast<std::int64_t>(draw(5)));
    Labels annotations;
    const auto maybe = [&](const char* key, const std::string& value) {
      if (draw(3) == 0) annotations.push_back({PooledString(key), PooledString(value)});
    };
    maybe("ashlar.dev/cards", devices());
    maybe("ashlar.dev/charged-queue", any_of({"small", "default", "nobody's"}));
    maybe("ashlar.dev/gpu-grants", grants());
    maybe("ashlar.dev/gpu-memory", any_of({"10Gi", "60Gi", "0", "x"}));
    if (draw(3) == 0) annotations.push_back({PooledString("ashlar.dev/queue"), PooledString("small")});
    p.annotations = std::make_shared<const Labels>(std::move(annotations));
    PodRules rules;
    if (draw(4) == 0) rules.gpu_classes = PooledString(any_of({"H100", "big", "A100,B200", "nobody's"}));
    if (draw(6) == 0) rules.gpu_capabilities = PooledString("fp8");
    if (draw(6) == 0) rules.node_selector = {{PooledString("power"), PooledString(std::to_string(draw(100)))}};
    const PodRecord& r = record(name);
    if (r.phase == PodRecord::Phase::kBound || r.phase == PodRecord::Phase::kOnUnknownNode)
      p.node_name = r.node_name;
    else if (draw(4) == 0)
      p.node_name = PooledString("n" + std::to_string(draw(5)));
    if (draw(8) == 0) p.scheduler_name = PooledString("another");
    return under(p, rules);
  }
  Pod any_gang_pod() {
    Pod p = gang_pod("g", static_cast<int>(draw(4)), 3, static_cast<std::int64_t>(draw(6)));
    const PodRecord& r = record(p.name.str());
    if (!r.node_name.empty()) p.node_name = r.node_name;
    return p;
  }
  void act() {
    switch (draw(8)) {
      case 0:
      case 1:
        return see(any_node());
      case 2:
        return draw(4) == 0 ? gone(node("n" + std::to_string(draw(4)), 8)) : see(any_node());
      case 3: {
        Pod p = pod((draw(2) == 0 ? "p" : "g-") + std::to_string(draw(12)), 1);
        p.uid = PooledString();
        return gone(p);
      }
      case 4:
        return see(any_gang_pod());
      default:
        return see(any_pod());
    }
  }
};

TEST_P(DrawnLies, LeaveWhatIsCountedRight) {
  random.seed(GetParam());
  int bound_most = 0;
  for (int turn = 0; turn < 300; ++turn) {
    for (std::size_t k = draw(5); k-- > 0;) act();
    is_answering = draw(4) != 0;
    step();
    if (!is_answering)
      for (PodSlot s = 0; s < tracker.pods().slots(); ++s)
        if (const PodRecord& r = tracker.pods()[s]; r.phase == PodRecord::Phase::kAssumed)
          tracker.note_bound(s, tracker.names().nodes.name(r.node), PodDevices(r.devices, r.grants));
    bound_most = std::max(bound_most, bound());
    if (HasFailure()) return;
  }
  EXPECT_GT(bound_most, 4);
}

INSTANTIATE_TEST_SUITE_P(Drawn, DrawnLies, ::testing::Range(0u, 40u));

}  // namespace
}  // namespace ashlar::kube
