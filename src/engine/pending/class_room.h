// class_room: what a job lacks that a limit on one device class has refused: counted by node and device class, without
// placing it. Cost: O(nodes) for each kind of its members, at most.
#pragma once

#include <cstdint>
#include <span>

#include "engine/pending/pending_queue.h"
#include "engine/place/tables/fit_table.h"
#include "state/state.h"

namespace ashlar {

/// What the members that must start together lack. Their places are counted kind by kind, so kNothing does not mean
/// that all of them together find one; the others are certain.
enum class Lacking : std::uint8_t { kNothing, kQuota, kCapacity };

/// Of members of these kinds, which jobs of the class need. With limits by device class only as many count on the nodes
/// of a class as the limits still admit there. kCapacity: there are too few places even without them.
Lacking lacking_within_class_quota(FitTables& tables, const State& state, const EquivalenceClass& key,
                                   std::span<const MemberRun> needed);

}  // namespace ashlar
