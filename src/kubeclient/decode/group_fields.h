// group_fields: which fields the messages of PodGroup have, by name, since PodGroups are read from JSON: those of
// scheduling.k8s.io/v1alpha2 (Kubernetes 1.36) and of v1beta1 (1.37) together. Private to kubeclient.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kubeclient/decode/json_reader.h"

namespace ashlar::kube::json {

/// A field of a message; `holds`: the message that it, or each of its items, is; empty: none that is looked into.
struct GroupField {
  std::string_view message, name, holds;
};

inline constexpr std::string_view kGroupMessage = "PodGroup", kGroupSpecMessage = "PodGroupSpec";

inline constexpr GroupField kGroupFields[] = {
    {"PodGroup", "apiVersion", ""},
    {"PodGroup", "kind", ""},
    {"PodGroup", "metadata", ""},  // ObjectMeta is known from the vendored messages
    {"PodGroup", "spec", "PodGroupSpec"},
    {"PodGroup", "status", "PodGroupStatus"},
    {"PodGroupSpec", "parentCompositePodGroupName", ""},
    {"PodGroupSpec", "podGroupTemplateRef", "PodGroupTemplateReference"},
    {"PodGroupSpec", "workloadRef", "WorkloadReference"},
    {"PodGroupSpec", "schedulingPolicy", "PodGroupSchedulingPolicy"},
    {"PodGroupSpec", "schedulingConstraints", "PodGroupSchedulingConstraints"},
    {"PodGroupSpec", "resourceClaims", "PodGroupResourceClaim"},
    {"PodGroupSpec", "disruptionMode", "DisruptionMode"},
    {"PodGroupSpec", "priorityClassName", ""},
    {"PodGroupSpec", "priority", ""},
    {"PodGroupSpec", "preemptionPolicy", ""},
    {"PodGroupTemplateReference", "workload", "WorkloadPodGroupTemplateReference"},
    {"WorkloadPodGroupTemplateReference", "workloadName", ""},
    {"WorkloadPodGroupTemplateReference", "podGroupTemplateName", ""},
    {"WorkloadReference", "workloadName", ""},
    {"WorkloadReference", "templateName", ""},
    {"PodGroupSchedulingPolicy", "basic", "BasicSchedulingPolicy"},
    {"PodGroupSchedulingPolicy", "gang", "GangSchedulingPolicy"},
    {"GangSchedulingPolicy", "minCount", ""},
    {"PodGroupSchedulingConstraints", "topology", "TopologyConstraint"},
    {"TopologyConstraint", "key", ""},
    {"PodGroupResourceClaim", "name", ""},
    {"PodGroupResourceClaim", "resourceClaimName", ""},
    {"PodGroupResourceClaim", "resourceClaimTemplateName", ""},
    {"DisruptionMode", "single", "SingleDisruptionMode"},
    {"DisruptionMode", "all", "AllDisruptionMode"},
    {"PodGroupStatus", "conditions", "Condition"},
    {"PodGroupStatus", "resourceClaimStatuses", "PodGroupResourceClaimStatus"},
    {"PodGroupResourceClaimStatus", "name", ""},
    {"PodGroupResourceClaimStatus", "resourceClaimName", ""},
    {"Condition", "type", ""},
    {"Condition", "status", ""},
    {"Condition", "observedGeneration", ""},
    {"Condition", "lastTransitionTime", ""},
    {"Condition", "reason", ""},
    {"Condition", "message", ""},
};

/// nullptr: no known version has it.
constexpr const GroupField* group_field(std::string_view message, std::string_view name) {
  for (const GroupField& field : kGroupFields)
    if (field.message == message && field.name == name) return &field;
  return nullptr;
}
/// Whether it is a message of PodGroup, also of one without fields.
constexpr bool is_group_message(std::string_view message) {
  for (const GroupField& field : kGroupFields)
    if (field.message == message || field.holds == message) return true;
  return false;
}

/// "PodGroupSpec.newField": names below a value that is that message, or a list of them, which no known version has.
/// null is no value. Throws simdjson_error.
void find_unknown_members(Value value, std::string_view message, std::vector<std::string>& unknown);

/// Each is noted once, at most UnknownFields::kMost.
void note_unknown_member(std::string_view message, std::string_view name, std::vector<std::string>& unknown);

/// each_field() of a message of PodGroup. `visit` returns whether it has read the value; below the others unknown
/// members are looked for too.
template <class Visit>
void each_known_field(Value value, std::string_view message, std::vector<std::string>& unknown, Visit&& visit) {
  each_field(value, [&](std::string_view key, Value member) {
    const GroupField* field = group_field(message, key);
    if (field == nullptr) {
      if (!is_null(member)) note_unknown_member(message, key, unknown);
    } else if (!visit(key, member) && !field->holds.empty()) {
      find_unknown_members(member, field->holds, unknown);
    }
  });
}

}  // namespace ashlar::kube::json
