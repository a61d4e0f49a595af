#include "live/track/pods/bound_pods.h"

#include <algorithm>

#include "live/track/gangs/membership.h"
#include "live/track/gangs/settle.h"
#include "live/track/nodes/node_changes.h"
#include "live/track/pods/bindings.h"
#include "live/track/pods/jobs.h"
#include "live/track/pods/queues.h"
#include "live/track/pods/requests.h"

#include "live/track/pods/pod_changes.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// The gang settings of a bound member may be changed, and then count.
void renew_settings(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  const Result<GangSettings> setting = read_gang_settings(pod);
  if (!setting || setting->name != t.gangs[r.gang].name ||
      (r.gang_size == setting->size && r.within == setting->within && r.prefer == setting->prefer))
    return;
  note_setting(r, *setting);
  touch_gang(t, r.gang);
}

void warn(TrackerData& t, const PooledString& ns, const PooledString& name, std::string text) {
  if (t.listeners.log && t.log_paces[ns].admit(t.out.now(), text))
    t.listeners.log(LogLevel::kWarning, {text, "pod", ns, name});
}

/// The devices that a bound pod of ours claims to hold; nothing if the claim is impossible.
DeviceMask claimed_devices(TrackerData& t, const Pod& pod, const Demand& demand) {
  const PooledString* devices = pod.annotations && scheduler_index(t, pod.scheduler_name) < t.scheduler_names.size()
                                    ? find_label(*pod.annotations, kDevicesAnnotation)
                                    : nullptr;
  if (devices == nullptr) return {};  // device annotations of other schedulers' pods are not our decisions
  const DeviceMask claimed = parse_devices(*devices);
  if (!claimed.is_empty() && claimed.count() == demand.devices.count) return claimed;
  warn(t, pod.ns, pod.name,
       "pod " + pod.ns.str() + "/" + pod.name.str() + " claims the GPUs '" + bounded_words(devices->view()) +
           "' but requests " + std::to_string(demand.devices.count) +
           "; the requested number is counted, but it is not known which GPUs these are");
  return {};
}

/// Anyone with write access to the pod can change its device annotation, unless a policy forbids it. Our own record
/// holds.
void check_devices(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  if (!r.is_ours || r.phase != Phase::kBound || r.devices.is_empty()) return;
  const PooledString* devices = pod.annotations ? find_label(*pod.annotations, kDevicesAnnotation) : nullptr;
  const bool is_changed = devices == nullptr || parse_devices(*devices) != r.devices;
  if (is_changed && !r.are_devices_changed) {
    warn(t, r.ns, r.name,
         "the GPUs of pod " + r.ns.str() + "/" + r.name.str() + " were changed from " + devices_text(r.devices) +
             " to '" + (devices == nullptr ? std::string() : bounded_words(devices->view())) +
             "'; the pod keeps the GPUs it was bound with");
    if (t.listeners.on_devices_changed) t.listeners.on_devices_changed(slot);
  }
  t.pods.edit(slot).are_devices_changed = is_changed;
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
  const DeviceMask had = is_known ? r.devices : DeviceMask{};
  if (is_known && r.phase == Phase::kBound) {  // resized in place: account again
    leave_node(t, r);
    withdraw_pod(t, slot);
  } else if (r.is_in_engine() && r.demand != demand) {
    withdraw_pod(t, slot);
  }
  set_demand(t, r, demand);
  if (!r.is_in_engine() || r.constraint.is_none()) set_constraint(t, r, t.translator.anywhere());
  const Demand& held = t.translator.demand_of(demand);
  const DeviceMask known = !had.is_empty() && had.count() == held.devices.count ? had : claimed_devices(t, pod, held);
  if (r.is_ours && r.gang == kNoGang) {
    if (const Result<GangSettings> setting = read_gang_settings(pod); setting) {
      note_setting(r, *setting);
      if (!setting->name.empty()) join_gang(t, slot, *setting);
    }
  }
  if (r.queue.is_none()) {
    Hold why;
    r.queue = r.is_ours ? queue_called(t, queue_name_for(t, pod), pod.ns, why) : QueueId(0u);
    if (r.queue.is_none()) r.queue = t.names.queues.find(PooledString(kDefaultQueue));
  }
  note_bound(t, slot, pod.node_name, known);
}

DeviceMask devices_held(const TrackerData& t, const PodRecord& r) {
  const bool are_unknown = r.devices.is_empty() && t.translator.demand_of(r.demand).devices.count > 0;
  return are_unknown ? DeviceMask::unknown() : r.devices;
}

void note_bound(TrackerData& t, PodSlot slot, const PooledString& node_name, const DeviceMask& devices) {
  PodRecord& r = t.pods.edit(slot);
  t.out.stamp();
  note_answered(t, slot);
  if (r.phase == Phase::kBound && r.node_name == node_name) return;
  r.hold = HoldReason::kNone;
  if (r.phase == Phase::kBound) leave_node(t, r);
  const NodeId node = t.names.nodes.find(node_name);
  const bool is_confirmed = r.phase == Phase::kAssumed && r.node == node && !node.is_none();
  r.node_name = node_name;
  if (!devices.is_empty() || !is_confirmed) r.devices = devices;
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
  set_bound_constraint(t, slot);
  t.anti_affinity.add(r.ns, r.rules, t.nodes[node.row()].labels);
  if (r.closes_node) {
    ++t.closings.edit(node.row()).unread_pods;
    close_or_open(t, node);
  }
  if (!is_confirmation || !r.is_in_engine()) ++t.nodes_edition;
  if (r.gang != kNoGang) touch_gang(t, r.gang);
  if (r.gang == kNoGang && !r.is_in_engine()) submit_single(t, slot);
  // reported together with the others by evaluate_gang(t)
  if (!r.is_in_engine()) return t.bound_outside.push_back(r.gang);
  const Bound bound{r.member, node, is_confirmation ? r.devices : devices_held(t, r)};
  if (is_confirmation)
    t.out.add_confirmation(bound);
  else
    t.out.add(bound);
}

void leave_node(TrackerData& t, PodRecord& r) {
  if (r.phase == Phase::kBound && !r.node.is_none()) {
    t.anti_affinity.remove(r.ns, r.rules, t.nodes[r.node.row()].labels);
    if (r.closes_node) {
      --t.closings.edit(r.node.row()).unread_pods;
      close_or_open(t, r.node);
    }
  }
  r.node = NodeId::none();
  if (r.phase == Phase::kBound) r.phase = Phase::kHeld;
}

void note_on_unknown_node(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  leave_node(t, r);
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
