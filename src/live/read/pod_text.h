// pod_text: what is said about a pod that waits: the words of conditions, events and `ashlar why`: kube-scheduler's sentence for what autoscalers
// read, our own for the rest. Functions of the tracker's tables and the engine's state; what they count over all nodes is kept in a NodeTally, so
// that a text costs microseconds where the nodes stand as they stood.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "live/read/node_tally.h"
#include "live/track/hold_text.h"
#include "live/track/tracker.h"
#include "model/plan.h"
#include "state/state.h"

namespace ashlar::kube {

struct TextContext {
  const Tracker& tracker;
  const State& state;
  Millis now;                 ///< of the clock: the state's time stands still while nothing happens
  NodeTally* kept = nullptr;  ///< of this state's cluster, and outlives the context; nullptr: what is counted is kept as long as the context
  mutable NodeTally own = {};

  NodeTally& tally() const { return kept == nullptr ? own : *kept; }
};

/// "0/64 nodes are available: 60 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint {team: blue}. ..." for a waiting job, or
/// "QuotaExhausted: queue team uses 8 GPU of its 8 GPU".
ConditionText verdict_text(const TextContext& context, JobId job, const Verdict& verdict);
/// Is it kept off nodes by the anti-affinity of pods there? Then "never fits" means: not as long as they stay.
bool waits_for_company_to_leave(const Verdict& verdict);
/// The reasons worth telling: a pod short of devices is short of the resource that counts them too, which is said once; what waits for pods to leave, or
/// for a label, would fit an empty cluster that has it.
std::vector<Reason> told_reasons(const TextContext& context, const Verdict& verdict);
/// The first of them in our own words; what would not even fit an empty cluster comes with what it is short of. Empty where there is none.
std::string headline_text(const TextContext& context, const std::vector<Reason>& told);
/// One reason in our own words with its numbers as of now, for `why`.
std::string reason_text(const TextContext& context, const Reason& reason);

}  // namespace ashlar::kube
