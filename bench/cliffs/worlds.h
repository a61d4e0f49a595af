// worlds: for each quantity that bench_cliffs lets grow, the world in which there is so much of it.
#pragma once

#include <optional>
#include <utility>

#include "../engine/world.h"

namespace ashlar::bench {

inline constexpr std::uint32_t kNodes = 1000;
inline constexpr int kWaitingMin = 10'000;  ///< jobs that wait at every size, so that only the quantity grows
inline constexpr Millis kTwoDays{172'800'000};

struct Subject {
  World world;
  std::optional<Workload> guest;  ///< a job that comes and goes; not submitted yet
  NodeId unrelated{kNodes};       ///< a node without devices
};

/// A demand for whole devices; each number is another one.
DemandId demand_number(World& w, std::int32_t devices, int number);
NodeFacts without_devices();
/// Each node taken whole by one job; a further node without devices.
World full();
/// These nodes first, then one without devices.
Subject with_unrelated_node(World w, std::uint32_t nodes);
/// They have the same demand and duration, and wait.
void submit_waiting(World& w, DemandId demand, QueueId queue = QueueId(0u));
/// The first queue below the root, and others, without limits.
void add_queues(World& w, int count);

Subject with_kinds(int size);
Subject with_waiting(int size);
Subject with_held(int size);
Subject with_selectors(int size);
Subject with_levels(int size);
Subject with_queues(int size);

// What is held of nodes: worlds_of_holds.cpp.
Subject with_holds(int size);
Subject with_later_holds(int size);
Subject with_owners(int size);
Subject with_owner_jobs(int size);
Subject with_holds_on_a_node(int size);
Subject with_parts_of_a_hold(int size);
Subject with_waiting_beside_holds(int size);
Subject with_waiting_beside_later_holds(int size);

// Gangs of groups: worlds_of_groups.cpp.
Subject with_groups(int size);
Subject with_unlike_groups(int size);
Subject with_waiting_groups(int size);
Subject with_kinds_of_gangs(int size);
Subject with_members_of_a_choice(int size);
Subject with_gangs_with_a_choice(int size);

// Nodes of unlike devices, and limits by their class: worlds_of_devices.cpp.
Subject with_layouts(int size);
Subject with_device_kinds(int size);
Subject with_device_kinds_in_search(int size);
Subject with_queue_depth(int size);
Subject with_limited_classes(int size);
Subject with_reservations(int size);

}  // namespace ashlar::bench
