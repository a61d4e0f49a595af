#include "cluster/filters/ashlar_filters.h"

#include <algorithm>

#include "live/lead/leader_term.h"
#include "live/track/translate.h"

namespace ashlar::filters {
namespace {

constexpr const char* kTaintToleration = "TaintToleration";
constexpr const char* kNodeUnschedulable = "NodeUnschedulable";
constexpr const char* kNodeAffinity = "NodeAffinity";
constexpr const char* kNodeDeclaredFeatures = "NodeDeclaredFeatures";

/// kube-scheduler's name of the filter that a rule stands for.
std::string upstream_name(ReasonCode reason, std::string_view own) {
  if (reason == ReasonCode::kTaintNotTolerated) return kTaintToleration;
  if (reason == ReasonCode::kSelectorMismatch || reason == ReasonCode::kModelMismatch) return kNodeAffinity;
  const bool is_between_pods = reason == ReasonCode::kPodAntiAffinity || reason == ReasonCode::kPodAffinity ||
                               reason == ReasonCode::kOwnAntiAffinity;
  if (is_between_pods) return "InterPodAffinity";
  if (reason == ReasonCode::kTopologySpread) return "PodTopologySpread";
  if (reason == ReasonCode::kPortTaken) return "NodePorts";
  if (reason == ReasonCode::kInsufficientGpu || reason == ReasonCode::kInsufficientResource) return "NodeResourcesFit";
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
      pods_(api, {}, [this](kube::Change<kube::Pod>&& change) { take_pod(std::move(change)); }) {
  tracker_.open();
  tracker_.note_pod_groups({});
  namespaces_.start();
  nodes_.start();
  pods_.start();
}

AshlarFilters::~AshlarFilters() = default;

bool AshlarFilters::knows_node(const std::string& name) const {
  return !tracker_.names().nodes.find(kube::PooledString(name)).is_none();
}

bool AshlarFilters::knows_pod(const std::string& ns, const std::string& name) const {
  return tracker_.pods().find(ns, name) != kube::kNoPod;
}

std::string AshlarFilters::refusal(const std::string& ns, const std::string& name) const {
  const auto it = refusals_.find({ns, name});
  return it == refusals_.end() ? std::string() : it->second;
}

void AshlarFilters::take_pod(kube::Change<kube::Pod>&& change) {
  const kube::Pod& pod = change.object;
  if (change.kind == kube::Change<kube::Pod>::Kind::kDeleted)
    refusals_.erase({pod.ns.str(), pod.name.str()});
  else if (pod.scheduled.status == kube::ConditionStatus::kFalse && pod.scheduled.reason == "Unschedulable")
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
    return {is_not_yet ? PodVerdict::Kind::kNotYet : PodVerdict::Kind::kHeld,
            is_not_yet ? pod.hold_detail.str() : tracker_.hold_condition(pod).message,
            {}};
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

NodeVerdict AshlarFilters::judge(const NodeView& view, NodeId node, const FitTable& table) const {
  NodeVerdict verdict{.node = tracker_.names().nodes.name(node).str(), .is_allowed = table.fits(node) > 0};
  for (const FeasiblePolicy* policy : engine_.profile().feasible) {
    if (policy->is_by_pods()) {
      if (state_.cluster().is_refused(table.constraint(), kNodeRules, node, policy->company))
        add_once(verdict.refused_by, upstream_name(policy->reason, policy->name));
      continue;
    }
    if (policy->is_by_facts()) {
      refuse_by_facts(view, node, *policy, verdict);
      continue;
    }
    std::uint16_t fits = kFitsMax;
    policy->lower(view, {node.row(), 1}, {&fits, 1});
    if (fits == 0) add_once(verdict.refused_by, upstream_name(policy->reason, policy->name));
  }
  for (const ResourceAmount& asked : view.demand.amounts) {
    const bool has_column = asked.resource.row() < view.nodes.resource_count();
    if (asked.amount > (has_column ? view.nodes.free(asked.resource)[node.row()] : 0))
      verdict.short_of.push_back(tracker_.names().resource_name(asked.resource).str());
  }
  return verdict;
}

/// Two of our rules stand for two filters each: which of the two refuses is found by asking the rule without the other's
/// part.
void AshlarFilters::refuse_by_facts(const NodeView& view, NodeId node, const FeasiblePolicy& policy,
                                    NodeVerdict& verdict) const {
  const NodeFacts& facts = state_.cluster().facts(node);
  const NodeContext context = state_.cluster().context();
  if (policy.allows(view.constraint, facts, context)) return;
  const auto add = [&](const char* name) { add_once(verdict.refused_by, name); };
  if (policy.reason == ReasonCode::kTaintNotTolerated) {
    NodeFacts cordon = facts, others = facts;
    const auto is_cordon = [&](const Taint& taint) {
      return tracker_.names().label_keys.name(taint.key) == kube::kUnschedulableTaint;
    };
    std::erase_if(cordon.taints, [&](const Taint& taint) { return !is_cordon(taint); });
    std::erase_if(others.taints, is_cordon);
    if (!policy.allows(view.constraint, cordon, context)) add(kNodeUnschedulable);
    if (!policy.allows(view.constraint, others, context)) add(kTaintToleration);
  } else if (policy.reason == ReasonCode::kSelectorMismatch) {
    Constraint features = view.constraint, labels = view.constraint;
    const auto is_feature = [&](const LabelExpression& expression) {
      return tracker_.names().label_keys.name(expression.key).view().starts_with(kube::kDeclaredFeaturePrefix);
    };
    features.any_of.clear();
    std::erase_if(features.selector.all, [&](const LabelExpression& e) { return !is_feature(e); });
    std::erase_if(labels.selector.all, is_feature);
    if (!policy.allows(features, facts, context)) add(kNodeDeclaredFeatures);
    if (!policy.allows(labels, facts, context)) add(kNodeAffinity);
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
