#include "store/words.h"

#include "model/quota.h"
#include "text/device_text.h"

namespace ashlar::store {
namespace {

constexpr std::size_t kMembersInWords = 4;  ///< of a gang; the rest is counted

std::string node_in_words(NodeId node, const NameTable& names) { return names.of({NameKind::kNode, node.value}); }

/// The share of each device is named where it is not a whole one.
std::string one_placement(const Bind& bind, const NameTable& names) {
  std::string text = node_in_words(bind.node, names);
  if (bind.devices.is_empty()) return text;
  const bool is_share = bind.each.milli.value > 0 && bind.each.milli.value < kWholeDevice;
  return text + " gpu " + (is_share ? grants_text(grants_of(bind.devices, bind.each)) : device_ranges(bind.devices));
}

/// What a limit counts beside the dimensions, as in ashlar.yaml: " nvidia.com/gpu@H100".
std::string counted_in_words(const Reason& reason, const NameTable& names) {
  const QuotaKey key = quota_key(reason.numbers[0]);
  if (reason.numbers[0] < static_cast<std::int64_t>(kQuotaDimensions)) return {};
  std::string text = key.resource.is_none() ? std::string(" nvidia.com/gpu")
                                            : " " + names.of({NameKind::kResource, key.resource.value});
  if (!key.device_class.is_none()) text += "@" + names.of({NameKind::kModel, key.device_class.value});
  return text;
}

/// The object of a reason, if it has a name here.
std::string subject_in_words(const Reason& reason, const NameTable& names) {
  const ReasonSubject subject = row_of(reason.code).subject;
  if (subject == ReasonSubject::kResource) return " " + names.of({NameKind::kResource, reason.subject});
  if (subject == ReasonSubject::kLevel) return " " + names.of({NameKind::kLevel, reason.subject});
  if (subject == ReasonSubject::kCapability) return " " + names.of({NameKind::kCapability, reason.subject});
  if (subject == ReasonSubject::kQueue)
    return " " + names.of({NameKind::kQueue, reason.subject}) + counted_in_words(reason, names);
  return {};
}

std::string reason_in_words(const Reason& reason, const NameTable& names) {
  std::string text(reason_name(reason.code));
  text += subject_in_words(reason, names) + " (";
  for (std::size_t i = 0; i < reason.numbers.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(reason.numbers[i]);
  return text + ")";
}

}  // namespace

std::string job_in_words(JobId job, const NameTable& names) { return names.of({NameKind::kJob, job.value}); }

std::string placement_in_words(const std::vector<Bind>& binds, const NameTable& names) {
  std::string text;
  for (std::size_t i = 0; i < binds.size() && i < kMembersInWords; ++i)
    text += (i == 0 ? "" : ", ") + one_placement(binds[i], names);
  if (binds.size() > kMembersInWords) text += ", ... (" + std::to_string(binds.size()) + " members)";
  return text;
}

std::string verdict_in_words(const Verdict& verdict, const NameTable& names) {
  std::string text(verdict_name(verdict.kind));
  for (std::size_t i = 0; i < verdict.reasons.size(); ++i)
    text += (i == 0 ? ": " : "; ") + reason_in_words(verdict.reasons[i], names);
  if (verdict.wake_on != WakeOn::kNothing) text += ", wakes on " + std::string(wake_name(verdict));
  return text;
}

std::string action_in_words(const Action& action, const NameTable& names) {
  if (const auto* bind = std::get_if<Bind>(&action)) {
    const NameKey member{NameKind::kMember, bind->member.value};
    const std::string who =
        names.has(member) ? job_in_words(bind->job, names) + " " + names.of(member) : job_in_words(bind->job, names);
    return "bind " + who + " to " + one_placement(*bind, names);
  }
  const auto& evict = std::get<Evict>(action);
  const std::string who = evict.member.is_none() ? "" : " " + names.of({NameKind::kMember, evict.member.value});
  const std::string for_whom = evict.for_job.is_none() ? "" : " for " + job_in_words(evict.for_job, names);
  const std::string reason =
      evict.reason == StopReason::kNone ? "" : ": " + std::string(stop_reason_name(evict.reason));
  return "evict " + job_in_words(evict.job, names) + who + " with " + std::to_string(evict.grace.value) +
         " ms of grace" + for_whom + reason;
}

}  // namespace ashlar::store
