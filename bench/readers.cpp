// bench_readers: what readers cost the thread that decides, and how long they wait: a cluster of 5,000 nodes x 8
// devices with 40,000 pods bound, and cycles that bind 64 more. The hand-over of a cycle is measured on the deciding
// side; answers are measured on the readers' side.
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "bench_report.h"
#include "live/lead/leader_term.h"
#include "live/read/read_api.h"
#include "live/read/read_replica.h"

namespace ashlar::kube {
namespace {

constexpr int kNodes = 5'000, kPodsPerNode = 8, kBoundPerCycle = 64;

double seconds(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Node node(int number) {
  Node n;
  n.name = PooledString("node-" + std::to_string(number));
  n.ready = ConditionStatus::kTrue;
  n.allocatable.cpu = MilliCores(128'000);
  n.allocatable.memory = Bytes(std::int64_t{1} << 40);
  n.pods_max = 250;
  n.allocatable.extended = {{PooledString("nvidia.com/gpu"), 8}};
  n.labels = {{PooledString("kubernetes.io/hostname"), n.name},
              {PooledString("l/rack"), PooledString("r" + std::to_string(number / 16))}};
  return n;
}

Pod pod(int number, std::int64_t gpus) {
  Pod p;
  p.ns = PooledString("ns-" + std::to_string(number % 50));
  p.name = PooledString("pod-" + std::to_string(number));
  p.uid = PooledString("uid-" + std::to_string(number));
  p.scheduler_name = PooledString("ashlar");
  p.requests.cpu = MilliCores(4000);
  if (gpus > 0) p.requests.extended = {{PooledString("nvidia.com/gpu"), gpus}};
  return p;
}

/// A tracker with an engine behind it and a replica beside it; bindings are confirmed at once.
struct Bench : Actuator {
  Bench()
      : clock([this] { return now; }),
        source(clock),
        tracker({.levels = {{PooledString("rack"), PooledString("l/rack")}}, .has_readers = true}, source, {}),
        profile(live_profile(builtin_profile("ashlar").value()).value()),
        engine(profile),
        driver(state, engine, {clock, source, *this}),
        replica(profile, {}, [this] { return now; }) {
    tracker.open();
  }
  template <class T>
  void see(T object) {
    tracker.take(Change<T>{Change<T>::Kind::kAdded, std::move(object)});
  }
  void submit(const Plan& plan) override {
    for (const Action& action : plan.actions) {
      const Bind& bind = std::get<Bind>(action);
      const PodSlot slot = tracker.pods().of_member(bind.member);
      tracker.note_assumed(slot, bind.node, bind.devices);
      tracker.note_bound(slot, tracker.names().nodes.name(bind.node), bind.devices);
    }
  }
  /// One cycle; the time of its hand-over.
  double cycle() {
    tracker.settle();
    const Plan& plan = driver.step();
    tracker.note_taken();
    HandOver news;
    const double took = seconds([&] {
      news.events = driver.take_batch();
      news.decided_at = plan.at;
      news.digest = state.digest();
      news.tables = tracker.take_table_changes();
    });
    followed = seconds([&] { replica.take(std::move(news)); });
    return took;
  }
  double answer(http::ServerResponse (*question)(ReadReplica&, const http::ServerRequest&), const std::string& query) {
    http::ServerRequest request;
    request.query = query;
    return seconds([&] { question(replica, request); });
  }

  Millis now{1'000'000};
  WallClock clock;
  EventBuffer source;
  Tracker tracker;
  Profile profile;
  State state;
  Engine engine;
  Driver driver;
  ReadReplica replica;
  double followed = 0;
};

}  // namespace
}  // namespace ashlar::kube

int main() {
  using namespace ashlar;
  using namespace ashlar::kube;
  bench::Report report("readers, 5,000 nodes x 8, 40,000 bound pods");
  Bench b;
  int number = 0;
  for (int n = 0; n < kNodes; ++n) b.see(node(n));
  for (int n = 0; n < kNodes; ++n)
    for (int p = 0; p < kPodsPerNode; ++p) {
      Pod bound = pod(number++, p == 0 ? 4 : 0);
      bound.node_name = PooledString("node-" + std::to_string(n));
      b.see(std::move(bound));
    }
  report.note("the first hand-over, of everything", b.cycle() * 1e3, "ms");
  double hand_over = 1e30, follow = 1e30;
  for (int run = 0; run < 50; ++run) {
    b.now += Millis(10);
    for (int p = 0; p < kBoundPerCycle; ++p) b.see(pod(number++, 1));
    hand_over = std::min(hand_over, b.cycle());
    follow = std::min(follow, b.followed);
  }
  report.at_most("hand-over of a cycle that binds 64 pods", hand_over * 1e6, "us", 100);
  report.note("the replica follows that cycle", follow * 1e6, "us");
  for (int p = 0; p < 20'000; ++p) b.see(pod(number++, 9));
  report.note("hand-over of a cycle with 20,000 new pods that wait", b.cycle() * 1e3, "ms");
  report.note("answer: nodes", b.answer(answer_nodes, "") * 1e3, "ms");
  report.note("answer: queue", b.answer(answer_queue, "") * 1e3, "ms");
  report.note("answer: why, with remedies",
              b.answer(answer_why, "name=ns-0%2Fpod-" + std::to_string(number / 50 * 50 - 50)) * 1e3, "ms");
  SchedulerMetrics metrics;
  report.note("answer: metrics", seconds([&] { metrics.text(&b.replica, {}); }) * 1e3, "ms");
  if (!b.replica.is_faithful()) report.at_most("states that differ", 1, "", 0);
  return report.finish();
}
