// hold_text: why a pod or a gang waits outside the engine, in words, and the condition that says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// For comparing conditions without keeping their text; never 0.
std::uint64_t condition_hash(std::string_view reason, std::string_view message);

/// A condition's reason is one of the API's own words, since autoscalers and tools know no others: kUnschedulable where other or more nodes would
/// help (autoscalers add nodes for exactly this), kSchedulerError for everything else; the message begins with our own word then.
inline constexpr std::string_view kUnschedulable = "Unschedulable";
inline constexpr std::string_view kSchedulerError = "SchedulerError";

/// Why the pod is not shown to the engine.
std::string hold_text(const PodRecord& pod);
/// The token for a condition's reason: the API's SchedulingGated for gates, kUnschedulable where a node with another label would help, else kSchedulerError.
std::string_view hold_reason_token(HoldReason reason);  // for tests
/// Our own word for it: "FieldNotEvaluated", "MembersMissing", ...
std::string_view hold_reason_name(HoldReason reason);

struct ConditionText {
  std::string reason, message;
};

/// What to say on a pod that is held, or that waits in a gang that is; an empty reason where there is nothing to say.
ConditionText hold_condition(const TrackerData& t, const PodRecord& pod);
/// What to say on the PodGroup of a gang that is held; an empty reason where it is not.
ConditionText hold_condition(const TrackerData& t, const GangRecord& gang);

}  // namespace ashlar::kube
