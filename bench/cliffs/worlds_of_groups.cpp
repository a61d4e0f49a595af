#include "worlds.h"

namespace ashlar::bench {
namespace {

/// A gang of groups of one member each of eight devices, which must each be within a rack.
Workload gang_of_groups(World& w, GangSpecId id, int groups, const std::vector<DemandId>& demands, Millis duration) {
  GangSpec spec;
  for (int g = 0; g < groups; ++g) spec.groups.push_back({.members_min = 1, .within = kRack, .prefer = {}});
  w.tell(GangSpecDefined{id, spec});
  Workload gang =
      w.workload({.demand = demands.front(), .members = static_cast<std::uint32_t>(groups), .duration = duration});
  gang.spec = id;
  for (std::size_t g = 0; g < gang.members.size(); ++g) {
    gang.members[g].group = static_cast<std::uint32_t>(g);
    gang.members[g].demand = demands[g % demands.size()];
  }
  return gang;
}

std::vector<DemandId> unlike(World& w, int size) {
  std::vector<DemandId> demands;
  for (int k = 0; k < size; ++k) demands.push_back(demand_number(w, kDevices, k));
  return demands;
}

/// Half of the nodes are free.
Subject half_full() {
  World w;
  w.add_nodes(2 * kNodes);
  const DemandId eight = w.demand(kDevices, 64'000);
  for (std::uint32_t n = 0; n < kNodes; ++n)
    w.tell(Bound{w.state.job(w.submit({.demand = eight, .duration = Millis(3'600'000 + n)})).first, NodeId(n), {}});
  w.settle();
  return with_unrelated_node(std::move(w), 2 * kNodes);
}

}  // namespace

/// Of a gang that comes and finds room.
Subject with_groups(int size) {
  Subject s = half_full();
  s.guest = gang_of_groups(s.world, GangSpecId(0u), size, {demand_number(s.world, kDevices, 0)}, kTwoDays);
  return s;
}

/// The same, each with another request.
Subject with_unlike_groups(int size) {
  Subject s = half_full();
  s.guest = gang_of_groups(s.world, GangSpecId(0u), size, unlike(s.world, size), kTwoDays);
  return s;
}

/// Of a gang that waits before all others, and of one that comes.
Subject with_waiting_groups(int size) {
  World w = full();
  const std::vector<DemandId> demands = unlike(w, size);
  w.submit(gang_of_groups(w, GangSpecId(0u), size, demands, kTwoDays));
  submit_waiting(w, demands.front());
  Subject s{.world = std::move(w), .guest = {}};
  s.guest = gang_of_groups(s.world, GangSpecId(0u), size, demands, kTwoDays);
  return s;
}

/// Of four groups that wait.
Subject with_kinds_of_gangs(int size) {
  World w = full();
  std::vector<std::vector<DemandId>> kinds;
  for (int k = 0; k < size; ++k) kinds.push_back({demand_number(w, kDevices, k), demand_number(w, 4, k)});
  const int gangs = std::max(size, kWaitingMin);
  for (int i = 0; i < gangs; ++i)
    w.submit(gang_of_groups(w, GangSpecId(0u), 4, kinds[static_cast<std::size_t>(i % size)], kTwoDays));
  Subject s{.world = std::move(w), .guest = {}};
  s.guest = gang_of_groups(s.world, GangSpecId(0u), 4, kinds.front(), kTwoDays);
  return s;
}

namespace {

/// A gang of unlike members of which nine in ten must start, rounded up.
Workload gang_with_a_choice(World& w, const std::vector<DemandId>& demands) {
  const auto members = static_cast<std::uint32_t>(demands.size());
  Workload gang = w.workload({.demand = demands.front(), .members = members, .duration = kTwoDays});
  for (std::size_t m = 0; m < gang.members.size(); ++m) gang.members[m].demand = demands[m];
  gang.members_min = members - members / 10;
  return gang;
}

}  // namespace

/// Of a gang that waits before all others, each with another request, and of one that comes.
Subject with_members_of_a_choice(int size) {
  World w = full();
  const std::vector<DemandId> demands = unlike(w, size);
  w.submit(gang_with_a_choice(w, demands));
  submit_waiting(w, demands.front());
  Subject s{.world = std::move(w), .guest = {}};
  s.guest = gang_with_a_choice(s.world, demands);
  return s;
}

/// Of ten unlike members each, which wait, before all others.
Subject with_gangs_with_a_choice(int size) {
  World w = full();
  std::vector<DemandId> demands;
  for (int gang = 0; gang < size; ++gang) {
    demands.clear();
    for (int k = 0; k < 10; ++k) demands.push_back(demand_number(w, kDevices, 10 * gang + k));
    w.submit(gang_with_a_choice(w, demands));
  }
  submit_waiting(w, demands.front());
  Subject s{.world = std::move(w), .guest = {}};
  s.guest = gang_with_a_choice(s.world, demands);
  return s;
}

}  // namespace ashlar::bench
