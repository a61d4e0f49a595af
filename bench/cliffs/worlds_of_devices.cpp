#include <algorithm>

#include "worlds.h"

namespace ashlar::bench {
namespace {

DeviceClassId device_class(int number) { return DeviceClassId(static_cast<std::uint32_t>(number)); }

/// A node whose devices have these facts.
NodeFacts facts_with(std::uint32_t row, DeviceLayoutId id, const DeviceLayout& layout) {
  NodeFacts facts = World::facts_of(row);
  facts.devices = devices_with(id, layout);
  return facts;
}

/// Devices of so many kinds in turn.
DeviceLayout layout_of_kinds(int devices, int kinds) {
  DeviceLayout layout;
  for (int d = 0; d < devices; ++d)
    layout.devices.push_back({.device_class = device_class(d % kinds), .memory = MiB(80'000)});
  return layout;
}

ConstraintId constraint_of_class(World& w, int number) {
  Constraint c;
  c.models = {device_class(number)};
  w.tell(ConstraintDefined{ConstraintId(w.next_constraint), c});
  return ConstraintId(w.next_constraint++);
}

/// One job on as many devices of each node.
void take_all(World& w, std::uint32_t nodes, int devices) {
  const DemandId all = w.demand(devices, 64'000);
  for (std::uint32_t n = 0; n < nodes; ++n)
    w.tell(Bound{w.state.job(w.submit({.demand = all, .duration = Millis(3'600'000 + n)})).first, NodeId(n), {}});
  w.settle();
}

}  // namespace

/// Nodes of the same two classes, but with other amounts of memory.
Subject with_layouts(int size) {
  constexpr std::uint32_t kOfAll = 5000;
  World w;
  std::vector<DeviceLayout> layouts;
  for (int k = 0; k < size; ++k) {
    DeviceLayout layout = layout_of_kinds(kDevices, 2);
    for (std::size_t d = 1; d < layout.devices.size(); d += 2) layout.devices[d].memory = MiB(40'000 + k);
    w.tell(DeviceLayoutDefined{DeviceLayoutId(static_cast<std::uint32_t>(k)), layout});
    layouts.push_back(layout);
  }
  for (std::uint32_t n = 0; n < kOfAll; ++n) {
    const std::uint32_t k = n % static_cast<std::uint32_t>(size);
    w.tell(NodeSeen{NodeId(n), facts_with(n, DeviceLayoutId(k), layouts[k])});
  }
  take_all(w, kOfAll, kDevices);
  const ConstraintId first = constraint_of_class(w, 0);
  const DemandId four = w.demand(4, 8000);
  for (int i = 0; i < kWaitingMin; ++i) w.submit({.demand = four, .constraint = first, .duration = kTwoDays});
  Subject s = with_unrelated_node(std::move(w), kOfAll);
  s.guest = s.world.workload({.demand = four, .constraint = constraint_of_class(s.world, 1), .duration = kTwoDays});
  return s;
}

/// Of sixteen devices on each node. A gang has reserved every node; others, each for one of the kinds, wait behind it,
/// and a short one comes.
Subject with_device_kinds(int size) {
  constexpr int kOnNode = 16;
  World w;
  const DeviceLayout layout = layout_of_kinds(kOnNode, size);
  w.tell(DeviceLayoutDefined{DeviceLayoutId(0u), layout});
  for (std::uint32_t n = 0; n < kNodes; ++n) w.tell(NodeSeen{NodeId(n), facts_with(n, DeviceLayoutId(0u), layout)});
  const DemandId two = w.demand(2, 4000);
  for (std::uint32_t n = 0; n < kNodes; ++n)
    w.tell(Bound{w.state.job(w.submit({.demand = two, .duration = Millis(3'600'000 + n)})).first, NodeId(n), {}});
  w.submit({.demand = w.demand(kOnNode - 1, 8000), .members = kNodes, .priority = 10, .duration = kTwoDays});
  w.settle();
  const DemandId one = w.demand(1, 4000);
  std::vector<ConstraintId> of;
  for (int k = 0; k < size; ++k) of.push_back(constraint_of_class(w, k));
  for (int i = 0; i < kWaitingMin; ++i)
    w.submit({.demand = one,
              .constraint = of[static_cast<std::size_t>(i % size)],
              .duration = kTwoDays + Millis(kWaitingMin - i)});
  Subject s = with_unrelated_node(std::move(w), kNodes);
  s.guest = s.world.workload({.demand = one, .constraint = of.front(), .duration = Millis(60'000)});
  return s;
}

/// A gang of unlike members that fit each, but not together, comes to a cluster of six nodes.
Subject with_device_kinds_in_search(int size) {
  constexpr int kOnNode = 16;
  constexpr std::uint32_t kFew = 6;
  World w;
  const DeviceLayout layout = layout_of_kinds(kOnNode, size);
  w.tell(DeviceLayoutDefined{DeviceLayoutId(0u), layout});
  for (std::uint32_t n = 0; n < kFew; ++n) w.tell(NodeSeen{NodeId(n), facts_with(n, DeviceLayoutId(0u), layout)});
  const DemandId five = w.demand(5, 4000), nine = w.demand(9, 4000), three = w.demand(3, 4000);
  const JobId first = w.submit({.demand = three, .duration = Millis(3'600'000)});
  for (std::uint32_t n = 1; n < kFew; ++n) w.submit({.demand = three, .duration = Millis(3'600'000)});
  for (std::uint32_t n = 0; n < kFew; ++n) w.tell(Bound{w.state.job(JobId(first.value + n)).first, NodeId(n), {}});
  w.settle();
  Subject s = with_unrelated_node(std::move(w), kFew);
  Workload gang = s.world.workload({.demand = five, .members = 11, .duration = kTwoDays});
  for (std::size_t m = 0; m < 4; ++m) gang.members[m].demand = nine;
  s.guest = gang;
  return s;
}

/// Limits of devices of a class at each level; jobs wait in the innermost queue.
Subject with_queue_depth(int size) {
  World w;
  const DeviceLayout layout = layout_of_kinds(kDevices, 2);
  w.tell(DeviceLayoutDefined{DeviceLayoutId(0u), layout});
  for (std::uint32_t n = 0; n < kNodes; ++n) w.tell(NodeSeen{NodeId(n), facts_with(n, DeviceLayoutId(0u), layout)});
  const std::vector<QuotaLimit> limits = {{{ResourceId::none(), device_class(0)}, 4'000'000},
                                          {{ResourceId::none(), device_class(1)}, 4'000'000}};
  for (int q = 1; q <= size; ++q)
    w.tell(QueueDefined{QueueId(static_cast<std::uint32_t>(q)),
                        QueueId(static_cast<std::uint32_t>(q - 1)),
                        {kUnlimited, kUnlimited, kUnlimited},
                        limits});
  const QueueId innermost(static_cast<std::uint32_t>(size));
  const DemandId all = w.demand(kDevices, 64'000);
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    const JobId job = w.submit({.demand = all, .queue = innermost, .duration = Millis(3'600'000 + n)});
    w.tell(Bound{w.state.job(job).first, NodeId(n), {}});
  }
  w.settle();
  submit_waiting(w, w.demand(4, 8000), innermost);
  Subject s = with_unrelated_node(std::move(w), kNodes);
  s.guest = s.world.workload({.demand = all, .queue = innermost, .duration = kTwoDays});
  return s;
}

/// Classes that a queue limits, each on as many nodes.
Subject with_limited_classes(int size) {
  World w;
  std::vector<QuotaLimit> limits;
  for (int k = 0; k < size; ++k) limits.push_back({{ResourceId::none(), device_class(k)}, 8'000'000});
  w.tell(QueueDefined{QueueId(1u), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}, limits});
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    NodeFacts facts = World::facts_of(n);
    facts.devices.device_class = device_class(static_cast<int>(n) % size);
    w.tell(NodeSeen{NodeId(n), facts});
  }
  take_all(w, kNodes, kDevices);
  submit_waiting(w, w.demand(4, 8000), QueueId(1u));
  Subject s = with_unrelated_node(std::move(w), kNodes);
  s.guest = s.world.workload({.demand = DemandId(0u), .queue = QueueId(1u), .duration = kTwoDays});
  return s;
}

/// First jobs of queues that wait for nodes of unlike devices, with others behind them.
Subject with_reservations(int size) {
  World w;
  add_queues(w, size);
  const DeviceLayout layout = layout_of_kinds(kDevices, 4);
  w.tell(DeviceLayoutDefined{DeviceLayoutId(0u), layout});
  for (std::uint32_t n = 0; n < kNodes; ++n) w.tell(NodeSeen{NodeId(n), facts_with(n, DeviceLayoutId(0u), layout)});
  take_all(w, kNodes, kDevices - 1);
  const DemandId all = w.demand(kDevices, 8000);
  for (int q = 1; q <= size; ++q)
    w.submit({.demand = all, .members = 8, .queue = QueueId(static_cast<std::uint32_t>(q)), .duration = kTwoDays});
  w.settle();
  const DemandId one = w.demand(1, 4000);
  std::vector<ConstraintId> of;
  for (int k = 0; k < 4; ++k) of.push_back(constraint_of_class(w, k));
  for (int i = 0; i < kWaitingMin; ++i)
    w.submit({.demand = one,
              .constraint = of[static_cast<std::size_t>(i % 4)],
              .queue = QueueId(static_cast<std::uint32_t>(1 + i % size)),
              .duration = kTwoDays});
  Subject s = with_unrelated_node(std::move(w), kNodes);
  s.guest = s.world.workload({.demand = one, .queue = QueueId(1u), .duration = Millis(60'000)});
  return s;
}

}  // namespace ashlar::bench
