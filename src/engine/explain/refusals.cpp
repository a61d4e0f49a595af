#include "engine/explain/refusals.h"

#include <algorithm>
#include <numeric>

#include "engine/explain/empty_node.h"
#include "policy/node/capabilities.h"
#include "policy/node/device_fit.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {

bool is_about_pods(ReasonCode code) {
  return code == ReasonCode::kPodAntiAffinity || code == ReasonCode::kTopologySpread ||
         code == ReasonCode::kPodAffinity || code == ReasonCode::kOwnAntiAffinity;
}

namespace {

/// Milli-GPU that the request could use on the node: of its idle devices, or of the one device with most left for a
/// share.
std::int64_t free_for(const NodeView& view, const DeviceRequest& request, NodeId n) {
  const std::int64_t idle = std::max(usable_idle(view.nodes, n, view.constraint, request), 0);
  if (request.is_whole()) return kWholeDevice * idle;
  if (view.nodes.idle_devices()[n.row()] < 0) return 0;
  const DeviceMask usable = usable_devices(view.nodes, n, view.constraint, request);
  const auto milli = view.nodes.device_free_milli(n);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < milli.size(); ++i)
    if (usable.test(static_cast<int>(i)) && (milli[i] < kWholeDevice || idle > 0))
      most = std::max<std::int64_t>(most, milli[i]);
  return most;
}

/// The request as far as it is about compute.
DeviceRequest without_memory(DeviceRequest request) {
  request.memory_each = MiB(0);
  return request;
}

/// Free MiB on the device with most free memory among those of the node with enough compute for the request.
std::int64_t most_device_memory(const NodeView& view, NodeId n) {
  const DeviceRequest request = without_memory(view.demand.devices);
  const auto milli = view.nodes.device_free_milli(n);
  const auto mib = view.nodes.device_free_mib(n);
  const std::int32_t needed = request.is_whole() ? kWholeDevice : request.milli_each.value;
  const bool has_idle = view.nodes.idle_devices()[n.row()] > 0;
  const DeviceMask usable = usable_devices(view.nodes, n, view.constraint, request);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < milli.size(); ++i)
    if (usable.test(static_cast<int>(i)) && milli[i] >= needed && (milli[i] < kWholeDevice || has_idle))
      most = std::max(most, mib[i]);
  return most;
}

/// Whether the node that refuses the request has enough devices, but not with the memory.
bool lacks_only_memory(const NodeView& view, NodeId n) {
  const DeviceRequest request = without_memory(view.demand.devices);
  const bool is_memory_known =
      view.nodes.facts(n).devices.memory_each.value != 0 || view.nodes.mixed_layout(n) != nullptr;
  return is_memory_known &&
         free_for(view, request, n) >= (request.is_whole() ? request.milli_total() : request.milli_each.value);
}

/// Unhealthy devices of the node with which it would have enough for the request; 0 if not even with them.
std::int64_t unhealthy_missed(const NodeView& view, NodeId n) {
  const DeviceRequest& request = view.demand.devices;
  const DeviceMemories memories = view.nodes.device_memories(n);
  const DeviceMask usable = usable_devices(view.nodes, n, view.constraint, request);
  const std::int64_t idle = usable_idle(view.nodes, n, view.constraint, request);
  if (!request.is_whole() && view.nodes.idle_devices()[n.row()] < 0) return 0;
  const auto would_do = [&](const WithheldDevice& device) {
    const std::uint32_t i = device.device - view.nodes.first_device()[n.row()];
    if (!usable.test(static_cast<int>(i))) return false;
    const std::int64_t full_mib = memories[i];
    if (!request.is_whole()) return shares_in_device(request, device.milli, device.mib, full_mib != 0) > 0;
    return device.milli == kWholeDevice && device.mib == full_mib &&
           (full_mib == 0 || full_mib >= request.memory_each.value);
  };
  const auto unhealthy = view.nodes.withheld(n);
  const std::int64_t missed = std::count_if(unhealthy.begin(), unhealthy.end(), would_do);
  return request.is_whole() && idle + missed < request.count ? 0 : missed;
}

}  // namespace

bool is_fact(ReasonCode code) {
  return code == ReasonCode::kModelMismatch || code == ReasonCode::kCapabilityMissing ||
         code == ReasonCode::kSelectorMismatch || code == ReasonCode::kVolumeNodeAffinity ||
         code == ReasonCode::kTaintNotTolerated || code == ReasonCode::kFeatureMissing ||
         code == ReasonCode::kNotReady || is_about_pods(code);
}

bool keeps_off(const FeasiblePolicy& policy, const Cluster& cluster, ConstraintId constraint, NodeId n) {
  if (policy.is_by_pods()) return cluster.is_refused(constraint, kNodeRules, n, policy.company);
  return !policy.allows(cluster.constraint(constraint), cluster.facts(n), cluster.context());
}

namespace {

std::size_t best_use(const std::array<std::int64_t, 3>& nodes) {
  return static_cast<std::size_t>(
      std::find_if(nodes.begin(), nodes.end(), [](std::int64_t count) { return count > 0; }) - nodes.begin());
}

}  // namespace

Reason& Tally::count(ReasonCode code) {
  if (code == ReasonCode::kInsufficientGpu) return count(code, demand.value);
  const bool is_of_constraint = code == ReasonCode::kSelectorMismatch || code == ReasonCode::kVolumeNodeAffinity ||
                                code == ReasonCode::kTaintNotTolerated || code == ReasonCode::kFeatureMissing ||
                                is_about_pods(code);
  return count(code, is_of_constraint ? constraint.value : 0);
}

Reason& Tally::count(ReasonCode code, std::uint32_t subject) {
  const auto known = std::find_if(reasons.begin(), reasons.end(),
                                  [&](const Reason& r) { return r.code == code && r.subject == subject; });
  const auto row = static_cast<std::size_t>(known - reasons.begin());
  if (known == reasons.end()) {
    reasons.push_back({code, subject, {0, 0, 0}});
    by_use.push_back({});
  }
  ++by_use[row][static_cast<std::size_t>(use)];
  ++reasons[row].numbers[0];
  return reasons[row];
}

void Tally::add(const Reason& reason) {
  reasons.push_back(reason);
  by_use.push_back({reason.numbers[0], 0, 0});
}

std::vector<Reason> binding_first(const Tally& tally) {
  std::vector<std::size_t> order(tally.reasons.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [](const Reason& r) {
    return r.code == ReasonCode::kInsufficientGpu ? -1 : static_cast<int>(r.code);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t row, std::size_t other) {
    const Reason &a = tally.reasons[row], &b = tally.reasons[other];
    const std::size_t use = best_use(tally.by_use[row]), other_use = best_use(tally.by_use[other]);
    if (use != other_use) return use < other_use;
    // a node that is not meant stays so whatever is freed there
    const bool are_facts_first = use == static_cast<std::size_t>(NodeUse::kNotMeant);
    if (is_fact(a.code) != is_fact(b.code)) return is_fact(a.code) == are_facts_first;
    if (a.numbers[0] != b.numbers[0]) return a.numbers[0] > b.numbers[0];
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.subject < b.subject;
  });
  std::vector<Reason> sorted;
  sorted.reserve(order.size());
  for (const std::size_t row : order) sorted.push_back(tally.reasons[row]);
  return sorted;
}

namespace {

/// The first rule by facts that refuses the node: lasting ones, then those about pods, which no toleration changes,
/// then its present condition; nullptr if none does.
const FeasiblePolicy* refusing_fact(const Cluster& cluster, const Profile& profile, NodeId n, ConstraintId constraint) {
  const auto turn = [](const FeasiblePolicy& policy) {
    return policy.is_lasting ? 0 : is_about_pods(policy.reason) ? 1 : 2;
  };
  for (const int now : {0, 1, 2})
    for (const FeasiblePolicy* policy : profile.feasible)
      if (policy->is_by_facts() && turn(*policy) == now && keeps_off(*policy, cluster, constraint, n)) return policy;
  return nullptr;
}

NodeUse use_of(const State& state, const NodeView& view, NodeId n, const FeasiblePolicy* refusing) {
  if (refusing != nullptr && refusing->is_lasting) return NodeUse::kNotMeant;
  return fits_when_empty(state.cluster(), view.demand, view.constraint, n, {}) > 0 ? NodeUse::kCouldServe
                                                                                   : NodeUse::kTooSmall;
}

/// Under each kind of what is free there and does not suffice; whether there is any.
bool count_shortages(const Profile& profile, const NodeView& view, NodeId n, Tally& tally) {
  const auto refuses = [&](const FeasiblePolicy& policy) {
    std::uint16_t fits = kFitsMax;
    policy.lower(view, {n.row(), 1}, {&fits, 1});
    return fits == 0;
  };
  bool is_short = false;
  for (const ResourceAmount& a : view.demand.amounts) {
    const std::int64_t free = a.resource.row() < view.nodes.resource_count() ? view.nodes.free(a.resource)[n.row()] : 0;
    if (free >= a.amount) continue;
    is_short = true;
    Reason& r = tally.count(ReasonCode::kInsufficientResource, a.resource.value);
    r.numbers[1] = std::max(r.numbers[1], free);
    r.numbers[2] = a.amount;
  }
  for (const FeasiblePolicy* policy : profile.feasible) {
    if (policy->is_by_facts() || policy->reason == ReasonCode::kInsufficientResource || !refuses(*policy)) continue;
    is_short = true;
    const bool is_of_devices = policy->reason == ReasonCode::kInsufficientGpu;
    if (const std::int64_t missed = is_of_devices ? unhealthy_missed(view, n) : 0; missed > 0) {
      tally.count(ReasonCode::kUnhealthyGpu, 0).numbers[1] += missed;
      continue;
    }
    if (is_of_devices && lacks_only_memory(view, n)) {
      Reason& r = tally.count(ReasonCode::kInsufficientGpuMemory, 0);
      r.numbers[1] = std::max(r.numbers[1], most_device_memory(view, n));
      // a share that states none needs some
      r.numbers[2] = std::max<std::int64_t>(view.demand.devices.memory_each.value, 1);
      continue;
    }
    Reason& r = tally.count(policy->reason);
    if (is_of_devices) {
      r.numbers[1] = std::max(r.numbers[1], free_for(view, without_memory(view.demand.devices), n));
      r.numbers[2] = view.demand.devices.milli_total();
    }
  }
  return is_short;
}

}  // namespace

void count_node(const State& state, const Profile& profile, const NodeView& view, NodeId n, Tally& tally) {
  const Cluster& cluster = state.cluster();
  const FeasiblePolicy* refusing = refusing_fact(cluster, profile, n, tally.constraint);
  tally.use = use_of(state, view, n, refusing);
  const bool is_short = (refusing == nullptr || (!refusing->is_lasting && tally.use == NodeUse::kTooSmall)) &&
                        count_shortages(profile, view, n, tally);
  if (refusing == nullptr || (is_short && !is_about_pods(refusing->reason))) return;
  if (refusing->reason == ReasonCode::kModelMismatch && cluster.devices()[n.row()] == 0 &&
      view.demand.devices.count > 0) {  // whatever model it names
    tally.count(ReasonCode::kInsufficientGpu).numbers[2] = view.demand.devices.milli_total();
  } else if (refusing->reason == ReasonCode::kCapabilityMissing) {
    tally.count(refusing->reason, missing_capability(view.constraint, cluster.facts(n), cluster.context()).value);
  } else if (Reason& r = tally.count(refusing->reason); refusing->reason == ReasonCode::kTaintNotTolerated) {
    r.numbers[1] = tally.demand.value;
  }
}

Tally refusals(const State& state, const Profile& profile, const FitTable& view, Tally tally) {
  const NodeView node_view = view.node_view(state);
  for (std::size_t n = 0; n < state.cluster().rows(); ++n)
    if (state.cluster().is_live(NodeId(n)) && view.fits(NodeId(n)) == 0)
      count_node(state, profile, node_view, NodeId(n), tally);
  return tally;
}

std::uint64_t looks_of_selection(const Constraint& constraint) {
  constexpr std::uint64_t kTermsOfALook = 16;
  return 1 + (constraint.selector.all.size() + constraint.any_of.size() + constraint.preferred.size()) / kTermsOfALook;
}

std::uint64_t looks_of_refusals(const State& state, ConstraintId constraint) {
  return state.cluster().live_count() * (1 + looks_of_selection(state.cluster().constraint(constraint)));
}

}  // namespace ashlar
