// room_on_freed: whether the nodes freed before a decision, or opened by rules about other pods, mean room for a parked
// class: one of them could take a member, and there are places for all that must start together.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/data.h"

namespace ashlar {

/// Whether this node could take one such member now; `is_of_several`: other members are placed with it, which may open
/// the node to it by its rules about other pods.
bool could_take(State& state, const Profile& profile, const MemberRun& run, NodeId n, bool is_of_several);
/// Whether the node could take a member of any of these kinds, which are placed together.
bool could_take_any(State& state, const Profile& profile, std::span<const MemberRun> runs, NodeId n);
/// Whether the node might have as many devices free; one may be shared.
bool has_devices_free(const Cluster& cluster, std::int64_t devices, NodeId n);
/// The first waiting members of the class that must start together, by kind; where these are a choice, as many of each
/// kind as may be among them.
std::vector<MemberRun> needed_runs(const EquivalenceClass& key);
/// How many members the idle devices allow in one domain, whatever else the members ask: a bound that is found once for
/// all kinds of members of as many devices, and needs no table. Cost: O(nodes) for each level asked for.
class IdleDevices {
 public:
  /// Of members of `devices` each.
  IdleDevices(const Cluster& cluster, std::int64_t devices) : cluster_(cluster), devices_(devices) {}
  /// False if the members that the class needs, of whole devices, cannot all be placed.
  bool may_be_enough(const State& state, const EquivalenceClass& key);

 private:
  std::uint64_t most_in_one(LevelId within) const;

  const Cluster& cluster_;
  std::int64_t devices_;
  std::map<LevelId, std::uint64_t> most_;  ///< by level; none: all nodes together
};
/// Whether a class of like members has as many places as must start together, if any of the freed nodes can take one.
/// `devices` is of members of as many devices.
bool has_room_with_freed(EngineData& e, const State& state, const EquivalenceClass& key,
                         IdleDevices* devices = nullptr);
/// Whether a class of like members has room that one of these nodes has part of.
bool has_room_on_freed(EngineData& e, State& state, std::span<const NodeId> freed, const EquivalenceClass& key);
/// Whether a node that the class's rules about other pods leave open may take its only member. True of a class of
/// several, which may open nodes to each other, and where a job may have more room than what is free: it outranks
/// nominations, or something is held for it. Cost: a few comparisons for each open node.
bool has_room_where_open(State& state, const Profile& profile, const EquivalenceClass& key);
/// Whether the freed nodes could take a member of any kind, and all kinds have room, or enough members of any.
bool are_parts_helped(EngineData& e, State& state, std::span<const NodeId> freed, const EquivalenceClass& key);

}  // namespace ashlar
