// What does one say about a pod that waits? The words of conditions, events and `ashlar why`: kube-scheduler's sentence for what autoscalers read,
// our own for the rest. Pure functions over the intake's tables and the engine's state; a text costs O(nodes) where taints must be named, so callers
// keep it per verdict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/live_intake.h"
#include "model/plan.h"
#include "state/state.h"

namespace ashlar::kube {

/// For comparing conditions without keeping their text; never 0.
std::uint64_t condition_hash(std::string_view reason, std::string_view message);

/// Why the pod is not shown to the engine.
std::string hold_text(const PodRecord& pod);
/// The token for a condition's reason; the API's own SchedulerError for fields that are not evaluated, so that no autoscaler adds nodes for them.
std::string_view hold_reason_token(HoldReason reason);
std::string_view hold_reason_name(HoldReason reason);

struct ConditionText {
  std::string reason, message;
};

struct TextContext {
  const LiveIntake& intake;
  const State& state;
};

/// "0/64 nodes are available: 60 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint {team: blue}. ..." for a waiting job.
ConditionText verdict_text(const TextContext& context, JobId job, const Verdict& verdict);
/// One reason in our own words with its numbers, for `why`.
std::string reason_text(const TextContext& context, const Reason& reason);
std::string quota_dimension_text(std::int64_t dimension, std::int64_t amount);
/// "1h12m", "3.2s"
std::string duration_text(Millis duration);

}  // namespace ashlar::kube
