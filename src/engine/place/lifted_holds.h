// lifted_holds: what is held for a job, or kept only after it will have ended, as free capacity in a trial while the
// job is placed.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "engine/place/placement.h"
#include "state/holds/kept.h"
#include "state/trial.h"

namespace ashlar {

/// The placed members of holds that the job may use if it will have ended by then, ascending by node. Cost: O(holds +
/// members of these).
std::vector<MemberId> usable_holds(const State& state, JobId job, Millis late_end);
/// The same on one node.
std::vector<MemberId> usable_holds(const State& state, JobId job, Millis late_end, NodeId node);
/// By when the job will have ended if it starts at that time, or since it has started; max() if that is not known, or
/// no time is given.
Millis late_end_of(const State& state, JobId job, Millis at);

/// A job, and by when it will have ended.
struct HoldUser {
  JobId job;
  Millis late_end = Millis::max();
};
/// What holds keep of the node that the job may use.
std::vector<Allocation> kept_for(const State& state, const HoldUser& user, NodeId node);
/// What those keep of it that the job may not use and that last beyond that time. `without`: as if these steps had
/// placed nothing.
std::vector<Allocation> kept_from(const State& state, const HoldUser& user, Millis beyond, NodeId node,
                                  std::span<const Trial::Step> without = {});

/// Calls `visit(std::span<const MemberId>)` with the members of each node; they stand one node's after the other's.
template <class Visit>
void each_node(const State& state, std::span<const MemberId> placed, Visit&& visit) {
  for (auto next = placed.begin(); next != placed.end();) {
    const NodeId node = state.member(*next).node;
    const auto last = std::find_if(next, placed.end(), [&](MemberId m) { return state.member(m).node != node; });
    visit(std::span<const MemberId>(next, last));
    next = last;
  }
}

/// Members of holds, one node's after the other's, lifted in a trial until they are put back. A rollback to before it
/// does so too. Cost: once for each node.
class LiftedHolds {
 public:
  LiftedHolds(Trial& trial, std::vector<MemberId> members) : trial_(trial), lifted_(std::move(members)) {
    each_node(trial_.state(), lifted_, [&](std::span<const MemberId> here) { trial_.lift(here); });
  }
  void put_back() {
    each_node(trial_.state(), lifted_, [&](std::span<const MemberId> here) { trial_.put_back(here); });
  }

 private:
  Trial& trial_;
  std::vector<MemberId> lifted_;
};

/// Places the job with what is held for it, within the limits that depend on the node: on devices that are held, if its
/// members find a place there, so that others keep the rest; else anywhere. The trial is unchanged on failure. Cost:
/// one or two placements.
PlacementOutcome place_with_holds(const PlacementContext& context, JobId job, const std::vector<MemberId>& usable);

/// Jobs of a class are alike except for what is held for one of them, and for how long they run: the first behind this
/// one that may use other holds if it starts now. One whose own hold makes room for none of its members is passed over.
/// Cost: O(jobs of the class) if any hold begins later.
std::optional<PendingQueue::Head> first_that_may_use_more(const PendingQueue& pending, const State& state,
                                                          const PendingQueue::Head& than, Millis now);
/// Whether any job of the class may use a hold if it starts now. Cost: the same.
bool may_use_holds(const PendingQueue& pending, const State& state, ClassId id, Millis now);
/// Whether the job may use a hold that others of its class may not.
bool may_use_more_than_its_like(const State& state, JobId job, Millis now);

}  // namespace ashlar
