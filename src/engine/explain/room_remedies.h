// room_remedies: devices of other jobs that, if they were free, and empty nodes that, if they were there, would let a
// waiting job start. A gang of groups needs them by group, each in one domain of its own. Cost: O(nodes x members)
// beside the tries of the rehearsal.
#pragma once

#include <span>
#include <vector>

#include "engine/explain/explain.h"
#include "engine/explain/rehearsal.h"

namespace ashlar {

/// The fewest devices found.
void add_free_devices(Rehearsal& r, const Profile& profile, std::vector<Remedy>& out);
/// The fewest nodes found. `names`: labels that name a single node, which a new one would not have.
void add_more_nodes(Rehearsal& r, const Profile& profile, std::span<const LabelKeyId> names, std::vector<Remedy>& out);

}  // namespace ashlar
