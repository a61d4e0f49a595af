// kept: what holds keep of a node beside the jobs that may use them: those for which they are held, and until they
// begin those that will have ended by then. A hold yields: what a member of such a job has on the node, it has of the
// hold's share first, so that nobody else loses or gains by it, and when the member leaves, the hold has it again.
#pragma once

#include <span>
#include <vector>

#include "model/hold.h"
#include "state/state.h"

namespace ashlar {

/// Whether it is held for this job, or kept only after the job will have ended, if that is by `late_end`.
bool may_use(const State& state, JobId job, const Hold& hold, Millis late_end);
/// The same by Job::ends_by.
inline bool may_use(const State& state, JobId job, const Hold& hold) {
  return may_use(state, job, hold, state.job(job).ends_by);
}

/// What is taken of a node at once, as Cluster::allocate takes it.
struct Allocation {
  Demand demand;
  DeviceMask devices;
};

/// What a member of a hold keeps of its node: several allocations where that are different shares of its devices.
struct Kept {
  MemberId member;
  std::vector<Allocation> allocations;
};

/// What the members of yielding holds keep of the node that are not lifted, by ascending member. `without`: as if these
/// were not placed. Of several holds that a job may use, the one for fewest jobs yields first. Cost: O(members x holds)
/// of the node.
std::vector<Kept> kept_on(const State& state, NodeId node, std::span<const MemberId> without = {});

/// Whether this placed member may have made room for others: its job may use a hold to which the node owed devices that
/// nobody could tell from others, so that all of their kind, or idle ones, were left alone. Now that it is known which
/// one the job has, others may be taken, or shared.
bool tells_devices_apart(const State& state, NodeId node, MemberId placed);

/// Whether a member that others have bound shares a device of a node that owes some, of which nobody knows which: that
/// device is none of them, so more may share it. What is placed here takes no device that may be owed.
bool shares_beside_owed(const State& state, NodeId node, MemberId placed);

/// Cluster::is_overcommitted without what yielding holds keep of the node. O(members x holds) of the node.
bool is_overcommitted(const State& state, NodeId node, const Demand& demand, const DeviceMask& devices);

}  // namespace ashlar
