// A few nodes for tests of kernels, written in one line each.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "policy/device_policy.h"
#include "policy/feasible_policy.h"
#include "policy/score/fgd/mix.h"
#include "policy/score_policy.h"
#include "state/state.h"

namespace ashlar {

struct NodeSketch {
  std::int64_t cpu_milli = 64000;
  std::int64_t memory = 1ll << 38;
  std::int64_t pods = 110;
  std::int32_t devices = 0;
  std::int64_t mib_per_device = 0;
  DeviceClassId model;
};

inline NodeFacts facts_of(const NodeSketch& s) {
  NodeFacts f;
  f.allocatable = {s.cpu_milli, s.memory, 0, s.pods};
  f.devices.count = s.devices;
  f.devices.memory_each = MiB(s.mib_per_device);
  f.devices.device_class = s.model;
  return f;
}

inline Demand demand_of(std::int64_t cpu_milli, std::int32_t devices = 0, std::int32_t milli_each = kWholeDevice,
                        std::int64_t mib_each = 0) {
  Demand d;
  if (cpu_milli > 0) d.amounts.push_back({resource::kCpu, cpu_milli});
  d.amounts.push_back({resource::kPods, 1});
  d.devices = {devices, MilliGpu(milli_each), MiB(mib_each)};
  return d;
}

inline DeviceMask mask_of(std::initializer_list<int> devices) {
  DeviceMask mask;
  for (const int c : devices) mask.set(c);
  return mask;
}

class SmallCluster {
 public:
  SmallCluster() = default;
  explicit SmallCluster(const std::vector<NodeSketch>& sketches) {
    for (const NodeSketch& s : sketches) add(facts_of(s));
  }
  SmallCluster(std::initializer_list<NodeSketch> sketches) : SmallCluster(std::vector<NodeSketch>(sketches)) {}
  NodeId add(const NodeFacts& facts) {
    const NodeId n(cluster.rows());
    cluster.upsert_node(n, facts);
    return n;
  }
  /// Leaves this many milli-GPU free on the first devices of a node.
  void leave(NodeId n, const std::vector<std::int32_t>& free) {
    for (std::size_t c = 0; c < free.size(); ++c)
      if (free[c] < kWholeDevice)
        cluster.allocate(n, demand_of(0, 1, kWholeDevice - free[c]), mask_of({static_cast<int>(c)}));
  }
  void use_cpu(NodeId n, std::int64_t milli) { cluster.allocate(n, demand_of(milli), {}); }

  NodeView view(const Demand& demand, const Constraint& constraint = kAnywhere) const {
    return {cluster, demand, constraint, mix, draw};
  }

  /// By one rule of the table, of whichever kind.
  static void lower(const FeasiblePolicy& policy, const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
    if (!policy.is_by_facts()) return policy.lower(view, rows, fits);
    for (std::size_t i = 0; i < rows.count; ++i)
      if (!policy.allows(view.constraint, view.nodes.facts(NodeId(rows.first + i)), {KeptAway()})) fits[i] = 0;
  }

  std::vector<int> fits(std::string_view policy, const Demand& demand, const Constraint& constraint = kAnywhere) const {
    std::vector<std::uint16_t> out(cluster.rows(), kFitsMax);
    lower(*find_feasible(policy), view(demand, constraint), {0, cluster.rows()}, out);
    return {out.begin(), out.end()};
  }
  std::vector<Points> points(std::string_view policy, const Demand& demand,
                             const Constraint& constraint = kAnywhere) const {
    std::vector<Points> out(cluster.rows(), 0);
    find_score(policy)->add(view(demand, constraint), {0, cluster.rows()}, out);
    return out;
  }
  DeviceMask devices(std::string_view policy, NodeId n, const Demand& demand) const {
    return find_device(policy)->choose(view(demand), n);
  }

  static inline const Constraint kAnywhere{};
  Cluster cluster;
  const FgdMix* mix = nullptr;
  std::uint64_t draw = 1;
};

}  // namespace ashlar
