// hold_text: why a pod or a gang waits outside the engine, as text, and the condition that reports it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "live/track/tables.h"

namespace ashlar::kube {

/// For comparing conditions without keeping their text; never 0.
std::uint64_t condition_hash(std::string_view reason, std::string_view message);
/// The same for two conditions that differ in numbers only: counts, amounts and times, but not the digits of names.
std::uint64_t condition_words(std::string_view reason, std::string_view message);

/// A condition's reason is one of the API's own tokens, since autoscalers and tools know no others: kUnschedulable if
/// other or more nodes would help (autoscalers add nodes for exactly this), kSchedulerError otherwise; the message then
/// begins with our own reason.
inline constexpr std::string_view kUnschedulable = "Unschedulable";
inline constexpr std::string_view kSchedulerError = "SchedulerError";

/// " (did you mean \"topology.kubernetes.io/zone\"?)": the label of nodes nearest to one that no node has; empty if
/// none is near. O(label keys of nodes).
std::string probable_label(const Tables& t, std::string_view label);
/// The same of a setting that names a topology level, or a label.
std::string probable_level(const Tables& t, std::string_view setting);

/// Why the pod is not shown to the engine.
std::string hold_text(const PodRecord& pod);
/// The token for a condition's reason: the API's SchedulingGated for gates, kUnschedulable where a node with another
/// label would help, else kSchedulerError.
std::string_view hold_reason_token(HoldReason reason);  // for tests
/// Our own reason: "FieldNotEvaluated", "MembersMissing", ...
std::string_view hold_reason_name(HoldReason reason);

struct ConditionText {
  std::string reason, message;
};

/// The condition of a pod that is held, or that waits in a held gang; an empty reason if there is nothing to report.
ConditionText hold_condition(const Tables& t, const PodRecord& pod);
/// The condition of a held gang's PodGroup; an empty reason if the gang is not held.
ConditionText hold_condition(const Tables& t, const GangRecord& gang);

}  // namespace ashlar::kube
