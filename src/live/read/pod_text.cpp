#include "live/read/pod_text.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "engine/quota.h"
#include "kubeclient/bind_outcome.h"
#include "live/read/words/company_text.h"
#include "live/read/words/selector_trouble.h"
#include "live/read/words/toleration_text.h"
#include "live/read/words/volumes_text.h"
#include "live/track/gangs/groups.h"
#include "live/track/nodes/node_trouble.h"
#include "live/track/translate.h"
#include "state/cluster/cluster.h"
#include "text/amount_text.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"
#include "text/reason_text.h"

namespace ashlar::kube {
namespace {

/// Nodes that are counted under this reason, by the first taint that is not tolerated, as text.
std::map<std::string, std::int64_t> untolerated_text(const TextContext& c, const Reason& r) {
  std::map<std::string, std::int64_t> counts;
  for (const NodeTally::Tainted& tainted : untolerated(c, r)) {
    const PooledString key = c.tables.names.label_keys.name(tainted.taint.key);
    const std::string pair = c.tables.names.label_text(tainted.taint.value);
    const std::string value = pair.substr(std::min(pair.size(), key.view().size() + 1));
    if (key == kUnschedulableTaint)
      counts["node(s) were unschedulable"] += tainted.nodes;
    else
      counts["node(s) had untolerated taint {" + key.str() + ": " + value + "}"] += tainted.nodes;
  }
  return counts;
}

/// At which limit a search ended.
std::string limit_text(const Reason& r) {
  const std::string limit = std::to_string(r.numbers[0]);
  switch (r.subject) {
    case kLimitOfProof:
      return "whether it would fit an otherwise empty cluster could not be determined in " + limit + " steps";
    case kLimitOfSteps:
      return "the search for a place ended at its limit of " + limit + " steps of exact search";
    case kLimitOfLooks:
      return "the search for a place ended at its limit of " + limit + " nodes looked at";
    default:
      return "the search for a place ended at its limit of " + limit + " kinds of members placed";
  }
}

/// By name: if no node has a device, no column counts devices.
std::string gpu_resource_of(const TextContext& c, DemandId demand) {
  const auto is_milli = [&](const ResourceAmount& a) {
    return a.amount > 0 && c.tables.names.resource_name(a.resource) == kGpuMilliResource;
  };
  const bool is_share =
      demand.row() < c.state.demand_rows() && std::ranges::any_of(c.state.demand(demand).amounts, is_milli);
  return std::string(is_share ? kGpuMilliResource : kGpuResource);
}

/// The first unknown class that one of the job's pods accepts, with the known one that was probably meant, or a list of
/// them; empty if each is known. O(pods of the job).
std::string unknown_class_text(const TextContext& c, JobId job) {
  const JobOwner owner = c.tables.owner(job);
  const std::vector<PodSlot> single = owner.pod == kNoPod ? std::vector<PodSlot>() : std::vector<PodSlot>{owner.pod};
  DeviceClassId unknown;
  for (const PodSlot slot : owner.gang == kNoGang ? single : c.tables.gangs[owner.gang].pods)
    if (unknown = unknown_class(c, c.tables.pods[slot].constraint); !unknown.is_none()) break;
  if (unknown.is_none()) return {};
  const ObjectNames& names = c.tables.names;
  const std::vector<bool>& on_nodes = c.tally().classes(c.state.cluster());
  std::vector<PooledString> known;
  for (std::uint32_t row = 0; row < std::max<std::size_t>(names.defined_classes(), on_nodes.size()); ++row)
    if (row < names.defined_classes() || on_nodes[row]) known.push_back(names.models.name(DeviceClassId(row)));
  const std::string name = bounded_name(names.models.name(unknown).view());
  return "no node has GPUs of \"" + name + "\", and no device class of the configuration has that name" +
         did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end()));
}

/// The names of the objects of a job's reasons, as the API server has them.
class NamesOf final : public ReasonNames {
 public:
  /// `has_times`: a time is written as the time left, and what is requested now, which a text that is read later must
  /// not contain.
  NamesOf(const TextContext& context, JobId job, bool has_times = true)
      : c_(context), names_(context.tables.names), job_(job), has_times_(has_times) {}

  std::string subject(const Reason& r) const override {
    const ReasonSubject subject = row_of(r.code).subject;
    if (subject == ReasonSubject::kResource) return names_.resource_text(ResourceId(r.subject)).str();
    if (subject == ReasonSubject::kCapability) return names_.capabilities.name(CapabilityId(r.subject)).str();
    if (subject == ReasonSubject::kDemand) return gpu_resource_of(c_, DemandId(r.subject));
    if (subject == ReasonSubject::kQueue) return names_.queues.name(QueueId(r.subject)).str();
    if (subject == ReasonSubject::kLevel) return level_of(r) == nullptr ? "domain" : level_of(r)->name.str();
    return {};
  }
  std::string amount(const Reason& r, std::int64_t amount) const override {
    return amount_text(ResourceId(r.subject), amount);
  }
  std::string domain(const Reason& r, std::int64_t domain) const override {
    return names_.domain_name(LevelId(r.subject), DomainId(static_cast<std::uint32_t>(domain))).str();
  }
  std::string quota(const Reason& r, std::int64_t amount) const override {
    const QuotaKey key = quota_key(r.numbers[0]);
    std::string text = quota_text(r.numbers[0], amount);
    if (!key.resource.is_none() && key.resource != resource::kCpu && key.resource != resource::kMemory)
      text += " " + names_.resource_name(key.resource).str();
    return key.device_class.is_none() ? text : text + " on " + names_.models.name(key.device_class).str() + " nodes";
  }
  std::string group(std::int64_t number) const override {
    const GangSlot gang = c_.tables.owner(job_).gang;
    return told_group_text(c_.tables, gang == kNoGang ? nullptr : &c_.tables.gangs[gang],
                           static_cast<std::size_t>(number) - 1);
  }
  std::string detail(const Reason& r) const override {
    if (r.code == ReasonCode::kNotReady) return closed_nodes_text(c_.tables);
    if (r.code == ReasonCode::kTaintNotTolerated) return c_.is_brief ? "" : toleration_text(c_, r);
    if (r.code == ReasonCode::kSelectorMismatch)
      return c_.is_brief ? "" : selector_trouble(c_, ConstraintId(r.subject));
    if (row_of(r.code).subject == ReasonSubject::kConstraint) return c_.is_brief ? "" : company_text(c_, job_, r);
    if (r.code == ReasonCode::kModelMismatch) {
      const std::string unknown = unknown_class_text(c_, job_);
      return unknown.empty() ? unknown : ": " + unknown;
    }
    if (r.code == ReasonCode::kNoSuchDomain) return label_of_level(r);
    if (r.code == ReasonCode::kLimitReached) {
      return limit_text(r);
    }
    if (r.code == ReasonCode::kQuotaExhausted || r.code == ReasonCode::kKeptByGuarantees)
      return has_times_ ? requested_text(r) : "";
    if (r.code == ReasonCode::kCapacityHeld) {
      const Millis until(r.numbers[1]);
      return has_times_ && until != Millis::max() && until > c_.now
                 ? ", the first of them for " + duration_text(until - c_.now)
                 : "";
    }
    const Millis wait = Millis(r.numbers[0]) - c_.now;  // kReservationHeld
    return has_times_ && wait.value > 0
               ? ", which can start in " + duration_text(wait) + " at the latest if running jobs end as estimated"
               : "";
  }

 private:
  const LevelName* level_of(const Reason& r) const {
    const LevelId level(r.subject);
    return level.row() < names_.levels().size() ? &names_.levels()[level.row()] : nullptr;
  }
  /// ", 32 requested", of a limit that does not depend on the node; else empty.
  std::string requested_text(const Reason& r) const {
    const auto dimension = static_cast<std::size_t>(r.numbers[0]);
    if (job_.is_none() || dimension >= QuotaVector().size()) return {};
    const std::int64_t requested = quota_needed(c_.state, job_)[dimension];
    return requested == 0 ? "" : ", " + bare_quota_text(r.numbers[0], requested) + " requested";
  }
  /// With the label of nodes that was probably meant.
  std::string label_of_level(const Reason& r) const {
    if (level_of(r) == nullptr) return "?";
    const std::string label = level_of(r)->label.str();
    return label + probable_label(c_.tables, label);
  }

  const TextContext& c_;
  const ObjectNames& names_;
  JobId job_;
  bool has_times_;
};

/// Whether no node has a topology label of its spread. O(nodes).
bool lacks_spread_label(const TextContext& c, const Reason& r) {
  const Cluster& cluster = c.state.cluster();
  if (r.code != ReasonCode::kTopologySpread || r.subject >= cluster.constraint_rows()) return false;
  return std::ranges::any_of(cluster.constraint(ConstraintId(r.subject)).spread, [&](const SpreadTerm& term) {
    for (std::size_t n = 0; n < cluster.rows(); ++n)
      if (cluster.is_live(NodeId(n)) && !value_of(cluster.facts(NodeId(n)), term.topology).is_none()) return false;
    return true;
  });
}

/// kube-scheduler's term for what refused these nodes; empty: it has none.
std::string words_per_node(const TextContext& c, JobId job, const Reason& r) {
  if (lacks_volumes(c, r) || lacks_room_for_volumes(c, r))
    return "node(s) didn't find available persistent volumes to bind";
  const std::string words = filled_in(row_of(r.code).per_node, r, NamesOf(c, job));
  return lacks_spread_label(c, r) ? words + " (missing required label)" : words;
}

/// Nodes by kube-scheduler's term for what refused them.
std::map<std::string, std::int64_t> histogram(const TextContext& c, JobId job, const Verdict& verdict) {
  std::map<std::string, std::int64_t> counts;
  for (const Reason& r : reported_reasons(c, job, verdict)) {
    if (r.code == ReasonCode::kTaintNotTolerated) {
      counts.merge(untolerated_text(c, r));
      continue;
    }
    if (!row_of(r.code).per_node.empty()) counts[words_per_node(c, job, r)] += r.numbers[0];
  }
  return counts;
}

/// Where each node has a taint of its own there are as many parts as nodes, and the API server takes no condition of a
/// PodGroup with more than 32 KiB.
constexpr std::size_t kAvailabilityBytesMax = 8'000;

std::string availability(const TextContext& c, JobId job, const Verdict& verdict) {
  const std::size_t nodes = c.state.cluster().live_count();
  if (nodes == 0) return "no nodes available to schedule pods";
  std::vector<std::string> parts;
  for (const auto& [words, count] : histogram(c, job, verdict)) parts.push_back(std::to_string(count) + " " + words);
  std::sort(parts.begin(), parts.end());
  std::string text = "0/" + std::to_string(nodes) + " nodes are available";
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? ": " : ", ") + parts[i];
  return bounded_words(text + ".", kAvailabilityBytesMax);
}

}  // namespace

namespace {

/// Whether the reason is about the domain in which members of the job are already, and the others must be.
bool is_about_its_own_domain(const TextContext& c, JobId job, const Reason& r) {
  if (r.code != ReasonCode::kTopologyFragmented || !c.state.is_live(job)) return false;
  const Job& j = c.state.job(job);
  return j.members_placed > 0 && j.within == LevelId(r.subject) &&
         c.state.anchor(job, j.within) == DomainId(static_cast<std::uint32_t>(r.numbers[2]));
}

}  // namespace

std::string reason_text(const TextContext& c, JobId job, const Reason& r) {
  constexpr std::string_view kBest = "the best ";
  std::string text = ashlar::reason_text(r, NamesOf(c, job));
  if (is_about_its_own_domain(c, job, r) && text.starts_with(kBest)) text.replace(0, kBest.size(), "its ");
  if (lacks_volumes(c, r))
    return text + ": there is no volume that " + unmet_claim_text(c, job) + " could be bound to, and none can be made";
  if (r.code != ReasonCode::kGangPartial && r.code != ReasonCode::kTopologyFragmented) return text;
  const std::string volumes = counted_volumes_text(c, job);
  return volumes.empty() ? text : text + ", counting " + volumes;
}

namespace {

/// A node short of devices is also short of the resource that counts them. Thousandths of a device that more nodes lack
/// than devices are reported instead: nodes with idle devices may not offer any.
void count_devices_once(const ObjectNames& names, std::vector<Reason>& reasons) {
  const auto devices = std::ranges::find(reasons, ReasonCode::kInsufficientGpu, &Reason::code);
  if (devices == reasons.end()) return;
  const auto is_short_of = [&](const Reason& r, std::string_view resource) {
    return r.code == ReasonCode::kInsufficientResource && names.resource_name(ResourceId(r.subject)) == resource;
  };
  const auto shares = std::ranges::find_if(reasons, [&](const Reason& r) { return is_short_of(r, kGpuMilliResource); });
  if (shares != reasons.end() && shares->numbers[0] > devices->numbers[0]) {
    reasons.erase(devices);
    return;
  }
  const auto counts_devices = [&](const Reason& r) {
    return is_short_of(r, kGpuResource) || is_short_of(r, kGpuMilliResource);
  };
  for (const Reason& r : reasons)
    if (counts_devices(r)) devices->numbers[0] = std::max(devices->numbers[0], r.numbers[0]);
  std::erase_if(reasons, counts_devices);
}

}  // namespace

std::string refused_text(const TextContext& c, JobId job, std::vector<Reason> refused_by) {
  count_devices_once(c.tables.names, refused_by);
  std::string text;
  for (const Reason& r : refused_by) {
    const bool is_taint = r.code == ReasonCode::kTaintNotTolerated;  // of some nodes: which taints is not counted
    const std::string words =
        is_taint ? "node(s) had an untolerated taint" : filled_in(row_of(r.code).per_node, r, NamesOf(c, job));
    text += (text.empty() ? "" : ", ") + std::to_string(r.numbers[0]) + " " + words;
  }
  return text;
}

DeviceClassId unknown_class(const TextContext& c, ConstraintId id) {
  const Cluster& cluster = c.state.cluster();
  if (id.row() >= cluster.constraint_rows()) return DeviceClassId::none();
  for (const DeviceClassId accepted : cluster.constraint(id).models) {
    if (c.tables.names.is_defined(accepted)) continue;
    const std::vector<bool>& on_nodes = c.tally().classes(cluster);
    if (accepted.row() >= on_nodes.size() || !on_nodes[accepted.row()]) return accepted;
  }
  return DeviceClassId::none();
}

bool waits_for_pods_or_volumes(const TextContext& c, JobId job, const Verdict& verdict) {
  const auto waits = [&](const Reason& r) { return r.code == ReasonCode::kPodAntiAffinity || lacks_volumes(c, r); };
  return std::ranges::any_of(verdict.reasons, waits) || !counted_volumes_text(c, job).empty();
}

std::vector<Reason> reported_reasons(const TextContext& c, JobId job, const Verdict& verdict) {
  std::vector<Reason> reported = verdict.reasons;
  const auto has = [&](ReasonCode code) {
    return std::any_of(reported.begin(), reported.end(), [&](const Reason& r) { return r.code == code; });
  };
  const bool would_fit_empty = has(ReasonCode::kExceedsCluster) &&
                               (has(ReasonCode::kNoSuchDomain) || waits_for_pods_or_volumes(c, job, verdict));
  if (would_fit_empty) std::erase_if(reported, [](const Reason& r) { return r.code == ReasonCode::kExceedsCluster; });
  count_devices_once(c.tables.names, reported);
  return reported;
}

std::string headline_text(const TextContext& c, JobId job, const std::vector<Reason>& reported,
                          std::string_view counted) {
  if (reported.empty()) return {};
  std::string text = reason_text(c, job, reported[0]);
  if (reported[0].code == ReasonCode::kExceedsCluster && reported.size() > 1)
    text.append(" (").append(counted).append(": ").append(reason_text(c, job, reported[1])).append(")");
  return text;
}

namespace {

/// With a capital letter at its begin.
std::string as_sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 32);
  return text;
}

bool has_minimum(const Job& j) { return j.members_lacking() == 0; }

/// "gang g of 4: ", or how much of it is bound and how the others follow.
std::string gang_prefix(const GangRecord& g, const Job& j) {
  if (j.members_placed == 0) return "gang " + g.name.str() + " of " + std::to_string(g.size) + ": ";
  const std::uint32_t waiting = j.members_present - j.members_placed;
  const bool is_one = waiting == 1;
  std::string others = is_one ? " waits for capacity" : " wait for capacity together";
  if (!g.within.is_none())
    others = " must be placed in the same domain";
  else if (has_minimum(j))
    others = is_one ? " more will be bound once it fits" : " more will be bound one by one as they fit";
  return "gang " + g.name.str() + ": " + std::to_string(j.members_placed) +
         (j.members_placed == 1 ? " member is bound and stays bound, " : " members are bound and stay bound, ") +
         std::to_string(waiting) + others + ": ";
}

}  // namespace

ConditionText verdict_text(const TextContext& c, JobId job, const Verdict& verdict) {
  ConditionText text;
  const ReasonCode first = verdict.reasons.empty() ? ReasonCode::kNone : verdict.reasons.front().code;
  const JobOwner owner = c.tables.owner(job);
  const bool is_gang =
      owner.gang != kNoGang && c.tables.gangs[owner.gang].is_gang && !c.tables.gangs[owner.gang].is_lone_pod();
  const std::string prefix = is_gang ? gang_prefix(c.tables.gangs[owner.gang], c.state.job(job)) : std::string();
  if (first != ReasonCode::kNone && !row_of(first).is_about_nodes) {
    const bool would_more_nodes_help =
        first == ReasonCode::kKeptByGuarantees && QueueId(verdict.reasons.front().subject) == QueueTree::kRoot;
    text.reason = would_more_nodes_help ? kUnschedulable : kSchedulerError;
    // A time would be out of date when it is read; `why` has it.
    text.message = std::string(reason_name(first)) + ": " + prefix +
                   ashlar::reason_text(verdict.reasons.front(), NamesOf(c, job, false));
    return text;
  }
  text.reason = kUnschedulable;
  // kube-scheduler's sentence comes first: tools expect it at the beginning.
  text.message = availability(c, job, verdict);
  std::string more;
  bool is_never = false;
  for (const Reason& r : reported_reasons(c, job, verdict)) {
    const bool is_ours = r.code == ReasonCode::kTopologyFragmented || r.code == ReasonCode::kGangPartial ||
                         r.code == ReasonCode::kGroupFragmented || r.code == ReasonCode::kNoSuchDomain ||
                         r.code == ReasonCode::kExceedsCluster || r.code == ReasonCode::kLimitReached;
    if (!is_ours) continue;
    const bool is_of_now = !more.empty() && is_never;  // the proof does not count what is taken; the reasons do
    more += (more.empty() ? "" : is_of_now ? " (now: " : "; ") + reason_text(c, job, r) + (is_of_now ? ")" : "");
    is_never = r.code == ReasonCode::kExceedsCluster;
  }
  const std::string_view no_room = is_gang && has_minimum(c.state.job(job)) ? "no capacity for one more member"
                                                                            : "no capacity for all members at once";
  if (!prefix.empty() || !more.empty())
    text.message += " " + as_sentence(prefix + (more.empty() ? std::string(no_room) : more)) + ".";
  if (const std::string unknown = unknown_class_text(c, job); !unknown.empty())
    text.message += " " + as_sentence(unknown) + (unknown.ends_with('?') ? "" : ".");
  return text;
}

}  // namespace ashlar::kube
