#include "live/track/pods/bound_pods.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "live/track/gangs/membership.h"
#include "live/track/gangs/settle.h"
#include "live/track/nodes/node_changes.h"
#include "live/track/pods/bindings.h"
#include "live/track/pods/jobs.h"
#include "live/track/pods/leaving_pods.h"
#include "live/track/pods/queues.h"
#include "live/track/pods/requests.h"

#include "live/track/pods/pod_changes.h"
#include "live/track/volumes/pod_volumes.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// The gang settings of a bound member may be changed, and then count.
void renew_settings(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  const Result<GangSettings> setting = read_gang_settings(pod);
  if (!setting || setting->name != t.gangs[r.named_gang()].name ||
      (r.gang_size == setting->size && r.within == setting->within && r.prefer == setting->prefer))
    return;
  note_setting(r, *setting);
  touch_gang(t, r.gang);
}

void warn(TrackerData& t, const PooledString& ns, const PooledString& name, std::string text) {
  if (t.listeners.log && t.log_paces.admit(t.out.now(), ns, text))
    t.listeners.log(LogLevel::kWarning, {text, "pod", ns, name});
}

using Rules = std::shared_ptr<const PodRules>;

/// The bound pod's anti-affinity applies to the domains of its node, and others are drawn there.
void keep_away(TrackerData& t, PodSlot slot, const Rules& rules) {
  if (rules && rules->draws_others()) t.anti_affinity.use_draws(t.pods[slot].ns, *rules);
  if (!rules || rules->required_anti_affinity.empty()) return;
  NodeRecord& node = t.nodes[t.pods[slot].node.row()];
  node.owners.push_back(slot);
  t.anti_affinity.add(t.pods[slot].ns, rules, node.labels);
}

/// What keep_away() did. O(owners of the node).
void stop_keeping_away(TrackerData& t, PodSlot slot, const Rules& rules) {
  if (rules && rules->draws_others()) t.anti_affinity.leave_draws(t.pods[slot].ns, *rules);
  if (!rules || rules->required_anti_affinity.empty()) return;
  NodeRecord& node = t.nodes[t.pods[slot].node.row()];
  const auto at = std::ranges::find(node.owners, slot);
  ASHLAR_CHECK(at != node.owners.end());
  std::swap(*at, node.owners.back());
  node.owners.pop_back();
  t.anti_affinity.remove(t.pods[slot].ns, rules, node.labels);
}

/// Whether they are at least what is requested of each GPU: a pod that says less would have others placed on its GPUs.
bool holds_request(const DeviceGrants& grants, const DeviceRequest& request) {
  return std::ranges::all_of(grants, [&](const DeviceGrant& grant) {
    return grant.share.milli >= request.milli_each && grant.share.memory >= request.memory_each;
  });
}

std::string understated(const DeviceGrants& grants, const DeviceRequest& request) {
  const auto requested = static_cast<std::size_t>(request.count);
  if (grants.size() == requested) return "says less than the pod requests of each GPU";
  return "names " + std::to_string(grants.size()) + " GPUs, but the pod requests " + std::to_string(requested);
}

constexpr std::string_view kUnknownDevices =
    "; the requested number is counted, but it is not known which GPUs these are";

/// The devices that the annotation of older releases names; none if they cannot be what the pod requests.
DeviceMask named_devices(const Pod& pod, const DeviceRequest& request) {
  const PooledString* text = find_label(*pod.annotations, kDevicesAnnotation);
  const DeviceMask named = text == nullptr ? DeviceMask{} : parse_devices(*text);
  return named.count() == request.count ? named : DeviceMask{};
}

/// What its annotation says that a bound pod of ours holds; nothing if there is none, or none that can be. `named`:
/// what counts then, and is written to it, see correct_grants.
std::optional<DeviceGrants> claimed_grants(TrackerData& t, const Pod& pod, const Demand& demand,
                                           const DeviceMask& named) {
  const PooledString* text = find_label(*pod.annotations, kGrantsAnnotation);
  if (text == nullptr) return std::nullopt;
  Result<DeviceGrants> read = parse_grants(text->view());
  if (read && read->size() == static_cast<std::size_t>(demand.devices.count) && holds_request(*read, demand.devices))
    return std::move(read).value();
  const std::string problem = read ? understated(*read, demand.devices) : "cannot be read: " + read.error().message;
  const std::string counted = "; the GPUs in " + std::string(kDevicesAnnotation) +
                              " are counted, with what the pod requests of each, and the annotation is corrected";
  warn(t, pod.ns, pod.name,
       "annotation " + std::string(kGrantsAnnotation) + " of pod " + pod.ns.str() + "/" + pod.name.str() + " " +
           problem + (named.is_empty() ? std::string(kUnknownDevices) : counted));
  return std::nullopt;
}

/// The devices that a bound pod of ours claims to hold; nothing if the claim is impossible. Of a pod without devices a
/// binding writes none: what its manifest says of them is left of another.
PodDevices claimed_devices(TrackerData& t, const Pod& pod, const Demand& demand) {
  if (demand.devices.count == 0) return {};
  // annotations of other schedulers' pods are not our decisions
  if (!pod.annotations || scheduler_index(t, pod.scheduler_name) >= t.scheduler_names.size()) return {};
  const DeviceMask named = named_devices(pod, demand.devices);
  if (std::optional<DeviceGrants> grants = claimed_grants(t, pod, demand, named); grants)
    return pod_devices(std::move(*grants), demand.devices);
  const PooledString* devices = find_label(*pod.annotations, kDevicesAnnotation);  // an older release's
  if (!named.is_empty() || devices == nullptr) return named;
  warn(t, pod.ns, pod.name,
       "pod " + pod.ns.str() + "/" + pod.name.str() + " claims the GPUs '" + bounded_words(devices->view()) +
           "' but requests " + std::to_string(demand.devices.count) + std::string(kUnknownDevices));
  return {};
}

/// Whether the annotations say of the pod's devices what our record says. The one that an older release does not write
/// may be missing until it was there once.
bool are_stated(const TrackerData& t, const PodRecord& r, const Pod& pod) {
  const PooledString* devices = pod.annotations ? find_label(*pod.annotations, kDevicesAnnotation) : nullptr;
  if (devices == nullptr || parse_devices(*devices) != r.devices) return false;
  const PooledString* grants = find_label(*pod.annotations, kGrantsAnnotation);
  if (grants == nullptr) return !r.has_stated_grants;
  const Result<DeviceGrants> read = parse_grants(grants->view());
  return read && *read == grants_held(t.translator, r);
}

/// Anyone with write access to the pod can change its device annotations, unless a policy forbids it. Our own record
/// holds.
void check_devices(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  if (!r.is_ours || r.phase != Phase::kBound || r.devices.is_empty()) return;
  const bool is_changed = !are_stated(t, r, pod);
  if (!is_changed && find_label(*pod.annotations, kGrantsAnnotation) != nullptr) r.has_stated_grants = true;
  if (is_changed && !r.are_devices_changed) {
    const PooledString* devices = pod.annotations ? find_label(*pod.annotations, kDevicesAnnotation) : nullptr;
    const PooledString* grants = pod.annotations ? find_label(*pod.annotations, kGrantsAnnotation) : nullptr;
    const bool are_others = devices == nullptr || parse_devices(*devices) != r.devices;
    const PooledString* to = are_others ? devices : grants;
    const std::string from = are_others ? devices_text(r.devices) : grants_text(grants_held(t.translator, r));
    warn(t, r.ns, r.name,
         "the GPUs of pod " + r.ns.str() + "/" + r.name.str() + " were changed from " + from + " to '" +
             (to == nullptr ? std::string() : bounded_words(to->view())) +
             "'; the pod keeps the GPUs it was bound with");
    if (t.listeners.on_devices_changed) t.listeners.on_devices_changed(slot);
  }
  t.pods.edit(slot).are_devices_changed = is_changed;
}

/// What was not believed when the pod was first seen is written anew: only Ashlar may change it on a pod with a node.
void correct_grants(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  const bool is_claim = r.is_ours && r.phase == Phase::kBound && r.has_stated_grants && !r.devices.is_empty();
  if (!is_claim || are_stated(t, r, pod)) return;
  r.are_devices_changed = true;
  if (t.listeners.on_devices_changed) t.listeners.on_devices_changed(slot);
}

void set_closes_node(TrackerData& t, PodSlot slot, bool closes) {
  PodRecord& r = t.pods.edit(slot);
  if (r.closes_node == closes) return;
  r.closes_node = closes;
  if (r.phase != Phase::kBound) return;
  t.closings.edit(r.node.row()).unread_pods += closes ? 1u : -1u;
  close_or_open(t, r.node);
}

}  // namespace

void see_bound(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  r.is_bound_seen = true;
  if (r.phase == Phase::kLeaving) return;
  // Of a pod that cannot be read whole, what was last read of it counts, else what was read now; if that is less than
  // it holds, its node is closed.
  const bool has_account = !pod.problem.empty() && !r.demand.is_none();
  const DemandId demand = has_account ? r.demand : t.translator.held_by(pod);
  set_closes_node(t, slot, has_account ? r.closes_node : pod.lacks_amounts);
  r.hold_detail = r.closes_node ? PooledString(bounded_words(pod.problem.view(), kDetailMax)) : PooledString();
  const bool is_known = (r.phase == Phase::kBound || r.phase == Phase::kOnUnknownNode) && r.node_name == pod.node_name;
  if (is_known) check_devices(t, slot, pod);
  if (is_known && r.is_ours && r.gang != kNoGang) renew_settings(t, slot, pod);
  if (is_known && r.demand == demand) return;
  // What it was bound with stays what it holds, also if it requests another amount of each device now.
  const DeviceGrants had = is_known && !r.demand.is_none() ? grants_held(t.translator, r) : DeviceGrants{};
  if (is_known && r.phase == Phase::kBound) {  // resized in place: account again
    leave_node(t, slot);
    withdraw_pod(t, slot);
  } else if (r.is_in_engine() && r.demand != demand) {
    withdraw_pod(t, slot);
  }
  set_demand(t, r, demand);
  if (!r.is_in_engine() || r.constraint.is_none()) set_constraint(t, r, t.translator.anywhere());
  const Demand& held = t.translator.demand_of(demand);
  const bool has_as_many = !had.empty() && had.size() == static_cast<std::size_t>(held.devices.count);
  const PodDevices known = has_as_many ? pod_devices(had, held.devices) : claimed_devices(t, pod, held);
  r.has_stated_grants = pod.annotations && find_label(*pod.annotations, kGrantsAnnotation) != nullptr;
  if (r.is_ours && r.gang == kNoGang) {
    if (const Result<GangSettings> setting = read_gang_settings(pod); setting) {
      note_setting(r, *setting);
      if (!setting->name.empty()) join_gang(t, slot, *setting);
    }
  }
  if (r.queue.is_none()) {
    r.queue = r.is_ours ? charged_queue_of(t, pod) : QueueId(0u);
    r.has_charged_queue =
        r.is_ours && pod.annotations && find_label(*pod.annotations, kChargedQueueAnnotation) != nullptr;
  }
  if (!is_known && r.is_ours && pod.is_stopped && pod.deletion_requested.value != 0) {  // by an earlier leader
    r.node_name = pod.node_name;
    r.devices = known.devices;
    r.grants = known.grants;
    return note_leaving(t, slot, pod.deletion_requested);
  }
  note_bound(t, slot, pod.node_name, known);
  if (!is_known) correct_grants(t, slot, pod);
}

Bound bound_as_held(const TrackerData& t, const PodRecord& r) {
  const bool are_unknown = r.devices.is_empty() && t.translator.demand_of(r.demand).devices.count > 0;
  return {r.member, r.node, are_unknown ? DeviceMask::unknown() : r.devices,
          r.grants ? r.grants->list : DeviceGrants{}};
}

DeviceGrants grants_held(const Translator& translator, const PodRecord& r) {
  return r.grants ? r.grants->list : grants_of(r.devices, requested_share(translator.demand_of(r.demand).devices));
}

PodDevices pod_devices(DeviceGrants grants, const DeviceRequest& request) {
  const DeviceMask devices = devices_of(grants);
  if (are_as_requested(grants, request)) return devices;
  return {devices, HeldGrantsPtr(new HeldGrants(std::move(grants)))};
}

void note_bound(TrackerData& t, PodSlot slot, const PooledString& node_name, const PodDevices& devices) {
  PodRecord& r = t.pods.edit(slot);
  t.out.stamp();
  note_answered(t, slot);
  if (r.phase == Phase::kLeaving || (r.phase == Phase::kBound && r.node_name == node_name)) return;
  r.hold = HoldReason::kNone;
  if (r.phase == Phase::kBound) leave_node(t, slot);
  const NodeId node = t.names.nodes.find(node_name);
  const bool is_confirmed = r.phase == Phase::kAssumed && r.node == node && !node.is_none();
  r.node_name = node_name;
  if (!devices.devices.is_empty() || !is_confirmed) {
    r.devices = devices.devices;
    r.grants = devices.grants;
  }
  if (node.is_none()) return note_on_unknown_node(t, slot);
  enter_bound(t, slot, node);
  if (is_confirmed && t.listeners.on_bound) t.listeners.on_bound(slot);
}

void enter_bound(TrackerData& t, PodSlot slot, NodeId node) {
  PodRecord& r = t.pods.edit(slot);
  const bool is_confirmation = r.phase == Phase::kAssumed && r.node == node;
  t.missed.erase(slot);
  r.phase = Phase::kBound;
  r.node = node;
  set_mounted(t, slot, node);
  t.namespace_terms.note_bound(r);
  set_bound_constraint(t, slot);
  keep_away(t, slot, r.rules);
  if (r.closes_node) {
    ++t.closings.edit(node.row()).unread_pods;
    close_or_open(t, node);
  }
  if (!is_confirmation || !r.is_in_engine()) ++t.nodes_edition;
  if (r.gang != kNoGang) touch_gang(t, r.gang);
  if (r.gang == kNoGang && !r.is_in_engine()) submit_single(t, slot);
  // reported together with the others by evaluate_gang(t)
  if (!r.is_in_engine()) return t.bound_outside.push_back(r.gang);
  Bound bound = bound_as_held(t, r);
  if (is_confirmation) bound.devices = r.devices;
  if (is_confirmation)
    t.out.add_confirmation(bound);
  else
    t.out.add(bound);
}

void leave_node(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  if (r.phase == Phase::kBound && !r.node.is_none()) {
    stop_keeping_away(t, slot, r.rules);
    if (r.closes_node) {
      --t.closings.edit(r.node.row()).unread_pods;
      close_or_open(t, r.node);
    }
  }
  r.node = NodeId::none();
  set_mounted(t, slot, NodeId::none());
  if (r.phase == Phase::kBound) r.phase = Phase::kHeld;
}

void change_rules(TrackerData& t, PodSlot slot, const std::shared_ptr<const PodRules>& rules) {
  PodRecord& r = t.pods.edit(slot);
  if (r.phase == Phase::kBound && r.rules != rules) {
    keep_away(t, slot, rules);  // first, so that equal terms never disappear in between
    stop_keeping_away(t, slot, r.rules);
  }
  r.rules = rules;
  t.namespace_terms.note(r);
}

void note_on_unknown_node(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  leave_node(t, slot);
  withdraw_pod(t, slot);
  r.phase = Phase::kOnUnknownNode;
  r.node = NodeId::none();
  t.on_unknown_node[r.node_name].emplace_back(slot, r.generation);
  if (r.gang != kNoGang) touch_gang(t, r.gang);
}

void leave_unknown_node(TrackerData& t, PodSlot slot) {
  const auto on_unknown_node = t.on_unknown_node.find(t.pods[slot].node_name);
  if (on_unknown_node == t.on_unknown_node.end()) return;
  std::erase_if(on_unknown_node->second, [&](const auto& entry) { return entry.first == slot; });
  if (on_unknown_node->second.empty()) t.on_unknown_node.erase(on_unknown_node);
}

}  // namespace ashlar::kube
