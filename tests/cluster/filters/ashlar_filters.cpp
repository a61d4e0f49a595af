#include "cluster/filters/ashlar_filters.h"

#include <algorithm>

#include "live/lead/leader_term.h"
#include "live/track/nodes/csi_nodes.h"
#include "live/track/translate.h"

namespace ashlar::filters {
namespace {

constexpr const char* kTaintToleration = "TaintToleration";
constexpr const char* kNodeUnschedulable = "NodeUnschedulable";
constexpr const char* kNodeAffinity = "NodeAffinity";
constexpr const char* kNodeDeclaredFeatures = "NodeDeclaredFeatures";
constexpr const char* kInterPodAffinity = "InterPodAffinity";
constexpr const char* kNodeResourcesFit = "NodeResourcesFit";
constexpr const char* kNodeVolumeLimits = "NodeVolumeLimits";
constexpr const char* kVolumeRestrictions = "VolumeRestrictions";

/// kube-scheduler's name of the filter that a rule stands for.
std::string upstream_name(ReasonCode reason, std::string_view own) {
  if (reason == ReasonCode::kTaintNotTolerated) return kTaintToleration;
  if (reason == ReasonCode::kSelectorMismatch || reason == ReasonCode::kModelMismatch) return kNodeAffinity;
  const bool is_between_pods = reason == ReasonCode::kPodAntiAffinity || reason == ReasonCode::kPodAffinity ||
                               reason == ReasonCode::kOwnAntiAffinity;
  if (is_between_pods) return kInterPodAffinity;
  if (reason == ReasonCode::kFeatureMissing) return kNodeDeclaredFeatures;
  if (reason == ReasonCode::kTopologySpread) return "PodTopologySpread";
  if (reason == ReasonCode::kPortTaken) return "NodePorts";
  if (reason == ReasonCode::kInsufficientGpu || reason == ReasonCode::kInsufficientResource) return kNodeResourcesFit;
  return std::string(own);
}

Profile profile_of_live() {
  Result<Profile> built_in = builtin_profile("ashlar");
  ASHLAR_CHECK(built_in.ok());
  Result<Profile> profile = kube::live_profile(std::move(built_in).value());
  ASHLAR_CHECK(profile.ok());
  return std::move(profile).value();
}

kube::TrackerOptions tracker_options(const std::string& scheduler_name) {
  kube::TrackerOptions options;
  options.scheduler_names = {scheduler_name};
  return options;
}

void add_once(std::vector<std::string>& list, std::string name) {
  if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(std::move(name));
}

}  // namespace

std::vector<std::string> PodVerdict::allowed() const {
  std::vector<std::string> names;
  for (const NodeVerdict& verdict : nodes)
    if (verdict.is_allowed) names.push_back(verdict.node);
  return names;
}

AshlarFilters::AshlarFilters(kube::Api& api, const std::string& scheduler_name)
    : clock_([&api] { return api.now(); }, [&api] { return api.monotonic(); }),
      events_(clock_),
      tracker_(tracker_options(scheduler_name), events_, {}),
      engine_(profile_of_live()),
      driver_(state_, engine_, {clock_, events_, nobody_}),
      namespaces_(api, {}, [this](kube::Change<kube::Namespace>&& change) { take(std::move(change)); }),
      nodes_(api, {}, [this](kube::Change<kube::Node>&& change) { take(std::move(change)); }),
      pods_(api, {}, [this](kube::Change<kube::Pod>&& change) { take_pod(std::move(change)); }),
      classes_(api, {}, [this](kube::Change<kube::StorageClass>&& change) { take(std::move(change)); }),
      drivers_(api, {}, [this](kube::Change<kube::CsiDriver>&& change) { take(std::move(change)); }),
      csi_nodes_(api, {}, [this](kube::Change<kube::CsiNode>&& change) { take(std::move(change)); }),
      capacities_(api, {}, [this](kube::Change<kube::CsiStorageCapacity>&& change) { take(std::move(change)); }),
      attachments_(api, {}, [this](kube::Change<kube::VolumeAttachment>&& change) { take(std::move(change)); }),
      volumes_(api, {}, [this](kube::Change<kube::PersistentVolume>&& change) { take(std::move(change)); }),
      claims_(api, {}, [this](kube::Change<kube::PersistentVolumeClaim>&& change) { take(std::move(change)); }) {
  tracker_.open();
  tracker_.note_pod_groups({});
  namespaces_.start();
  nodes_.start();
  pods_.start();
  classes_.start();
  drivers_.start();
  csi_nodes_.start();
  capacities_.start();
  attachments_.start();
  volumes_.start();
  claims_.start();
}

AshlarFilters::~AshlarFilters() = default;

bool AshlarFilters::is_synced() const {
  return nodes_.is_synced() && pods_.is_synced() && namespaces_.is_synced() && classes_.is_synced() &&
         drivers_.is_synced() && csi_nodes_.is_synced() && capacities_.is_synced() && attachments_.is_synced() &&
         volumes_.is_synced() && claims_.is_synced();
}

bool AshlarFilters::knows_node(const std::string& name) const {
  return !tracker_.names().nodes.find(kube::PooledString(name)).is_none();
}

bool AshlarFilters::knows_pod(const std::string& ns, const std::string& name) const {
  return tracker_.pods().find(ns, name) != kube::kNoPod;
}

bool AshlarFilters::knows_claim(const std::string& ns, const std::string& name) const {
  return tracker_.volumes().claim(kube::PooledString(ns), kube::PooledString(name)) != nullptr;
}

bool AshlarFilters::knows_volumes(const std::string& name, const std::string& node) const {
  const kube::VolumeBook& book = tracker_.volumes();
  const kube::PooledString of(name), there(node);
  return book.volume(of) != nullptr && book.storage_class(of) != nullptr && book.csi_node(there) != nullptr &&
         !book.capacities_of_class(of).empty() && !book.attachments_on(there).empty();
}

std::string AshlarFilters::refusal(const std::string& ns, const std::string& name) const {
  const auto it = refusals_.find({ns, name});
  return it == refusals_.end() ? std::string() : it->second;
}

void AshlarFilters::take_pod(kube::Change<kube::Pod>&& change) {
  const kube::Pod& pod = change.object;
  if (change.kind == kube::Change<kube::Pod>::Kind::kDeleted)
    refusals_.erase({pod.ns.str(), pod.name.str()});
  else if (pod.scheduled.status == kube::ConditionStatus::kFalse && pod.scheduled.reason != "SchedulingGated")
    refusals_[{pod.ns.str(), pod.name.str()}] = pod.scheduled.message.str();
  take(std::move(change));
}

void AshlarFilters::catch_up() {
  tracker_.settle();
  driver_.catch_up();
  tracker_.note_taken();
}

PodVerdict AshlarFilters::judge(const std::string& ns, const std::string& name) {
  catch_up();
  PodVerdict verdict;
  const kube::PodSlot slot = tracker_.pods().find(ns, name);
  if (slot == kube::kNoPod) return {.words = "not seen"};
  const kube::PodRecord& pod = tracker_.pods()[slot];
  if (pod.phase != kube::PodRecord::Phase::kWaiting) {
    const bool is_not_yet = pod.hold == kube::HoldReason::kUnsupported;
    if (is_not_yet) return {.kind = PodVerdict::Kind::kNotYet, .words = pod.hold_detail.str(), .nodes = {}};
    const bool is_by_volumes = pod.hold == kube::HoldReason::kVolumes;
    return {.kind = PodVerdict::Kind::kHeld,
            .words = is_by_volumes ? pod.hold_detail.str() : tracker_.hold_condition(pod).message,
            .is_held_by_volumes = is_by_volumes,
            .nodes = {}};
  }
  verdict.kind = PodVerdict::Kind::kJudged;
  const FitTable& table = engine_.fit_tables().counted(state_, pod.demand, pod.constraint, 0);
  const NodeView view = table.node_view(state_);
  for (std::size_t row = 0; row < state_.cluster().rows(); ++row)
    if (state_.cluster().is_live(NodeId(row))) verdict.nodes.push_back(judge(view, NodeId(row), table));
  std::sort(verdict.nodes.begin(), verdict.nodes.end(),
            [](const NodeVerdict& a, const NodeVerdict& b) { return a.node < b.node; });
  verdict.words = contradiction(pod, verdict);
  return verdict;
}

std::map<std::string, Points> AshlarFilters::preferences(const std::string& ns, const std::string& name) {
  const kube::PodRecord& pod = tracker_.pods()[tracker_.pods().find(ns, name)];
  const FitTable& table = engine_.fit_tables().counted(state_, pod.demand, pod.constraint, 0);
  const std::span<const Points> of_nodes = table.preferences();
  std::map<std::string, Points> points;
  for (std::size_t row = 0; row < of_nodes.size(); ++row)
    if (state_.cluster().is_live(NodeId(row)) && table.fits(NodeId(row)) > 0)
      points[tracker_.names().nodes.name(NodeId(row)).str()] = of_nodes[row];
  return points;
}

NodeVerdict AshlarFilters::judge(const NodeView& view, NodeId node, const FitTable& table) const {
  NodeVerdict verdict{.node = tracker_.names().nodes.name(node).str(), .is_allowed = table.fits(node) > 0};
  for (const FeasiblePolicy* policy : engine_.profile().feasible) {
    if (policy->is_by_pods())
      refuse_by_pods(table, node, *policy, verdict);
    else if (policy->is_by_facts())
      refuse_by_facts(view, node, *policy, verdict);
    else
      refuse_by_counts(view, node, *policy, verdict);
  }
  for (const ResourceAmount& asked : view.demand.amounts) {
    const bool has_column = asked.resource.row() < view.nodes.resource_count();
    if (asked.amount > (has_column ? view.nodes.free(asked.resource)[node.row()] : 0))
      verdict.short_of.push_back(tracker_.names().resource_name(asked.resource).str());
  }
  return verdict;
}

void AshlarFilters::refuse_by_pods(const FitTable& table, NodeId node, const FeasiblePolicy& policy,
                                   NodeVerdict& verdict) const {
  if (!state_.cluster().is_refused(table.constraint(), kNodeRules, node, policy.company)) return;
  const std::vector<PodTerm>& terms = table.node_view(state_).constraint.keeps_away;
  const auto is_of_disk = [&](const PodTerm& term) {
    return tracker_.names().label_keys.name(term.topology) == kube::kNodeNameKey;
  };
  const bool is_own = policy.reason == ReasonCode::kOwnAntiAffinity;
  if (!is_own || !std::ranges::all_of(terms, is_of_disk))
    add_once(verdict.refused_by, upstream_name(policy.reason, policy.name));
  if (is_own && std::ranges::any_of(terms, is_of_disk)) add_once(verdict.refused_by, kVolumeRestrictions);
}

/// Volumes to be attached are a resource.
void AshlarFilters::refuse_by_counts(const NodeView& view, NodeId node, const FeasiblePolicy& policy,
                                     NodeVerdict& verdict) const {
  const auto refuses = [&](const Demand& demand) {
    std::uint16_t fits = kFitsMax;
    policy.lower({view.nodes, demand, view.constraint}, {node.row(), 1}, {&fits, 1});
    return fits == 0;
  };
  if (!refuses(view.demand)) return;
  Demand volumes = view.demand, others = view.demand;
  const auto is_volume = [&](const ResourceAmount& amount) {
    return kube::is_volume_resource(tracker_.names().resource_name(amount.resource).view());
  };
  std::erase_if(others.amounts, is_volume);
  std::erase_if(volumes.amounts, [&](const ResourceAmount& amount) { return !is_volume(amount); });
  if (refuses(others)) add_once(verdict.refused_by, upstream_name(policy.reason, policy.name));
  if (policy.reason == ReasonCode::kInsufficientResource && refuses(volumes))
    add_once(verdict.refused_by, kNodeVolumeLimits);
}

/// Each list of terms is of one filter.
void AshlarFilters::refuse_by_volumes(const NodeView& view, NodeId node, const FeasiblePolicy& policy,
                                      NodeVerdict& verdict) const {
  for (const std::vector<NodeTerm>& list : view.constraint.volumes) {
    Constraint alone;
    alone.volumes = {list};
    if (policy.allows(alone, state_.cluster().facts(node), state_.cluster().context())) continue;
    const auto has_key = [&](auto&& is_it) {
      return std::ranges::any_of(list, [&](const NodeTerm& term) {
        return std::ranges::any_of(term.all, [&](const LabelExpression& expression) { return is_it(expression); });
      });
    };
    const auto key = [&](const LabelExpression& e) { return tracker_.names().label_keys.name(e.key); };
    const bool is_of_driver =
        has_key([&](const LabelExpression& e) { return key(e).view().starts_with(kube::kCsiDriverLabel); });
    const bool is_of_zone = has_key([&](const LabelExpression& e) {
      return key(e) == "failure-domain.beta.kubernetes.io/region" && e.op == LabelExpression::Op::kDoesNotExist;
    });
    add_once(verdict.refused_by, is_of_driver ? kNodeVolumeLimits : is_of_zone ? "VolumeZone" : "VolumeBinding");
  }
}

/// One of our rules stands for two filters: which of the two refuses is found by asking the rule without the other's
/// part.
void AshlarFilters::refuse_by_facts(const NodeView& view, NodeId node, const FeasiblePolicy& policy,
                                    NodeVerdict& verdict) const {
  const NodeFacts& facts = state_.cluster().facts(node);
  const NodeContext context = state_.cluster().context();
  if (policy.allows(view.constraint, facts, context)) return;
  const auto add = [&](const char* name) { add_once(verdict.refused_by, name); };
  if (policy.reason == ReasonCode::kVolumeNodeAffinity) return refuse_by_volumes(view, node, policy, verdict);
  if (policy.reason == ReasonCode::kPodAntiAffinity) {
    const auto& by = verdict.refused_by;
    if (std::ranges::find(by, kVolumeRestrictions) == by.end()) add(kInterPodAffinity);
  } else if (policy.reason == ReasonCode::kTaintNotTolerated) {
    NodeFacts cordon = facts, others = facts;
    const auto is_cordon = [&](const Taint& taint) {
      return tracker_.names().label_keys.name(taint.key) == kube::kUnschedulableTaint;
    };
    std::erase_if(cordon.taints, [&](const Taint& taint) { return !is_cordon(taint); });
    std::erase_if(others.taints, is_cordon);
    if (!policy.allows(view.constraint, cordon, context)) add(kNodeUnschedulable);
    if (!policy.allows(view.constraint, others, context)) add(kTaintToleration);
  } else {
    add_once(verdict.refused_by, upstream_name(policy.reason, policy.name));
  }
}

/// The rules, the table and a placement must say the same.
std::string AshlarFilters::contradiction(const kube::PodRecord& pod, const PodVerdict& verdict) {
  for (const NodeVerdict& node : verdict.nodes)
    if (node.is_allowed != node.refused_by.empty())
      return "on " + node.node + " the engine's counts and the rules differ";
  Trial trial(state_);
  const bool is_placed = engine_.try_place(trial, pod.job);
  const std::string on = is_placed ? tracker_.names().nodes.name(state_.member(pod.member).node).str() : std::string();
  const std::vector<std::string> allowed = verdict.allowed();
  if (is_placed && std::find(allowed.begin(), allowed.end(), on) == allowed.end())
    return "the engine places it on " + on + ", which its counts refuse";
  if (!is_placed && !allowed.empty()) return "the engine does not place it, though nodes are allowed";
  return {};
}

}  // namespace ashlar::filters
