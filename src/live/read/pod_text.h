// pod_text: the texts about a waiting pod, for conditions, events and `ashlar why`: kube-scheduler's sentence for
// autoscalers, our own wording for the rest. Functions of the tables and the engine's state; counts over all nodes are
// kept in a NodeTally, so that a text costs microseconds while the nodes are unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "live/read/node_tally.h"
#include "live/track/hold_text.h"
#include "live/track/tables.h"
#include "model/plan.h"
#include "state/state.h"

namespace ashlar::kube {

struct TextContext {
  const Tables& tables;
  const State& state;
  Millis now;  ///< of the clock: the state's time stands still while nothing happens
  /// of this state's cluster, and outlives the context; nullptr: counts are kept as long as the context
  NodeTally* kept = nullptr;
  mutable NodeTally own = {};
  bool is_brief = false;  ///< without details that cost a look at all nodes or pods for each reason

  NodeTally& tally() const { return kept == nullptr ? own : *kept; }
};

/// "0/64 nodes are available: 60 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint {team: blue}. ..." for a
/// waiting job, or "QuotaExhausted: queue team uses 8 of its 8 GPUs".
ConditionText verdict_text(const TextContext& context, JobId job, const Verdict& verdict);
/// Of the classes that the constraint accepts, the first that neither the configuration nor a node knows; none if each
/// is known. The text of a job names it.
DeviceClassId unknown_class(const TextContext& context, ConstraintId constraint);
/// True if the anti-affinity of bound pods keeps it off nodes, there is no volume for a claim of its, or volumes are
/// counted for its gang. Then "never fits" means: not until they leave, or a volume comes.
bool waits_for_pods_or_volumes(const TextContext& context, JobId job, const Verdict& verdict);
/// The reasons worth reporting: a pod short of devices is also short of the resource that counts them, which is
/// reported once; one that waits for pods to leave, a volume or a label would fit an empty cluster that has it.
std::vector<Reason> reported_reasons(const TextContext& context, JobId job, const Verdict& verdict);
/// The first of them in our own wording; if the pod would not even fit an empty cluster, with what it is short of, and
/// as of when that was counted ("now"). Empty if there is none.
std::string headline_text(const TextContext& context, JobId job, const std::vector<Reason>& reported,
                          std::string_view counted);
/// "2 Insufficient nvidia.com/gpu, 1 had an untolerated taint", of reasons that count nodes.
std::string refused_text(const TextContext& context, JobId job, std::vector<Reason> refused_by);
/// One reason of the job in our own wording with its numbers as of now, for `why`.
std::string reason_text(const TextContext& context, JobId job, const Reason& reason);

}  // namespace ashlar::kube
