// SmallPacking: whether unlike members fit on a few nodes together, and where. Exact, by trying every combination that
// is not the mirror of one tried before, within a counted budget: resources, whole devices, shares of devices with
// their memory, unlike devices by kind, host ports, allowed nodes, groups that must share a domain. For at most
// kPackingNodesMax nodes; easy cases cost O(members x nodes).
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
  static constexpr std::uint32_t kAnyDomain = UINT32_MAX;
  const Demand* demand = nullptr;
  std::uint32_t members = 0;
  const Constraint* constraint = nullptr;  ///< needed where a node's devices are not all alike
  /// Groups with the same number go to one domain, which the search chooses: PackingNode::domains by this number.
  std::uint32_t choice = kAnyDomain;
};

/// The capacity of one node.
struct PackingNode {
  std::vector<std::int64_t> free;          ///< by ResourceId
  std::vector<std::int32_t> milli;         ///< by device
  std::vector<std::int64_t> mib;           ///< by device
  DeviceMemories full_mib;                 ///< of each device; 0 = not known, not checked
  const DeviceClasses* classes = nullptr;  ///< needed where its devices are not all alike
  std::int32_t idle_devices = 0;           ///< at most this many of the idle devices may be taken
  std::vector<HostPort> ports;             ///< taken
  std::vector<std::uint8_t> allows;        ///< by group; a node without a domain for its choice is not allowed
  std::vector<DomainId> domains = {};      ///< by PackingGroup::choice
  std::vector<DeviceMask> kinds = {};      ///< the devices of each kind; none where all are alike
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

  /// Takes from `steps`, one for each member put on a node, more where that has many kinds of devices; groups are
  /// placed in the order given.
  Outcome search(std::uint32_t& steps);
  /// After kFound: the node of each member, by its index in `nodes`, group after group.
  const std::vector<std::uint32_t>& node_of_member() const { return chosen_; }
  /// After kFound: the devices of each member on a node whose devices are not all alike. Those that a policy would
  /// choose there might leave none of the right kind to the others.
  const std::vector<DeviceMask>& devices_of_member() const { return devices_; }

 private:
  /// The next member to place, and where the like one before it went: members that are alike need not be tried in both
  /// orders.
  struct Turn {
    std::size_t group = 0;
    std::uint32_t placed = 0;  ///< members of the group before it
    std::size_t node = 0, device = 0;
    std::vector<std::int32_t> counts = {};  ///< devices of each kind of that node that it took
  };
  /// Whole devices of a node that are being chosen, kind by kind.
  struct Choice {
    std::span<const std::int32_t> idle_from;  ///< by kind: idle devices to take of it and of those behind it; then 0
    std::int32_t missing = 0;
    bool is_as_before = false;  ///< so far the same as those of the member before
    DeviceMask devices = {};
    std::vector<std::int32_t> counts = {};  ///< by kind
  };
  Outcome place(const Turn& turn, std::uint32_t& steps);
  Outcome place_on(const Turn& turn, std::size_t node, std::uint32_t& steps);
  Outcome place_by_kind(const Turn& turn, std::size_t node, const Choice& choice, std::uint32_t& steps);
  Outcome place_there(const Turn& next, const DeviceMask& devices, std::uint32_t& steps);
  bool is_mirror(std::size_t first_node, std::size_t node) const;
  bool have_all_room(std::size_t group) const;
  std::uint64_t room_of(std::size_t group) const;
  /// The domain that is chosen for the group, if any is yet.
  DomainId* choice_of(std::size_t group);
  bool is_in_its_domain(std::size_t group, std::size_t node) const;

  std::vector<PackingNode> nodes_;
  std::span<const PackingGroup> groups_;
  std::vector<std::uint32_t> chosen_;
  std::vector<DeviceMask> devices_;
  std::vector<DomainId> domains_;  ///< by PackingGroup::choice; none = not chosen yet
};

}  // namespace ashlar
