// SmallPacking: whether unlike members fit on a few nodes together, and where. Exact, by trying every combination that
// is not the mirror of one tried before, within a counted budget: resources, whole devices, shares of devices with
// their memory, host ports, allowed nodes; but of unlike devices whole ones are the first that will do, so that there
// no search proves anything. For at most kPackingNodesMax nodes; easy cases cost O(members x nodes).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/demand.h"
#include "state/state.h"

namespace ashlar {

/// this many nodes are searched exactly; with more there are too many combinations
inline constexpr std::size_t kPackingNodesMax = 8;

/// Like members that are placed together.
struct PackingGroup {
  const Demand* demand = nullptr;
  std::uint32_t members = 0;
  const Constraint* constraint = nullptr;  ///< needed where a node's devices are not all alike
};

/// The capacity of one node.
struct PackingNode {
  std::vector<std::int64_t> free;    ///< by ResourceId
  std::vector<std::int32_t> milli;   ///< by device
  std::vector<std::int64_t> mib;     ///< by device
  DeviceMemories full_mib;           ///< of each device; 0 = not known, not checked
  std::int32_t idle_devices = 0;     ///< at most this many of the idle devices may be taken
  std::vector<HostPort> ports;       ///< taken
  std::vector<std::uint8_t> allows;  ///< by group
  /// By group: the devices that its members may take; empty where devices are alike. The search fills it in.
  std::vector<DeviceMask> usable = {};
  friend bool operator==(const PackingNode&, const PackingNode&) = default;
};
/// What is free on it now, and its capacity when empty; `allows` is left to the caller.
PackingNode node_as_it_is(const Cluster& cluster, NodeId n);
PackingNode node_when_empty(const Cluster& cluster, NodeId n);

class SmallPacking {
 public:
  enum class Outcome : std::uint8_t { kFound, kImpossible, kBudgetSpent };

  SmallPacking(std::vector<PackingNode> nodes, std::span<const PackingGroup> groups)
      : nodes_(std::move(nodes)), groups_(groups) {}

  /// Takes from `steps`, one for each member put on a node; groups are placed in the order given.
  Outcome search(std::uint32_t& steps);
  /// After kFound: the node of each member, by its index in `nodes`, group after group.
  const std::vector<std::uint32_t>& node_of_member() const { return chosen_; }

 private:
  Outcome place(std::size_t group, std::uint32_t placed, std::size_t first_node, std::size_t first_device,
                std::uint32_t& steps);
  Outcome place_on(std::size_t group, std::uint32_t placed, std::size_t node, std::size_t first_device,
                   std::uint32_t& steps);
  bool is_mirror(std::size_t first_node, std::size_t node) const;
  bool have_all_room(std::size_t group) const;
  bool have_unlike_devices() const;

  std::vector<PackingNode> nodes_;
  std::span<const PackingGroup> groups_;
  std::vector<std::uint32_t> chosen_;
};

}  // namespace ashlar
