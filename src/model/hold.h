// Hold: capacity of nodes that is kept from jobs for a time, e.g. a maintenance, or a reservation for its users. It
// takes the capacity as a running job does, by members without pods, and is gone at its end. Jobs for which it is held
// may run there, and it takes what they leave.
#pragma once

#include <cstdint>
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

/// For whom capacity is held: the jobs of a queue and of those below it, or one job. Neither: for nobody.
struct HoldOwner {
  QueueId queue;
  JobId job;  ///< which may be submitted later; with its end the hold ends too
  bool is_nobody() const { return queue.is_none() && job.is_none(); }
  friend bool operator==(const HoldOwner&, const HoldOwner&) = default;
};

/// An owner as a number of a reason, and back: 0 nobody, odd a queue, even a job.
inline std::int64_t owner_number(const HoldOwner& owner) {
  if (!owner.job.is_none()) return 2 * (std::int64_t{owner.job.value} + 1);
  return owner.queue.is_none() ? 0 : 2 * std::int64_t{owner.queue.value} + 1;
}
inline HoldOwner owner_of_number(std::int64_t number) {
  HoldOwner owner;
  if (number % 2 != 0)
    owner.queue = QueueId(static_cast<std::uint32_t>(number / 2));
  else if (number > 0)
    owner.job = JobId(static_cast<std::uint32_t>(number / 2 - 1));
  return owner;
}

/// `job` and the members of the parts are rows of their own, as those of a job are. Jobs that run on the nodes stay:
/// the hold takes what they leave.
struct Hold {
  JobId job;
  Millis until = Millis::max();  ///< ended by the first decision from then on; max() = by an event only
  std::vector<HoldPart> parts;
  HoldOwner owner = {};
  /// Kept from then on: until then jobs may run there that will have ended by it. 0: from the event on.
  Millis from = {};
  /// Whether some jobs may use what is held.
  bool yields() const { return !owner.is_nobody() || is_later(); }
  bool is_later() const { return from > Millis(0); }
  friend bool operator==(const Hold&, const Hold&) = default;
};

}  // namespace ashlar
