#include "worlds.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ashlar::bench {

/// A demand for whole devices; each number is another one.
DemandId demand_number(World& w, std::int32_t devices, int number) {
  Demand d;
  d.amounts = {{resource::kCpu, 8000},
               {resource::kMemory, (std::int64_t{8} << 30) + (std::int64_t{number} << 20)},
               {resource::kPods, 1}};
  d.devices.count = devices;
  w.tell(DemandDefined{DemandId(w.next_demand), d});
  return DemandId(w.next_demand++);
}

NodeFacts without_devices() {
  NodeFacts facts;
  facts.allocatable = {1000, std::int64_t{1} << 30, 0, 250};
  return facts;
}

/// Each node taken whole by one job; a further node without devices.
World full() {
  World w;
  w.add_nodes(kNodes);
  w.fill_whole();
  w.tell(NodeSeen{NodeId(kNodes), without_devices()});
  return w;
}

Subject with_unrelated_node(World w, std::uint32_t nodes) {
  w.tell(NodeSeen{NodeId(nodes), without_devices()});
  return {.world = std::move(w), .guest = {}, .unrelated = NodeId(nodes)};
}

void submit_waiting(World& w, DemandId demand, QueueId queue) {
  for (int i = 0; i < kWaitingMin; ++i) w.submit({.demand = demand, .queue = queue, .duration = kTwoDays});
}

void add_queues(World& w, int count) {
  for (int q = 1; q <= count; ++q)
    w.tell(QueueDefined{QueueId(static_cast<std::uint32_t>(q)), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
}

Subject with_kinds(int size) {
  World w = full();
  std::vector<DemandId> kinds;
  for (int k = 0; k < size; ++k) kinds.push_back(demand_number(w, kDevices, k));
  for (int i = 0; i < std::max(size, kWaitingMin); ++i)
    w.submit({.demand = kinds[static_cast<std::size_t>(i % size)], .duration = kTwoDays});
  return {.world = std::move(w), .guest = {}};
}

Subject with_waiting(int size) {
  World w = full();
  const DemandId whole = demand_number(w, kDevices, 0);
  for (int i = 0; i < size; ++i) w.submit({.demand = whole, .duration = kTwoDays});
  return {.world = std::move(w), .guest = {}};
}

/// Jobs of ten kinds that last beyond the reservation of a gang that needs every node.
Subject with_held(int size) {
  World w;
  w.add_nodes(kNodes);
  w.fill(0.6, 16);
  w.tell(NodeSeen{NodeId(kNodes), without_devices()});
  w.submit({.demand = w.demand(8, 128'000), .members = kNodes, .priority = 10, .duration = Millis(7'200'000)});
  w.settle();
  std::vector<DemandId> kinds;
  for (int k = 0; k < std::min(size, 10); ++k) kinds.push_back(demand_number(w, 1, k));
  for (int i = 0; i < size; ++i)
    w.submit({.demand = kinds[static_cast<std::size_t>(i % 10)], .duration = kTwoDays + Millis(size - i)});
  return {.world = std::move(w), .guest = {}};
}

Subject with_selectors(int size) {
  World w = full();
  const DemandId whole = demand_number(w, kDevices, 0);
  std::vector<ConstraintId> selectors;
  for (int s = 0; s < size; ++s) selectors.push_back(w.constraint_without(LabelId(static_cast<std::uint32_t>(s))));
  for (int i = 0; i < std::max(size, kWaitingMin); ++i)
    w.submit({.demand = whole, .constraint = selectors[static_cast<std::size_t>(i % size)], .duration = kTwoDays});
  return {.world = std::move(w), .guest = {}};
}

/// Gangs of two nodes, each within one of the levels; the innermost domains are pairs of nodes.
Subject with_levels(int size) {
  World w;
  const auto levels = static_cast<std::uint32_t>(size);
  w.state = State();  // levels are defined once
  w.tell(LevelsDefined{levels, 0});
  w.tell(ConstraintDefined{ConstraintId(0u), {}});
  w.tell(QueueDefined{QueueId(0u), QueueId::none(), {kUnlimited, kUnlimited, kUnlimited}});
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    NodeFacts facts = World::facts_of(n);
    facts.domains.clear();
    for (std::uint32_t l = 0; l < levels; ++l) facts.domains.emplace_back(n >> std::min(levels - l, 10u));
    w.tell(NodeSeen{NodeId(n), facts});
  }
  w.fill_whole();
  w.tell(NodeSeen{NodeId(kNodes), without_devices()});
  const DemandId whole = demand_number(w, kDevices, 0);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(kWaitingMin); ++i)
    w.submit({.demand = whole, .members = 2, .within = LevelId(i % levels), .duration = kTwoDays});
  return {.world = std::move(w), .guest = {}};
}

Subject with_queues(int size) {
  World w = full();
  const DemandId whole = demand_number(w, kDevices, 0);
  for (int q = 1; q <= size; ++q)
    w.tell(QueueDefined{QueueId(static_cast<std::uint32_t>(q)), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  for (int i = 0; i < std::max(size, kWaitingMin); ++i)
    w.submit({.demand = whole, .queue = QueueId(static_cast<std::uint32_t>(1 + i % size)), .duration = kTwoDays});
  return {.world = std::move(w), .guest = {}};
}

}  // namespace ashlar::bench
