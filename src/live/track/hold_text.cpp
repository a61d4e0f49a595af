#include "live/track/hold_text.h"

#include <algorithm>

#include "base/digest.h"
#include "live/track/gangs/gang_hold.h"
#include "live/track/pods/awaits_resource.h"
#include "text/nearest_name.h"

namespace ashlar::kube {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

/// "60", "0/64", "(3", "80GiB", "1h30m,"; not "rack-007" or "7b-llama".
bool is_number(std::string_view word) {
  constexpr int kUnitMax = 3;  // letters: GiB, min
  int letters = 0;
  bool has_digit = false;
  for (const char c : word) {
    letters = is_letter(c) ? letters + 1 : 0;
    if (letters > (has_digit ? kUnitMax : 0)) return false;
    has_digit = has_digit || is_digit(c);
  }
  return has_digit;
}

std::string probably_meant(const Tables& t, std::string_view name, std::vector<PooledString> known) {
  for (const auto& [label, nodes] : t.node_labels) known.push_back(label);
  std::erase_if(known, [&](const PooledString& label) { return label.view() == name; });
  std::ranges::sort(known, is_name_before);
  const std::string meant = suggestion(name, std::vector<std::string_view>(known.begin(), known.end()));
  return meant.empty() ? meant : " (" + meant.substr(2) + ")";
}

}  // namespace

std::string probable_label(const Tables& t, std::string_view label) { return probably_meant(t, label, {}); }

std::string probable_level(const Tables& t, std::string_view setting) {
  std::vector<PooledString> levels;
  for (const LevelName& level : t.names.levels()) levels.push_back(level.name);
  return probably_meant(t, setting, std::move(levels));
}

std::uint64_t condition_words(std::string_view reason, std::string_view message) {
  std::uint64_t h = hash_bytes(reason.data(), reason.size());
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t end = std::min(message.find(' ', at), message.size());
    const std::string_view word = message.substr(at, end - at);
    const bool skips = is_number(word);
    for (const char& c : word)
      if (!skips || !(is_digit(c) || c == '.')) h = hash_bytes(&c, 1, h);
    const char separator = skips ? '#' : ' ';
    h = hash_bytes(&separator, 1, h);
    at = end + 1;
  }
  return h;
}

std::uint64_t condition_hash(std::string_view reason, std::string_view message) {
  const std::uint64_t h = hash_bytes(message.data(), message.size(), hash_bytes(reason.data(), reason.size()));
  return h == 0 ? 1 : h;
}

std::string hold_text(const PodRecord& pod) {
  std::string detail = pod.hold_detail.str();
  switch (pod.hold) {
    case HoldReason::kNone:
      return {};
    case HoldReason::kGated:
      return "the pod has scheduling gates" +
             (detail.empty() ? detail : " (" + detail + ") and waits until they are removed");
    case HoldReason::kDeleting:
      return "the pod is being deleted";
    case HoldReason::kUnsupported:
      return detail +
             " is not evaluated by Ashlar, so the pod is not placed: remove the field or use another scheduler" +
             (awaits_resource(pod) ? ", or wait until a node has it" : "");
    case HoldReason::kUnknownField:
      return "the pod's spec has what this release of Ashlar does not know (" + detail +
             "), so the pod is not placed: use a newer release or another scheduler; an administrator may list it in "
             "acceptUnknownFields";
    case HoldReason::kMalformed:
    case HoldReason::kQueueForbidden:
    case HoldReason::kTermsFull:
      return detail;
    case HoldReason::kQueueUnknown:
      return "queue " + detail + " is not configured; `ashlar queue` lists the configured queues";
    case HoldReason::kQuarantined:
      return detail;
    case HoldReason::kBindFailed:
      return "the pod is not bound yet; the binding is retried later: " + detail;
    case HoldReason::kUnreadable:
      return "the pod cannot be read: " + detail;
    case HoldReason::kForeign:
      return "another scheduler's pod (" + detail + ")";
    case HoldReason::kVolumesUnreadable:
      return "what the pod's volumes need is not known: " + detail;
    case HoldReason::kVolumes:
    case HoldReason::kMembersMissing:
    case HoldReason::kGroupMissing:
    case HoldReason::kGroupsUnreadable:
    case HoldReason::kGroupRefused:
    case HoldReason::kNoSuchDomain:
      return detail;
  }
  return detail;
}

std::string_view hold_reason_token(HoldReason reason) {
  if (reason == HoldReason::kNoSuchDomain || reason == HoldReason::kVolumes) return kUnschedulable;
  return reason == HoldReason::kGated ? "SchedulingGated" : kSchedulerError;
}

namespace {

ConditionText hold_in_words(const Tables& t, HoldReason reason, const std::string& text) {
  const bool is_unschedulable = hold_reason_token(reason) == kUnschedulable;
  const std::string nodes = std::to_string(t.names.nodes.size());
  const std::string first =
      is_unschedulable ? "0/" + nodes + " nodes are available" : std::string(hold_reason_name(reason));
  const bool counts_nodes = text.starts_with("node(s)");
  return {std::string(hold_reason_token(reason)),
          first + ": " + (counts_nodes ? nodes + " " : "") + text + (is_unschedulable ? "." : "")};
}

}  // namespace

ConditionText hold_condition(const Tables& t, const PodRecord& pod) {
  if (pod.phase == PodRecord::Phase::kHeld) {
    const bool is_worth_saying = pod.hold == HoldReason::kUnsupported || pod.hold == HoldReason::kUnknownField ||
                                 pod.hold == HoldReason::kMalformed || pod.hold == HoldReason::kUnreadable ||
                                 pod.hold == HoldReason::kQueueUnknown || pod.hold == HoldReason::kQueueForbidden ||
                                 pod.hold == HoldReason::kTermsFull || pod.hold == HoldReason::kQuarantined ||
                                 pod.hold == HoldReason::kBindFailed || pod.hold == HoldReason::kVolumes ||
                                 pod.hold == HoldReason::kVolumesUnreadable;
    return is_worth_saying ? hold_in_words(t, pod.hold, hold_text(pod)) : ConditionText{};
  }
  if (pod.phase != PodRecord::Phase::kWaiting || pod.gang == kNoGang) return {};
  const Hold hold = gang_hold(t, t.gangs[pod.gang]);
  return hold.reason == HoldReason::kNone ? ConditionText{} : hold_in_words(t, hold.reason, hold.detail);
}

ConditionText hold_condition(const Tables& t, const GangRecord& gang) {
  const Hold hold = gang_hold(t, gang);
  if (hold.reason == HoldReason::kNone) return {};
  return hold_in_words(t, hold.reason, hold.detail);
}

std::string_view hold_reason_name(HoldReason reason) {
  switch (reason) {
    case HoldReason::kNone:
      return "None";
    case HoldReason::kGated:
      return "AdmissionGated";
    case HoldReason::kDeleting:
      return "Deleting";
    case HoldReason::kUnsupported:
      return "FieldNotEvaluated";
    case HoldReason::kUnknownField:
      return "FieldUnknown";
    case HoldReason::kMalformed:
      return "Misconfigured";
    case HoldReason::kQueueUnknown:
      return "QueueUnknown";
    case HoldReason::kQueueForbidden:
      return "QueueForbidden";
    case HoldReason::kTermsFull:
      return "TermsFull";
    case HoldReason::kQuarantined:
      return "Quarantined";
    case HoldReason::kBindFailed:
      return "BindFailed";
    case HoldReason::kUnreadable:
      return "Unreadable";
    case HoldReason::kForeign:
      return "OtherScheduler";
    case HoldReason::kVolumes:
      return "VolumesNotReady";
    case HoldReason::kVolumesUnreadable:
      return "VolumesUnreadable";
    case HoldReason::kMembersMissing:
      return "MembersMissing";
    case HoldReason::kGroupMissing:
      return "PodGroupMissing";
    case HoldReason::kGroupsUnreadable:
      return "PodGroupsUnreadable";
    case HoldReason::kGroupRefused:
      return "GangHeld";
    case HoldReason::kNoSuchDomain:
      return "NoSuchDomain";
  }
  return "None";
}

}  // namespace ashlar::kube
