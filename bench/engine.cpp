// bench_engine: the engine alone, one core, no I/O. Clusters of 8-device nodes filled to 60 % by jobs that a seeded
// generator placed through the engine itself; every figure is the best of N runs. Limits are those that the project
// promises; a miss is printed as such and the exit status is 1.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench_report.h"
#include "engine/engine.h"
#include "policy/profile.h"
#include "state/trial.h"

namespace ashlar {
namespace {

constexpr int kDevices = 8;
constexpr std::uint32_t kNodesPerRack = 16;
constexpr std::uint32_t kNodesPerBlock = 256;

/// A cluster with racks and blocks, its engine, and the ids in use.
struct Bench {
  State state;
  Engine engine;
  std::uint32_t next_job = 0, next_member = 0, next_demand = 0;

  explicit Bench(EngineOptions options = {}) : engine(std::move(builtin_profile("ashlar")).value(), options) {
    tell(LevelsDefined{2, 0});
    tell(ConstraintDefined{ConstraintId(0u), {}});
    tell(QueueDefined{QueueId(0u), QueueId::none(), {kUnlimited, kUnlimited, kUnlimited}});
  }
  void tell(EventBody body) { apply(state, Event{state.now(), std::move(body)}); }
  void add_nodes(std::uint32_t count) {
    for (std::uint32_t n = 0; n < count; ++n) {
      NodeFacts f;
      f.allocatable = {128'000, std::int64_t{1} << 40, std::int64_t{1} << 42, 250};
      f.devices.count = kDevices;
      f.domains = {DomainId(n / kNodesPerBlock), DomainId(n / kNodesPerRack)};
      tell(NodeSeen{NodeId(n), f});
    }
  }
  DemandId demand(std::int32_t devices, std::int64_t cpu_milli) {
    Demand d;
    d.amounts = {{resource::kCpu, cpu_milli}, {resource::kMemory, std::int64_t{8} << 30}, {resource::kPods, 1}};
    d.devices.count = devices;
    tell(DemandDefined{DemandId(next_demand), d});
    return DemandId(next_demand++);
  }
  JobId submit(DemandId d, std::uint32_t members, LevelId within = {}, std::int32_t priority = 0) {
    Workload w;
    w.job = JobId(next_job++);
    w.members_min = members;
    w.within = within;
    w.priority = priority;
    w.submitted = state.now();
    for (std::uint32_t m = 0; m < members; ++m) w.members.push_back({MemberId(next_member++), d, ConstraintId(0u)});
    const JobId id = w.job;
    tell(Submitted{std::move(w)});
    return id;
  }
  /// Places jobs of 1, 2, 4 and 8 devices straight on seeded nodes until `share` of all devices is taken; every node of
  /// `kept_empty` blocks stays empty.
  void fill(double share, std::uint32_t empty_nodes_per_block) {
    Rng rng(7);
    const DemandId sizes[] = {demand(1, 4000), demand(2, 8000), demand(4, 16'000), demand(8, 32'000)};
    const auto rows = static_cast<std::uint32_t>(state.cluster().rows());
    const auto target = static_cast<std::int64_t>(share * rows * kDevices);
    for (std::int64_t used = 0; used < target;) {
      const NodeId n(static_cast<std::uint32_t>(rng.below(rows)));
      if (n.value % kNodesPerBlock < empty_nodes_per_block) continue;
      const std::size_t size = rng.below(4);
      const std::int32_t devices = 1 << size;
      if (state.cluster().idle_devices()[n.row()] < devices) continue;
      const JobId job = submit(sizes[size], 1);
      tell(Bound{state.job(job).first, n, {}});
      used += devices;
    }
    engine.decide(state, state.now());
  }
};

double seconds(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double best_of(int runs, const std::function<double()>& one) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) best = std::min(best, one());
  return best;
}

/// Pods submitted one by one and decided one by one, ended again so that the load stays.
double singles_per_second(Bench& b, int count) {
  const DemandId one = b.demand(1, 4000);
  std::vector<JobId> jobs;
  jobs.reserve(static_cast<std::size_t>(count));
  const double took = seconds([&] {
    for (int i = 0; i < count; ++i) {
      jobs.push_back(b.submit(one, 1));
      b.engine.decide(b.state, b.state.now());
    }
  });
  for (const JobId j : jobs) b.tell(Ended{j});
  b.engine.decide(b.state, b.state.now());
  return took / count;
}

double gang_seconds(Bench& b, DemandId eight) {
  const JobId gang = b.submit(eight, 64, LevelId(0u));
  const double took = seconds([&] { b.engine.decide(b.state, b.state.now()); });
  const bool is_placed = b.state.job(gang).members_placed == 64;
  b.tell(Ended{gang});
  b.engine.decide(b.state, b.state.now());
  return is_placed ? took : 1e9;
}

double trial_seconds(Bench& b, DemandId eight) {
  const JobId gang = b.submit(eight, 64, LevelId(0u));
  std::vector<std::pair<MemberId, NodeId>> where;
  std::uint32_t n = 0;
  b.state.each_member(gang, [&](MemberId m, const Member&) { where.emplace_back(m, NodeId(n++)); });
  DeviceMask all;
  for (int i = 0; i < kDevices; ++i) all.set(i);
  const double took = seconds([&] {
    Trial trial(b.state);
    for (const auto& [m, node] : where) trial.place(m, node, all);
  });
  b.tell(Ended{gang});
  return took;
}

/// 10,000 waiting gangs of 100 shapes; then one node without devices changes.
double unrelated_event_seconds(Bench& b, int kinds) {
  std::vector<DemandId> demands;
  for (int k = 0; k < kinds; ++k) demands.push_back(b.demand(8, 64'000 + k));
  for (int g = 0; g < 10'000; ++g) b.submit(demands[static_cast<std::size_t>(g % kinds)], 5000, LevelId(0u));
  b.engine.decide(b.state, b.state.now());
  NodeFacts cpu_only;
  cpu_only.allocatable = {64'000, std::int64_t{1} << 38, 0, 250};
  const NodeId n(b.state.cluster().rows());
  b.tell(NodeSeen{n, cpu_only});
  b.engine.decide(b.state, b.state.now());
  return best_of(5, [&] {
    cpu_only.allocatable[0] += 1000;
    return seconds([&] {
      b.tell(NodeSeen{n, cpu_only});
      b.engine.decide(b.state, b.state.now());
    });
  });
}

/// 10,000 gangs of as many kinds that can never run; then a node changes that could take members of all of them.
double impossible_event_seconds(Bench& b) {
  for (int g = 0; g < 10'000; ++g) b.submit(b.demand(8, 32'000 + g), 40, LevelId(1u));
  b.engine.decide(b.state, b.state.now());
  NodeFacts facts = b.state.cluster().facts(NodeId(0u));
  std::uint32_t release = 0;
  return best_of(5, [&] {
    facts.labels = {{LabelKeyId(0u), LabelId(++release), NodeLabel::kNotANumber}};
    return seconds([&] {
      b.tell(NodeSeen{NodeId(0u), facts});
      b.engine.decide(b.state, b.state.now());
    });
  });
}

/// 8,000 pods, each with a selector of its own, were looked at and ended; one more waits. Then every node gets another
/// label.
double relabelling_seconds(Bench& b, std::uint32_t nodes) {
  const DemandId one = b.demand(1, 1000);
  for (std::uint32_t i = 1; i <= 8000; ++i) {
    Constraint own;
    own.selector.all = {{LabelKeyId(0u), LabelExpression::Op::kIn, {LabelId(i)}, 0}};
    b.tell(ConstraintDefined{ConstraintId(i), own});
    const JobId job = b.submit(one, 1);
    b.tell(ConstraintChanged{MemberId(b.next_member - 1), ConstraintId(i)});
    b.engine.decide(b.state, b.state.now());
    if (i < 8000) b.tell(Ended{job});
  }
  std::uint32_t release = 10'000;
  return best_of(5, [&] {
    ++release;
    return seconds([&] {
      for (std::uint32_t n = 0; n < nodes; ++n) {
        NodeFacts facts = b.state.cluster().facts(NodeId(n));
        facts.labels = {{LabelKeyId(0u), LabelId(release), NodeLabel::kNotANumber}};
        b.tell(NodeSeen{NodeId(n), std::move(facts)});
      }
      b.engine.decide(b.state, b.state.now());
    });
  });
}

/// A full cluster of pods with one device each, nodes with twenty labels; the copy that a rollout begins with.
double copy_seconds(Bench& b) {
  const DemandId one = b.demand(1, 4000);
  for (std::uint32_t n = 0; n < b.state.cluster().rows(); ++n) {
    NodeFacts facts = b.state.cluster().facts(NodeId(n));
    for (std::uint32_t label = 0; label < 20; ++label)
      facts.labels.push_back({LabelKeyId(label), LabelId(n * 20 + label), NodeLabel::kNotANumber});
    b.tell(NodeSeen{NodeId(n), std::move(facts)});
  }
  for (std::uint32_t n = 0; n < b.state.cluster().rows(); ++n)
    for (int d = 0; d < kDevices; ++d) b.tell(Bound{b.state.job(b.submit(one, 1)).first, NodeId(n), {}});
  b.engine.decide(b.state, b.state.now());
  return best_of(20, [&] {
    return seconds([&] {
      const State state = b.state;
      const Engine engine = b.engine;
    });
  });
}

}  // namespace
}  // namespace ashlar

int main() {
  using namespace ashlar;
  bench::Report report("engine, one core");
  for (const std::uint32_t nodes : {5000u, 12'500u}) {
    Bench b;
    b.add_nodes(nodes);
    b.fill(0.6, 80);
    const std::string at = std::to_string(nodes) + " nodes x 8, 60 % full: ";
    const DemandId eight = b.demand(8, 32'000);
    const double single = best_of(3, [&] { return singles_per_second(b, 5000); });
    if (nodes == 5000)
      report.at_least(at + "single placements", 1 / single, "per second", 100'000);
    else
      report.note(at + "single placements", 1 / single, "per second");
    report.at_most(at + "gang of 64 x 8 within a block", best_of(5, [&] { return gang_seconds(b, eight); }) * 1e6, "us",
                   nodes == 5000 ? 300 : 1000);
    report.at_most(at + "open a trial of that gang and roll it back",
                   best_of(20, [&] { return trial_seconds(b, eight); }) * 1e6, "us", 20);
  }
  for (const int kinds : {1, 100, 10'000}) {
    Bench b;
    b.add_nodes(5000);
    b.fill(0.6, 80);
    report.at_most("10,000 waiting gangs of " + std::to_string(kinds) + " kinds, an unrelated node changes",
                   unrelated_event_seconds(b, kinds) * 1e6, "us", 1000);
  }
  {
    Bench b;
    b.add_nodes(5000);
    report.at_most("10,000 gangs of as many kinds that can never run, a node changes that could take members",
                   impossible_event_seconds(b) * 1e3, "ms", 10);
  }
  {
    Bench b;
    b.add_nodes(5000);
    report.at_most("copy of state and engine, 5,000 nodes and 40,000 placed members", copy_seconds(b) * 1e3, "ms", 2);
  }
  Bench b;
  b.add_nodes(400);
  report.at_most("400 nodes relabelled after 8,000 pods with selectors of their own", relabelling_seconds(b, 400) * 1e3,
                 "ms", 10);
  return report.finish();
}
