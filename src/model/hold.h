// Hold: capacity of nodes that is kept from jobs for a time, e.g. a maintenance or a reservation by its users. It takes
// the capacity as a running job does, by members without pods, and is gone at its end.
#pragma once

#include <vector>

#include "base/id.h"
#include "base/quantity.h"
#include "model/demand.h"
#include "model/workload.h"

namespace ashlar {

/// What is held of one node, by a member of the hold. No devices named: as many as its demand requests are chosen.
struct HoldPart {
  MemberSpec member;
  NodeId node;
  DeviceMask devices;
  friend bool operator==(const HoldPart&, const HoldPart&) = default;
};

/// `job` and the members of the parts are rows of their own, as those of a job are. Jobs that run on the nodes stay:
/// the hold takes what they leave.
struct Hold {
  JobId job;
  Millis until = Millis::max();  ///< ended by the first decision from then on; max() = by an event only
  std::vector<HoldPart> parts;
  friend bool operator==(const Hold&, const Hold&) = default;
};

}  // namespace ashlar
