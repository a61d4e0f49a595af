#include <functional>

#include "worlds.h"

namespace ashlar::bench {
namespace {

constexpr std::uint32_t kHeldNodes = 1429;  ///< with seven devices each, 10,000 holds of one find a place
constexpr QueueId kOwner{1u}, kOther{2u};
constexpr Millis kDay{86'400'000};

std::uint32_t held_of(std::uint32_t node, int holds) {
  return (static_cast<std::uint32_t>(holds) + kHeldNodes - 1 - node) / kHeldNodes;
}

Hold hold_of(World& w, DemandId demand, const std::vector<std::pair<NodeId, int>>& places) {
  Hold hold{.job = JobId(w.next_job++), .parts = {}};
  for (const auto& [node, device] : places) {
    DeviceMask mask;
    if (device >= 0) mask.set(device);
    hold.parts.push_back({{MemberId(w.next_member++), demand, ConstraintId(0u)}, node, mask});
  }
  return hold;
}

/// One device is held by each, of one node after the other; what is left of the nodes is taken by one job each. Others
/// wait for a device.
Subject held_devices(int holds, const std::function<void(World&, Hold&, int)>& specify, int queues = 2) {
  World w;
  w.add_nodes(kHeldNodes);
  add_queues(w, queues);
  std::vector<DemandId> by_devices;
  for (int d = 0; d <= kDevices; ++d) by_devices.push_back(w.demand(d, 1000));
  for (std::uint32_t n = 0; n < kHeldNodes; ++n) {
    DeviceMask rest;
    for (auto d = static_cast<int>(held_of(n, holds)); d < kDevices; ++d) rest.set(d);
    const JobId job = w.submit({.demand = by_devices[static_cast<std::size_t>(rest.count())],
                                .queue = kOther,
                                .duration = Millis(3'600'000 + n)});
    w.tell(Bound{w.state.job(job).first, NodeId(n), rest});
  }
  w.settle();
  for (int i = 0; i < holds; ++i) {
    const auto row = static_cast<std::uint32_t>(i);
    Hold hold = hold_of(w, by_devices[1], {{NodeId(row % kHeldNodes), static_cast<int>(row / kHeldNodes)}});
    specify(w, hold, i);
    w.tell(HoldPlaced{hold});
  }
  return with_unrelated_node(std::move(w), kHeldNodes);
}

void add_guest(Subject& s, QueueId queue, Millis duration, std::uint32_t members = 1) {
  s.guest =
      s.world.workload({.demand = s.world.demand(1, 1000), .members = members, .queue = queue, .duration = duration});
}

void belongs_to_queue(World&, Hold& hold, int) { hold.owner.queue = kOwner; }
void begins_later(World&, Hold& hold, int number) { hold.from = kDay + Millis(number); }

}  // namespace

/// For the jobs of a queue, one of which comes.
Subject with_holds(int size) {
  Subject s = held_devices(size, belongs_to_queue);
  submit_waiting(s.world, s.world.demand(1, 1000), kOther);
  add_guest(s, kOwner, kTwoDays);
  return s;
}

/// Each from another moment of tomorrow on; a short job comes.
Subject with_later_holds(int size) {
  Subject s = held_devices(size, begins_later);
  submit_waiting(s.world, s.world.demand(1, 1000), kOther);
  add_guest(s, kOther, Millis(60'000));
  return s;
}

/// Queues for which as many holds as ever are.
Subject with_owners(int size) {
  Subject s = held_devices(
      kWaitingMin,
      [&](World&, Hold& hold, int i) { hold.owner.queue = QueueId(static_cast<std::uint32_t>(3 + i % size)); },
      2 + size);
  submit_waiting(s.world, s.world.demand(1, 1000), kOther);
  add_guest(s, QueueId(3u), kTwoDays);
  return s;
}

/// Each hold is for a job of its own, which needs more and waits.
Subject with_owner_jobs(int size) {
  std::vector<Workload> owners;
  Subject s = held_devices(size, [&](World& w, Hold& hold, int) {
    owners.push_back(w.workload({.demand = DemandId(8u), .queue = kOther, .duration = kTwoDays}));
    hold.owner.job = owners.back().job;
  });
  for (Workload& owner : owners) s.world.submit(std::move(owner));
  submit_waiting(s.world, s.world.demand(1, 1000), kOther);
  add_guest(s, kOther, kTwoDays);
  return s;
}

/// Holds of cores of one node, on which a job of their owner comes.
Subject with_holds_on_a_node(int size) {
  World w = full();
  add_queues(w, 2);
  NodeFacts facts = World::facts_of(0);
  facts.labels = {{LabelKeyId(0u), LabelId(7u), NodeLabel::kNotANumber}};
  w.tell(NodeSeen{NodeId(0u), facts});
  const DemandId cores = w.demand(0, 10);
  for (int i = 0; i < size; ++i) {
    Hold hold = hold_of(w, cores, {{NodeId(0u), -1}});
    hold.owner.queue = kOwner;
    w.tell(HoldPlaced{hold});
  }
  submit_waiting(w, demand_number(w, kDevices, 0), kOther);
  Constraint there;
  there.selector.all = {{LabelKeyId(0u), LabelExpression::Op::kIn, {LabelId(7u)}, 0}};
  w.tell(ConstraintDefined{ConstraintId(w.next_constraint), there});
  Subject s{.world = std::move(w), .guest = {}};
  s.guest = s.world.workload(
      {.demand = cores, .constraint = ConstraintId(s.world.next_constraint++), .queue = kOwner, .duration = kTwoDays});
  return s;
}

/// One hold of whole nodes, on which a gang of its owner comes.
Subject with_parts_of_a_hold(int size) {
  constexpr std::uint32_t kOfAll = 5000;
  World w;
  w.add_nodes(kOfAll);
  add_queues(w, 2);
  const DemandId eight = w.demand(kDevices, 64'000);
  Hold hold{.job = {}, .parts = {}};
  for (std::uint32_t n = 0; n < kOfAll; ++n) {
    if (n >= kOfAll - static_cast<std::uint32_t>(size)) {
      hold.parts.push_back({{MemberId(w.next_member++), eight, ConstraintId(0u)}, NodeId(n), {}});
      continue;
    }
    const JobId job = w.submit({.demand = eight, .queue = kOther, .duration = Millis(3'600'000 + n)});
    w.tell(Bound{w.state.job(job).first, NodeId(n), {}});
  }
  w.next_job = kOfAll;  // also if all nodes are held
  hold.job = JobId(w.next_job++);
  hold.owner.queue = kOwner;
  w.tell(HoldPlaced{hold});
  w.settle();
  Subject s = with_unrelated_node(std::move(w), kOfAll);
  submit_waiting(s.world, eight, kOther);
  s.guest = s.world.workload({.demand = eight,
                              .members = std::min(8u, static_cast<std::uint32_t>(size)),
                              .queue = kOwner,
                              .duration = kTwoDays});
  return s;
}

/// Jobs of the owner that need more than is held, besides a hundred for those that an end lets start.
Subject with_waiting_beside_holds(int size) {
  Subject s = held_devices(1000, belongs_to_queue);
  const DemandId two = s.world.demand(2, 1000);
  for (int i = 0; i < 100 + size; ++i)
    s.world.submit({.demand = two, .queue = kOwner, .duration = kTwoDays + Millis(i)});
  add_guest(s, kOwner, kTwoDays);
  return s;
}

/// Jobs that last beyond the begin of the holds, each by another time.
Subject with_waiting_beside_later_holds(int size) {
  Subject s = held_devices(1000, begins_later);
  const DemandId one = s.world.demand(1, 1000);
  for (int i = 0; i < size; ++i) s.world.submit({.demand = one, .queue = kOther, .duration = kTwoDays + Millis(i)});
  add_guest(s, kOther, Millis(60'000));
  return s;
}

}  // namespace ashlar::bench
