// Why a job waits: every node is counted under the first rule that refuses it, the gang's best domain is named with its room, quota with its limit;
// and whether the job could ever run on this cluster. Cost: O(nodes x rules), computed once per shape and decision, not per job.
#pragma once

#include <vector>

#include "engine/class_view.h"
#include "model/plan.h"
#include "policy/profile.h"
#include "state/state.h"

namespace ashlar {

/// The verdict for a job that was tried and not placed: kWaits or kNeverFits, the binding reason first.
Verdict explain_shortage(State& state, ViewCache& views, const Profile& profile, JobId job, Millis now);

/// A change that would let the job run now, verified by trying it.
struct Remedy {
  enum class Kind : std::uint8_t { kDropWithin, kWidenWithin, kFewerMembers, kFewerCards, kMoreQuota, kFreeCards, kMoreNodes };
  Kind kind = Kind::kMoreNodes;
  std::int64_t amount = 0;                               ///< members, cards, quota units or nodes, by kind
  LevelId level;                                         ///< kWidenWithin: the level that would do
  QueueId queue;                                         ///< kMoreQuota
  QuotaDimension dimension = QuotaDimension::kMilliGpu;  ///< kMoreQuota: what `amount` counts
};
/// The smallest changes found, cheapest first; empty if none of those tried helps. Leaves the state unchanged.
std::vector<Remedy> find_remedies(State& state, ViewCache& views, const Profile& profile, JobId job);

}  // namespace ashlar
