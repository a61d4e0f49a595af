#include "live/read/pod_text.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "base/digest.h"
#include "state/cluster/cluster.h"

namespace ashlar::kube {
namespace {

/// Reasons for which more or other nodes would help: autoscalers act on exactly these.
bool is_about_nodes(ReasonCode code) {
  switch (code) {
    case ReasonCode::kInsufficientResource:
    case ReasonCode::kInsufficientGpu:
    case ReasonCode::kInsufficientGpuMemory:
    case ReasonCode::kModelMismatch:
    case ReasonCode::kSelectorMismatch:
    case ReasonCode::kTaintNotTolerated:
    case ReasonCode::kNotReady:
    case ReasonCode::kPortTaken:
    case ReasonCode::kNominatedElsewhere:
    case ReasonCode::kTopologyFragmented:
    case ReasonCode::kGangPartial:
    case ReasonCode::kNoSuchDomain:
    case ReasonCode::kExceedsCluster:
    case ReasonCode::kNoNodes:
    case ReasonCode::kLimitReached:
      return true;
    default:
      return false;
  }
}

/// Live nodes by the first taint that the constraint does not tolerate, in words.
std::map<std::string, std::int64_t> untolerated(const TextContext& c, ConstraintId id) {
  std::map<std::string, std::int64_t> counts;
  const Cluster& cluster = c.state.cluster;
  for (const NodeTally::Tainted& tainted : c.tally().untolerated(cluster, cluster.constraint(id))) {
    const PooledString key = c.tracker.names().label_keys.name(tainted.taint.key);
    const std::string pair = c.tracker.names().label_text(tainted.taint.value);
    const std::string value = pair.substr(std::min(pair.size(), key.view().size() + 1));
    if (key == kUnschedulableTaint)
      counts["node(s) were unschedulable"] += tainted.nodes;
    else
      counts["node(s) had untolerated taint {" + key.str() + ": " + value + "}"] += tainted.nodes;
  }
  return counts;
}

/// Of the nodes that do not match the selector: those that only the anti-affinity of pods there takes away.
std::int64_t company_of(const TextContext& c, const Reason& r) {
  return std::min(c.tally().refused_company(c.state.cluster, ConstraintId(r.subject)), r.numbers[0]);
}

/// By name: where no node has a device there is no column that counts devices.
std::string gpu_resource_of(const TextContext& c, DemandId demand) {
  const auto is_milli = [&](const ResourceAmount& a) { return a.amount > 0 && c.tracker.names().resource_name(a.resource) == kGpuMilliResource; };
  const bool is_share = demand.row() < c.state.demand_rows() && std::ranges::any_of(c.state.demand(demand).amounts, is_milli);
  return std::string(is_share ? kGpuMilliResource : kGpuResource);
}

constexpr std::string_view kWouldDelay = "there may be room for it, but starting it now would delay a job ahead of it";
const std::string kAffinityWords = "node(s) didn't match Pod's node affinity/selector";

/// Nodes by kube-scheduler's words for what refused them.
std::map<std::string, std::int64_t> histogram(const TextContext& c, const Verdict& verdict) {
  std::map<std::string, std::int64_t> counts;
  for (const Reason& r : told_reasons(c, verdict)) {
    switch (r.code) {
      case ReasonCode::kInsufficientResource:
        counts["Insufficient " + c.tracker.names().resource_name(ResourceId(r.subject)).str()] += r.numbers[0];
        break;
      case ReasonCode::kInsufficientGpu:
        counts["Insufficient " + gpu_resource_of(c, DemandId(r.subject))] += r.numbers[0];
        break;
      case ReasonCode::kInsufficientGpuMemory:
        counts["Insufficient GPU memory"] += r.numbers[0];
        break;
      case ReasonCode::kModelMismatch:
        counts[kAffinityWords] += r.numbers[0];
        break;
      case ReasonCode::kSelectorMismatch: {
        const std::int64_t company = company_of(c, r);
        if (company > 0) counts["node(s) didn't satisfy existing pods anti-affinity rules"] += company;
        if (company < r.numbers[0]) counts[kAffinityWords] += r.numbers[0] - company;
        break;
      }
      case ReasonCode::kNotReady:  // nodes that say so themselves have a taint; these are closed by us
        counts["node(s) were closed by the scheduler"] += r.numbers[0];
        break;
      case ReasonCode::kPortTaken:
        counts["node(s) didn't have free ports for the requested pod ports"] += r.numbers[0];
        break;
      case ReasonCode::kNominatedElsewhere:
        counts["node(s) are held for nominated pods"] += r.numbers[0];
        break;
      case ReasonCode::kTaintNotTolerated:
        counts.merge(untolerated(c, ConstraintId(r.subject)));
        break;
      default:
        break;
    }
  }
  return counts;
}

std::string availability(const TextContext& c, const Verdict& verdict) {
  const std::size_t nodes = c.state.cluster.live_count();
  if (nodes == 0) return "no nodes available to schedule pods";
  std::vector<std::string> parts;
  for (const auto& [words, count] : histogram(c, verdict)) parts.push_back(std::to_string(count) + " " + words);
  std::sort(parts.begin(), parts.end());
  std::string text = "0/" + std::to_string(nodes) + " nodes are available";
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? ": " : ", ") + parts[i];
  return text + ".";
}

}  // namespace

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
      return "the pod has scheduling gates";
    case HoldReason::kDeleting:
      return "the pod is being deleted";
    case HoldReason::kUnsupported:
      return detail + " is not evaluated by Ashlar; the pod is not placed rather than placed wrongly: leave the field out, or name another scheduler";
    case HoldReason::kMalformed:
      return detail;
    case HoldReason::kQueueUnknown:
      return "queue " + detail + " is not configured; `ashlar queue` lists those that are";
    case HoldReason::kQuarantined:
      return detail;
    case HoldReason::kBindFailed:
      return "the API server did not bind the pod, which is tried again later: " + detail;
    case HoldReason::kUnreadable:
      return "the pod cannot be read: " + detail;
    case HoldReason::kForeign:
      return "another scheduler's pod (" + detail + ")";
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
  if (reason == HoldReason::kNoSuchDomain) return kUnschedulable;
  return reason == HoldReason::kGated ? "SchedulingGated" : kSchedulerError;
}

namespace {

ConditionText hold_in_words(const Tracker& tracker, HoldReason reason, const std::string& text) {
  const bool would_nodes_help = reason == HoldReason::kNoSuchDomain;
  const std::string first =
      would_nodes_help ? "0/" + std::to_string(tracker.names().nodes.size()) + " nodes are available" : std::string(hold_reason_name(reason));
  return {std::string(hold_reason_token(reason)), first + ": " + text + (would_nodes_help ? "." : "")};
}

}  // namespace

ConditionText hold_condition(const Tracker& tracker, const PodRecord& pod) {
  if (pod.phase == PodRecord::Phase::kHeld) {
    const bool is_worth_saying = pod.hold == HoldReason::kUnsupported || pod.hold == HoldReason::kMalformed || pod.hold == HoldReason::kUnreadable ||
                                 pod.hold == HoldReason::kQueueUnknown || pod.hold == HoldReason::kQuarantined || pod.hold == HoldReason::kBindFailed;
    return is_worth_saying ? hold_in_words(tracker, pod.hold, hold_text(pod)) : ConditionText{};
  }
  if (pod.phase != PodRecord::Phase::kWaiting || pod.gang == kNoGang) return {};
  const Hold hold = tracker.gang_hold(tracker.gangs()[pod.gang]);
  return hold.reason == HoldReason::kNone ? ConditionText{} : hold_in_words(tracker, hold.reason, hold.detail);
}

ConditionText hold_condition(const Tracker& tracker, const GangRecord& gang) {
  const Hold hold = tracker.gang_hold(gang);
  if (hold.reason == HoldReason::kNone) return {};
  return hold_in_words(tracker, hold.reason, hold.detail);
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
    case HoldReason::kMalformed:
      return "Misconfigured";
    case HoldReason::kQueueUnknown:
      return "QueueUnknown";
    case HoldReason::kQuarantined:
      return "Quarantined";
    case HoldReason::kBindFailed:
      return "BindFailed";
    case HoldReason::kUnreadable:
      return "Unreadable";
    case HoldReason::kForeign:
      return "OtherScheduler";
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

std::string quota_dimension_text(std::int64_t dimension, std::int64_t amount) {
  char text[64];
  switch (static_cast<QuotaDimension>(dimension)) {
    case QuotaDimension::kMilliGpu:
      if (amount % 1000 == 0)
        std::snprintf(text, sizeof text, "%lld GPU", static_cast<long long>(amount / 1000));
      else
        std::snprintf(text, sizeof text, "%.3f GPU", static_cast<double>(amount) / 1000);
      return text;
    case QuotaDimension::kMilliCores:
      std::snprintf(text, sizeof text, amount == 1000 ? "%.6g core" : "%.6g cores", static_cast<double>(amount) / 1000);
      return text;
    case QuotaDimension::kMemoryBytes:
      std::snprintf(text, sizeof text, "%.6g GiB", static_cast<double>(amount) / (1 << 30));
      return text;
  }
  return std::to_string(amount);
}

std::string amount_text(ResourceId resource, std::int64_t amount) {
  if (resource == resource::kCpu) return quota_dimension_text(static_cast<std::int64_t>(QuotaDimension::kMilliCores), amount);
  if (resource == resource::kMemory || resource == resource::kEphemeralStorage)
    return quota_dimension_text(static_cast<std::int64_t>(QuotaDimension::kMemoryBytes), amount);
  return std::to_string(amount);
}

std::string duration_text(Millis duration) {
  char text[64];
  const long long ms = static_cast<long long>(duration.value);
  if (ms < 1000)
    std::snprintf(text, sizeof text, "%lldms", ms);
  else if (ms < 60'000)
    std::snprintf(text, sizeof text, "%.1fs", static_cast<double>(ms) / 1000);
  else if (ms < 3'600'000)
    std::snprintf(text, sizeof text, "%lldm%02llds", ms / 60'000, ms / 1000 % 60);
  else if (ms < 172'800'000)
    std::snprintf(text, sizeof text, "%lldh%02lldm", ms / 3'600'000, ms / 60'000 % 60);
  else
    std::snprintf(text, sizeof text, "%lldd%lldh", ms / 86'400'000, ms / 3'600'000 % 24);
  return text;
}

namespace {

std::string node_count(std::int64_t count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

std::string selector_text(const TextContext& c, const Reason& r) {
  const std::int64_t company = company_of(c, r);
  const std::int64_t others = r.numbers[0] - company;
  std::string of_company = node_count(company) + (company == 1 ? " is" : " are") + " refused by the anti-affinity of pods there";
  if (company > 0 && others == 0) return of_company;
  return node_count(others) + (others == 1 ? " does" : " do") + " not match the node selector or affinity" + (company > 0 ? ", " + of_company : "");
}

}  // namespace

std::string reason_text(const TextContext& c, const Reason& r) {
  const auto n = [&](int i) { return std::to_string(r.numbers[static_cast<std::size_t>(i)]); };
  const ObjectNames& names = c.tracker.names();
  const auto nodes = [&](const char* of_one, const char* of_many) { return node_count(r.numbers[0]) + " " + (r.numbers[0] == 1 ? of_one : of_many); };
  const auto members = [&] { return n(0) + " of " + n(1) + (r.numbers[1] == 1 ? " member" : " members"); };
  const auto gpus = [&](int i) { return quota_dimension_text(0, r.numbers[static_cast<std::size_t>(i)]); };
  const LevelId level(r.subject);  // where the reason is about one
  switch (r.code) {
    case ReasonCode::kInsufficientResource: {
      const ResourceId resource(r.subject);
      return nodes("is", "are") + " short of " + names.resource_name(resource).str() + ": at most " + amount_text(resource, r.numbers[1]) +
             " free on one, " + amount_text(resource, r.numbers[2]) + " asked";
    }
    case ReasonCode::kInsufficientGpu:
      return nodes("is", "are") + " short of cards: at most " + gpus(1) + " free on one, " + gpus(2) + " asked";
    case ReasonCode::kInsufficientGpuMemory:
      return nodes("has", "have") + " no card with memory enough: at most " + n(1) + " MiB free on one, " + n(2) + " MiB asked";
    case ReasonCode::kModelMismatch:
      return nodes("has", "have") + " cards of another model";
    case ReasonCode::kSelectorMismatch:
      return selector_text(c, r);
    case ReasonCode::kTaintNotTolerated:
      return nodes("has a taint that is", "have taints that are") + " not tolerated";
    case ReasonCode::kNotReady:
      return nodes("is closed", "are closed") + ": " + c.tracker.closed_nodes_text();
    case ReasonCode::kPortTaken:
      return nodes("has", "have") + " the host port taken";
    case ReasonCode::kNominatedElsewhere:
      return nodes("is", "are") + " held for pods that other schedulers nominated";
    case ReasonCode::kTopologyFragmented: {
      const std::string level_name = level.row() < names.levels().size() ? names.levels()[level.row()].name.str() : "domain";
      return "the best " + level_name + " (" + names.domain_name(level, DomainId(static_cast<std::uint32_t>(r.numbers[2]))).str() +
             ") has room for " + members();
    }
    case ReasonCode::kGangPartial:
      return "all nodes together have room for " + members();
    case ReasonCode::kNoSuchDomain:
      return "no node has the label " + (level.row() < names.levels().size() ? names.levels()[level.row()].label.str() : std::string("?"));
    case ReasonCode::kExceedsCluster:
      return "it would not fit this cluster even if it were empty";
    case ReasonCode::kQuotaExhausted:
      return "queue " + names.queues.name(QueueId(r.subject)).str() + " uses " + quota_dimension_text(r.numbers[0], r.numbers[1]) + " of its " +
             quota_dimension_text(r.numbers[0], r.numbers[2]);
    case ReasonCode::kExceedsQuota:
      return "it asks for " + quota_dimension_text(r.numbers[0], r.numbers[1]) + ", queue " + names.queues.name(QueueId(r.subject)).str() + " has " +
             quota_dimension_text(r.numbers[0], r.numbers[2]) + " in all";
    case ReasonCode::kQueueUnknown:
      return "its queue is not configured";
    case ReasonCode::kBehindHead:
      return "a job ahead of it in its queue must start first";
    case ReasonCode::kReservationHeld: {
      const Millis wait = Millis(r.numbers[0]) - c.now;
      return std::string(kWouldDelay) +
             (wait.value > 0 ? ", which can start in " + duration_text(wait) + " at the latest if running jobs end as estimated" : "");
    }
    case ReasonCode::kMembersMissing:
      return members() + (r.numbers[0] == 1 ? " exists" : " exist");
    case ReasonCode::kNoNodes:
      return "there are no nodes";
    case ReasonCode::kLimitReached:
      if (r.subject == kLimitOfProof) return "whether it could run if nothing else did was not settled in " + n(0) + " steps";
      return "the search stopped at its limit of " + n(0);
    case ReasonCode::kNone:
      return {};
  }
  return {};
}

bool waits_for_company_to_leave(const TextContext& c, const Verdict& verdict) {
  return std::any_of(verdict.reasons.begin(), verdict.reasons.end(),
                     [&](const Reason& r) { return r.code == ReasonCode::kSelectorMismatch && company_of(c, r) > 0; });
}

std::vector<Reason> told_reasons(const TextContext& c, const Verdict& verdict) {
  std::vector<Reason> told = verdict.reasons;
  const auto has = [&](ReasonCode code) { return std::any_of(told.begin(), told.end(), [&](const Reason& r) { return r.code == code; }); };
  const bool would_fit_empty = has(ReasonCode::kExceedsCluster) && (has(ReasonCode::kNoSuchDomain) || waits_for_company_to_leave(c, verdict));
  if (would_fit_empty) std::erase_if(told, [](const Reason& r) { return r.code == ReasonCode::kExceedsCluster; });
  const auto devices = std::find_if(told.begin(), told.end(), [](const Reason& r) { return r.code == ReasonCode::kInsufficientGpu; });
  if (devices == told.end()) return told;
  const ObjectNames& names = c.tracker.names();
  const auto counts_devices = [&](const Reason& r) {
    if (r.code != ReasonCode::kInsufficientResource) return false;
    const PooledString name = names.resource_name(ResourceId(r.subject));
    return name == kGpuResource || name == kGpuMilliResource;
  };
  for (const Reason& r : told)
    if (counts_devices(r)) devices->numbers[0] = std::max(devices->numbers[0], r.numbers[0]);
  std::erase_if(told, counts_devices);
  return told;
}

std::string headline_text(const TextContext& c, const std::vector<Reason>& told) {
  if (told.empty()) return {};
  std::string text = reason_text(c, told[0]);
  if (told[0].code == ReasonCode::kExceedsCluster && told.size() > 1) text += " (when judged: " + reason_text(c, told[1]) + ")";
  return text;
}

namespace {

bool has_minimum(const Job& j) { return j.members_placed >= j.members_min; }

/// "gang g of 4: ", or what is bound of it and how the others follow.
std::string gang_prefix(const GangRecord& g, const Job& j) {
  if (j.members_placed == 0) return "gang " + g.name.str() + " of " + std::to_string(g.size) + ": ";
  const std::uint32_t waiting = j.members_present - j.members_placed;
  const bool is_one = waiting == 1;
  std::string others = is_one ? " waits for room" : " wait for room together";
  if (!g.within.is_none())
    others = is_one ? " is held for the same domain" : " are held for the same domain";
  else if (has_minimum(j))
    others = is_one ? " more is bound once it fits" : " more are bound one by one as they fit";
  return "gang " + g.name.str() + ": " + std::to_string(j.members_placed) +
         (j.members_placed == 1 ? " member is bound and stays, " : " members are bound and stay, ") + std::to_string(waiting) + others + ": ";
}

}  // namespace

ConditionText verdict_text(const TextContext& c, JobId job, const Verdict& verdict) {
  ConditionText text;
  const ReasonCode first = verdict.reasons.empty() ? ReasonCode::kNone : verdict.reasons.front().code;
  const JobOwner owner = c.tracker.owner(job);
  const bool is_gang = owner.gang != kNoGang && c.tracker.gangs()[owner.gang].is_gang && !c.tracker.gangs()[owner.gang].is_lone_pod();
  const std::string prefix = is_gang ? gang_prefix(c.tracker.gangs()[owner.gang], c.state.job(job)) : std::string();
  if (first != ReasonCode::kNone && !is_about_nodes(first)) {
    text.reason = kSchedulerError;
    // A time would be out of date when it is read; `why` has it.
    text.message = std::string(reason_name(first)) + ": " + prefix +
                   (first == ReasonCode::kReservationHeld ? std::string(kWouldDelay) : reason_text(c, verdict.reasons.front()));
    return text;
  }
  text.reason = kUnschedulable;
  // kube-scheduler's sentence comes first: tools look for it at the beginning.
  text.message = availability(c, verdict);
  std::string more;
  for (const Reason& r : told_reasons(c, verdict)) {
    const bool is_ours = r.code == ReasonCode::kTopologyFragmented || r.code == ReasonCode::kGangPartial || r.code == ReasonCode::kNoSuchDomain ||
                         r.code == ReasonCode::kExceedsCluster || r.code == ReasonCode::kLimitReached;
    if (is_ours) more += (more.empty() ? "" : "; ") + reason_text(c, r);
  }
  const std::string_view no_room = is_gang && has_minimum(c.state.job(job)) ? "no room for one more" : "no room for all of it at once";
  if (!prefix.empty() || !more.empty()) text.message += " " + prefix + (more.empty() ? std::string(no_room) : more) + ".";
  return text;
}

}  // namespace ashlar::kube
