// What holds for every kernel, on random clusters: a range gives what its rows give one by one, and feasible kernels
// only lower.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "small_cluster.h"

namespace ashlar {
namespace {

struct AnyCluster {
  SmallCluster nodes;
  Demand demand;
  Constraint constraint;
  FgdMix mix;
};

Demand any_demand() {
  const int count = *rc::gen::element(0, 1, 1, 2, 4);
  Demand d =
      demand_of(*rc::gen::inRange(0, 9) * 1000, count,
                count == 1 ? *rc::gen::element(100, 300, 500, 999, 1000) : kWholeDevice, *rc::gen::element(0, 0, 4000));
  if (*rc::gen::inRange(0, 4) == 0) d.ports = {{6, 0, static_cast<std::uint16_t>(*rc::gen::inRange(80, 82))}};
  return d;
}

NodeFacts any_facts() {
  NodeFacts f = facts_of({.cpu_milli = *rc::gen::inRange(0, 65) * 1000,
                          .pods = *rc::gen::inRange(0, 20),
                          .devices = *rc::gen::element(0, 1, 2, 8, 8, 16),
                          .mib_per_device = *rc::gen::element(0, 8000, 16000),
                          .model = *rc::gen::element(DeviceClassId(0u), DeviceClassId(1u), DeviceClassId::none())});
  f.is_ready = *rc::gen::inRange(0, 8) != 0;
  if (*rc::gen::arbitrary<bool>())
    f.labels = {{LabelKeyId(0u), LabelId(static_cast<unsigned>(*rc::gen::inRange(0, 2)))}};
  if (*rc::gen::inRange(0, 3) == 0)
    f.taints = {
        {LabelKeyId(1u), LabelId(5u), *rc::gen::element(TaintEffect::kNoSchedule, TaintEffect::kPreferNoSchedule)}};
  return f;
}

AnyCluster any_cluster() {
  AnyCluster out;
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) {
    const NodeId n = out.nodes.add(any_facts());
    for (int pods = *rc::gen::inRange(0, 6); pods > 0; --pods) {
      const Demand d = any_demand();
      const DeviceMask devices = find_device("best-fit")->choose(out.nodes.view(d), n);
      if (devices.count() == d.devices.count || *rc::gen::inRange(0, 10) == 0)
        out.nodes.cluster.allocate(n, d, devices);
    }
  }
  out.demand = any_demand();
  if (*rc::gen::arbitrary<bool>()) out.constraint.models = {DeviceClassId(1u)};
  if (*rc::gen::arbitrary<bool>())
    out.constraint.preferred = {{50, {{{LabelKeyId(0u), LabelExpression::Op::kIn, {LabelId(1u)}}}}}};
  if (*rc::gen::inRange(0, 3) == 0) out.constraint.selector.all = {{LabelKeyId(0u), LabelExpression::Op::kExists, {}}};
  out.mix.classes = {{4000, 1, 500, {}, 0.5}, {8000, 1, 1000, {DeviceClassId(1u)}, 0.25}, {2000, 0, 0, {}, 0.25}};
  return out;
}

RC_GTEST_PROP(Kernels, ARangeGivesWhatItsRowsGiveOneByOne, ()) {
  AnyCluster any = any_cluster();
  any.nodes.mix = &any.mix;
  const NodeView view = any.nodes.view(any.demand, any.constraint);
  const std::size_t rows = any.nodes.cluster.rows();
  const std::size_t first = *rc::gen::inRange<std::size_t>(0, rows);
  const std::size_t count = *rc::gen::inRange<std::size_t>(1, rows - first + 1);
  for (const FeasiblePolicy& p : feasible_policies()) {
    std::vector<std::uint16_t> together(count, kFitsMax), alone(count, kFitsMax);
    SmallCluster::lower(p, view, {first, count}, together);
    for (std::size_t i = 0; i < count; ++i)
      SmallCluster::lower(p, view, {first + i, 1}, std::span(alone).subspan(i, 1));
    RC_ASSERT(together == alone);
  }
  for (const ScorePolicy& p : score_policies()) {
    if (p.add == nullptr) continue;
    std::vector<Points> together(count, 0), alone(count, 0);
    p.add(view, {first, count}, together);
    for (std::size_t i = 0; i < count; ++i) p.add(view, {first + i, 1}, std::span(alone).subspan(i, 1));
    RC_ASSERT(together == alone);
  }
}

RC_GTEST_PROP(Kernels, FeasiblePoliciesOnlyLowerAndAgreeInAnyOrder, ()) {
  const AnyCluster any = any_cluster();
  const NodeView view = any.nodes.view(any.demand, any.constraint);
  const std::size_t rows = any.nodes.cluster.rows();
  std::vector<std::uint16_t> forward(rows, kFitsMax), backward(rows, kFitsMax);
  for (const FeasiblePolicy& p : feasible_policies()) {
    const std::vector<std::uint16_t> before = forward;
    SmallCluster::lower(p, view, {0, rows}, forward);
    for (std::size_t i = 0; i < rows; ++i) RC_ASSERT(forward[i] <= before[i]);
  }
  const auto table = feasible_policies();
  for (auto p = table.rbegin(); p != table.rend(); ++p) SmallCluster::lower(*p, view, {0, rows}, backward);
  RC_ASSERT(forward == backward);
}

RC_GTEST_PROP(Kernels, WhatFitsCanBeTakenThatOftenAndNotOnceMore, ()) {
  AnyCluster any = any_cluster();
  Cluster& cluster = any.nodes.cluster;
  any.nodes.mix = &any.mix;
  const DevicePolicy& devices =
      *rc::gen::elementOf(std::vector<DevicePolicy>(device_policies().begin(), device_policies().end()));
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const NodeId n(row);
    const auto room = [&] {
      std::vector<std::uint16_t> fits(1, kFitsMax);
      for (const FeasiblePolicy& p : feasible_policies())
        SmallCluster::lower(p, any.nodes.view(any.demand, any.constraint), {row, 1}, fits);
      return fits[0];
    };
    if (any.demand.devices.count > 0 && !any.demand.devices.is_whole() && devices.name != "best-fit")
      continue;  // others may split what is left differently
    for (std::uint16_t left = room(); left > 0; --left) {
      RC_ASSERT(room() == left);
      const DeviceMask mask = devices.choose(any.nodes.view(any.demand, any.constraint), n);
      RC_ASSERT(mask.count() == any.demand.devices.count);
      cluster.allocate(n, any.demand, mask);
      for (const std::int32_t milli : cluster.device_free_milli(n)) RC_ASSERT(milli >= 0);
    }
    RC_ASSERT(room() == 0);
  }
}

}  // namespace
}  // namespace ashlar
