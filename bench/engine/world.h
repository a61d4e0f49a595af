// World: a cluster with racks and blocks, its engine, and the ids in use; no I/O. Nodes have eight devices and are filled
// by jobs that a seeded generator places.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "policy/profile.h"
#include "state/trial.h"

namespace ashlar::bench {

inline constexpr int kDevices = 8;
inline constexpr std::uint32_t kNodesPerRack = 16;
inline constexpr std::uint32_t kNodesPerBlock = 256;
inline constexpr LevelId kBlock{0u}, kRack{1u};

/// A gang of like members, or one pod.
struct JobSpec {
  DemandId demand;
  ConstraintId constraint{0u};
  std::uint32_t members = 1;
  LevelId within = {};
  std::int32_t priority = 0;
  QueueId queue{0u};
  Millis duration = Millis::max();  ///< max(): unknown
};

struct World {
  State state;
  Engine engine;
  std::uint32_t next_job = 0, next_member = 0, next_demand = 0, next_constraint = 1;

  explicit World(Profile profile = std::move(builtin_profile("ashlar")).value(), EngineOptions options = {})
      : engine(std::move(profile), options) {
    tell(LevelsDefined{2, 0});
    tell(ConstraintDefined{ConstraintId(0u), {}});
    tell(QueueDefined{QueueId(0u), QueueId::none(), {kUnlimited, kUnlimited, kUnlimited}});
  }
  void tell(EventBody body) { apply(state, Event{state.now(), std::move(body)}); }
  Plan decide() { return engine.decide(state, state.now()); }
  /// Until nothing is left to look at soon: searches that were put off have their turn as time passes.
  void settle() {
    constexpr Millis kSoon{10'000};
    for (Millis next = decide().look_again_at; next <= state.now() + kSoon;)
      next = next <= state.now() ? decide().look_again_at : tick(next - state.now()).look_again_at;
  }
  /// Time passes and the engine is asked again.
  Plan tick(Millis by) {
    apply(state, Event{state.now() + by, Tick{}});
    return decide();
  }
  static NodeFacts facts_of(std::uint32_t row) {
    NodeFacts f;
    f.allocatable = {128'000, std::int64_t{1} << 40, std::int64_t{1} << 42, 250};
    f.devices.count = kDevices;
    f.domains = {DomainId(row / kNodesPerBlock), DomainId(row / kNodesPerRack)};
    return f;
  }
  void add_nodes(std::uint32_t count) {
    for (std::uint32_t n = 0; n < count; ++n) tell(NodeSeen{NodeId(n), facts_of(n)});
  }
  DemandId demand(std::int32_t devices, std::int64_t cpu_milli) {
    Demand d;
    d.amounts = {{resource::kCpu, cpu_milli}, {resource::kMemory, std::int64_t{8} << 30}, {resource::kPods, 1}};
    d.devices.count = devices;
    tell(DemandDefined{DemandId(next_demand), d});
    return DemandId(next_demand++);
  }
  /// Nodes that do not have this label; every node of the world may be used.
  ConstraintId constraint_without(LabelId label) {
    Constraint c;
    c.selector.all = {{LabelKeyId(0u), LabelExpression::Op::kNotIn, {label}, 0}};
    tell(ConstraintDefined{ConstraintId(next_constraint), c});
    return ConstraintId(next_constraint++);
  }
  Workload workload(const JobSpec& spec) {
    Workload w;
    w.job = JobId(next_job++);
    w.queue = spec.queue;
    w.members_min = spec.members;
    w.within = spec.within;
    w.priority = spec.priority;
    w.submitted = state.now();
    w.estimate = {spec.duration, spec.duration};
    for (std::uint32_t m = 0; m < spec.members; ++m)
      w.members.push_back({MemberId(next_member++), spec.demand, spec.constraint});
    return w;
  }
  JobId submit(const JobSpec& spec) { return submit(workload(spec)); }
  JobId submit(Workload w) {
    const JobId id = w.job;
    tell(Submitted{std::move(w)});
    return id;
  }
  /// Places jobs of 1, 2, 4 and 8 devices on seeded nodes until `share` of all devices is taken; this many nodes of each
  /// block stay empty. Durations between one and two hours.
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
      const Millis duration(3'600'000 + static_cast<std::int64_t>(rng.below(3'600'000)));
      tell(Bound{state.job(submit({.demand = sizes[size], .duration = duration})).first, n, {}});
      used += devices;
    }
    decide();
  }
  /// One job on all devices of each node.
  void fill_whole() {
    const DemandId eight = demand(kDevices, 64'000);
    for (std::uint32_t n = 0; n < state.cluster().rows(); ++n)
      tell(Bound{state.job(submit({.demand = eight, .duration = Millis(3'600'000 + n)})).first, NodeId(n), {}});
    decide();
  }
};

inline double seconds(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double best_of(int runs, const std::function<double()>& one) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) best = std::min(best, one());
  return best;
}

/// Seconds for one pod: submitted one by one, decided one by one, ended again so that the load stays. `spec_of(i)` is
/// the i-th. 1e9 if any waits.
template <class SpecOf>
double seconds_each(World& w, int pods, SpecOf&& spec_of) {
  std::vector<JobId> jobs;
  jobs.reserve(static_cast<std::size_t>(pods));
  const double took = seconds([&] {
    for (int i = 0; i < pods; ++i) {
      jobs.push_back(w.submit(spec_of(i)));
      w.decide();
    }
  });
  bool are_placed = true;
  for (const JobId j : jobs) are_placed = are_placed && w.state.job(j).members_placed == 1;
  for (const JobId j : jobs) w.tell(Ended{j});
  w.decide();
  return are_placed ? took / pods : 1e9;
}

}  // namespace ashlar::bench
