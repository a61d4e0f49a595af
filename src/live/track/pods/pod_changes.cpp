#include "live/track/pods/pod_changes.h"

#include <algorithm>

#include "base/digest.h"

#include "live/track/gangs/membership.h"
#include "live/track/pods/bindings.h"
#include "live/track/pods/bound_pods.h"
#include "live/track/pods/foreign_pods.h"
#include "live/track/pods/jobs.h"
#include "live/track/pods/leaving_pods.h"
#include "live/track/pods/queues.h"
#include "live/track/pods/requests.h"
#include "live/track/unknown_fields.h"
#include "live/track/volumes/pod_volumes.h"

#include "live/track/hold_text.h"
#include "text/duration_text.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// A known pod whose new version cannot be read whole.
/// An unreadable pod is never taken for deleted: all that is known of it stays, but it may have been bound by now, and
/// while it is not it is held.
void keep_unread_pod(TrackerData& t, PodSlot slot, const Pod& pod) {
  const PodRecord& r = t.pods[slot];
  const bool is_bound = r.phase == Phase::kBound || r.phase == Phase::kOnUnknownNode || r.phase == Phase::kLeaving;
  if (!pod.node_name.empty()) {
    if (!is_bound || r.node_name != pod.node_name) see_bound(t, slot, pod);
  } else if (r.is_ours) {
    see_pending(t, slot, pod);
  }
}

void refresh_pod(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  take_labels(t, slot, pod);
  change_rules(t, slot, pod.rules);
  if (r.phase == Phase::kBound) {
    t.namespace_terms.note_bound(r);
    set_bound_constraint(t, slot);
  }
  r.priority = pod.priority;
  r.stops_none = pod.never_preempts;
  if (pod.scheduled.status == ConditionStatus::kTrue) r.placed = pod.scheduled.last_transition;
  r.controller_kind = pod.controller_kind;
  r.controller_name = pod.controller_name;
  const bool has_refusal = pod.scheduled.status == ConditionStatus::kFalse;
  r.is_condition_there = has_refusal;
  r.condition_hash = has_refusal ? condition_hash(pod.scheduled.reason, pod.scheduled.message) : 0;
  r.condition_words = has_refusal ? condition_words(pod.scheduled.reason, pod.scheduled.message) : 0;
  r.spec_generation = pod.generation;
  if (!r.is_ours && !pod.group_name.empty()) see_foreign_pod(t, slot, pod);
  if (!pod.node_name.empty())
    see_bound(t, slot, pod);
  else if (!r.is_ours)
    see_nominated(t, slot, pod);
  else
    see_pending(t, slot, pod);
}

/// A duration among the pod's settings; 0 without one.
Result<Millis> stated_duration(const Pod& pod, std::string_view key) {
  const PooledString* text = find_setting(pod, key);
  if (text == nullptr) return Millis(0);
  Result<Millis> duration = parse_duration(*text);
  return duration ? duration : invalid(std::string(key) + ": " + duration.error().message);
}

/// Where the pod states one of the two durations, it stands for both.
Result<Estimate> stated_estimate(const Pod& pod) {
  const Result<Millis> median = stated_duration(pod, kDurationLabel);
  if (!median) return median.error();
  const Result<Millis> late = stated_duration(pod, kLateDurationLabel);
  if (!late) return late.error();
  if (late->value > 0 && *late < *median)
    return invalid(std::string(kLateDurationLabel) + ": " + duration_text(*late) + " is less than the " +
                   duration_text(*median) + " of " + std::string(kDurationLabel));
  if (median->value == 0 && late->value == 0) return Estimate{};
  return Estimate{median->value > 0 ? *median : *late, late->value > 0 ? *late : *median};
}

Hold hold_for(TrackerData& t, PodSlot slot, const Pod& pod, GangSettings& setting) {
  PodRecord& r = t.pods.edit(slot);
  if (pod.deletion_requested.value != 0) return {HoldReason::kDeleting, {}};
  if (pod.scheduling_gates > 0) return {HoldReason::kGated, pod.gate_names.str()};
  if (!pod.problem.empty()) return {HoldReason::kUnreadable, pod.problem.str()};
  if (pod.rules && !pod.rules->too_large.empty()) return {HoldReason::kMalformed, pod.rules->too_large.str()};
  Result<GangSettings> read = read_gang_settings(pod);
  if (read) {
    setting = *std::move(read);
    note_setting(r, setting);
  }
  // Before what is missing: that may be what was mistyped.
  if (std::string mistyped = mistyped_setting(pod); !mistyped.empty())
    return {HoldReason::kMalformed, std::move(mistyped)};
  if (!read) return {HoldReason::kMalformed, read.error().message};
  if (t.options.quarantine != nullptr && t.options.quarantine->holds(pod.uid))
    return {HoldReason::kQuarantined, t.options.quarantine->text_for(pod.uid)};
  if (pod.rules && !pod.rules->unsupported.empty()) return {HoldReason::kUnsupported, pod.rules->unsupported.str()};
  if (pod.rules)
    if (std::string unknown = refused_unknown_fields(t.options.accepted_fields, pod.rules->unknown_fields);
        !unknown.empty())
      return {HoldReason::kUnknownField, std::move(unknown)};
  const Result<DemandId> demand = t.translator.demand(pod);
  if (!demand) return {HoldReason::kMalformed, demand.error().message};
  if (std::string problem = t.translator.problem_of_device_settings(pod, *demand); !problem.empty())
    return {HoldReason::kMalformed, std::move(problem)};
  const Result<Estimate> estimate = stated_estimate(pod);
  r.estimate = estimate ? *estimate : Estimate{};
  if (!estimate) return {HoldReason::kMalformed, estimate.error().message};
  if (r.demand != *demand) withdraw_pod(t, slot);
  set_demand(t, r, *demand);
  const PooledString queue_name = queue_name_for(t, pod);
  const PooledString* named = find_setting(pod, kQueueLabel);
  r.named_queue = named == nullptr ? PooledString() : *named;
  Hold why;
  const QueueId queue = queue_called(t, queue_name, pod.ns, why);
  if (queue.is_none()) return why;
  if (r.queue != queue && r.gang == kNoGang) withdraw_pod(t, slot);  // a gang moves as a whole, see sum_up
  r.queue = queue;
  return {};
}

/// Hash of what the pod's owner may change and no row of its own holds: labels and our own annotations. Never 0; an
/// update of the status does not change it.
std::uint64_t owner_hash(const Pod& pod) {
  std::uint64_t sum = 1;
  for (const std::shared_ptr<const Labels>& labels : {pod.labels, pod.annotations}) {
    if (!labels) continue;
    for (const auto& [key, value] : *labels) sum += hash_combine(key.content_hash(), value.content_hash());
    sum = mix64(sum);
  }
  return sum == 0 ? 1 : sum;
}

}  // namespace

void note_setting(PodRecord& r, const GangSettings& setting) {
  r.gang_size = setting.size;
  r.within = setting.within;
  r.prefer = setting.prefer;
}

std::size_t scheduler_index(const TrackerData& t, const PooledString& scheduler_name) {
  return static_cast<std::size_t>(std::find(t.scheduler_names.begin(), t.scheduler_names.end(), scheduler_name) -
                                  t.scheduler_names.begin());
}

void take_pod(TrackerData& t, Change<Pod>&& change) {
  if (change.kind == Change<Pod>::Kind::kSynced) return;
  t.out.stamp();
  Pod& pod = change.object;
  note_unknown_fields(t, pod);
  if (!t.nominated_early.empty()) t.nominated_early.erase({pod.ns, pod.name});
  PodSlot slot = t.pods.find(pod.ns, pod.name);
  if (change.kind == Change<Pod>::Kind::kDeleted || pod.is_terminal()) {
    if (slot != kNoPod && (pod.uid.empty() || t.pods[slot].uid == pod.uid)) forget_pod(t, slot);
    return;
  }
  if (slot != kNoPod && !pod.uid.empty() && t.pods[slot].uid != pod.uid) {
    forget_pod(t, slot);
    slot = kNoPod;
  }
  if (slot != kNoPod) note_volumes(t, slot, pod);
  if (slot != kNoPod && !pod.problem.empty()) return keep_unread_pod(t, slot, pod);
  const bool is_ours = scheduler_index(t, pod.scheduler_name) < t.scheduler_names.size();
  const bool matters = is_ours || !pod.node_name.empty() || !pod.nominated_node_name.empty() || !pod.group_name.empty();
  if (slot == kNoPod) {
    if (!matters) return;
    slot = t.pods.add(pod.ns, pod.name);
    t.pods.edit(slot).uid = pod.uid;
    t.pods.edit(slot).is_ours = is_ours;
    t.pods.edit(slot).scheduler = static_cast<std::uint8_t>(scheduler_index(t, pod.scheduler_name));
    t.pods.edit(slot).created = pod.created;
    t.pods.edit(slot).seen = t.out.now();
    t.pods.edit(slot).phase = Phase::kHeld;
    note_volumes(t, slot, pod);
  } else if (!matters) {
    forget_pod(t, slot);
    return;
  }
  refresh_pod(t, slot, pod);
}

void see_pending(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  const std::uint64_t hash = owner_hash(pod);
  const bool is_changed_by_owner = r.owner_hash != 0 && hash != r.owner_hash;
  r.owner_hash = hash;
  const DemandId demand_before = r.demand;
  // A pod known to be bound stays bound; an older version of it may still arrive.
  if (r.phase == Phase::kBound || r.phase == Phase::kOnUnknownNode || r.phase == Phase::kLeaving) return;
  if (r.phase == Phase::kAssumed && pod.deletion_requested.value == 0) {
    // A pod may be resized before it is bound.
    if (!is_changed_by_owner && t.translator.is_demand_of(pod, r.demand)) return;
    t.missed.insert_or_assign(slot, pod);
    // the others check that before they are sent
    if (r.gang != kNoGang && t.gangs[r.gang].is_gang && !t.gangs[r.gang].is_started) ++t.nodes_edition;
    return;
  }
  t.missed.erase(slot);
  GangSettings setting;
  const Hold hold = hold_for(t, slot, pod, setting);
  const bool names_other =
      r.gang != kNoGang && !setting.name.empty() &&
      (t.gangs[r.named_gang()].name != setting.name || t.gangs[r.named_gang()].kind != setting.kind);
  if (names_other) leave_gang(t, slot);
  if (r.gang == kNoGang && !setting.name.empty() && hold.reason != HoldReason::kDeleting &&
      hold.reason != HoldReason::kGated) {
    join_gang(t, slot, setting);
    note_companions(t, slot);
  }
  if (hold.reason != HoldReason::kNone) return hold_pod(t, slot, hold);
  // A failed binding waits for its retry time, unless the pod's owner has changed something that may help.
  const bool is_held = r.phase == Phase::kHeld && r.hold == HoldReason::kBindFailed;
  if (is_held && !r.unanswered_node.empty()) return;  // see hold_until_answered
  if (is_held && !is_changed_by_owner && r.demand == demand_before && constraint_for(t, slot) == r.constraint) return;
  if (is_changed_by_owner && is_gang_held(t, slot)) forget_bind_hold(t, r.gang);
  admit_pod(t, slot);
}

void admit_pod(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  if (!r.unanswered_node.empty()) return hold_until_answered(t, slot);  // whatever else holds it meanwhile
  if (r.volume_hold != HoldReason::kNone) return hold_pod(t, slot, volume_hold(r));
  if (const Hold served = served_hold(t, r); served.reason != HoldReason::kNone) return hold_pod(t, slot, served);
  if (!t.namespace_terms.lets_in(r, slot)) return hold_pod(t, slot, terms_hold(r));
  const ConstraintId constraint = constraint_for(t, slot);
  const bool is_changed = r.is_in_engine() && constraint != r.constraint;
  set_constraint(t, r, constraint);
  if (r.phase != Phase::kWaiting && r.hold != HoldReason::kBindFailed) r.seen = eligible_since(t, r);
  r.hold = HoldReason::kNone;
  r.phase = Phase::kWaiting;
  if (is_changed) t.out.add(ConstraintChanged{r.member, constraint});
  if (r.gang != kNoGang)
    touch_gang(t, r.gang);
  else if (!r.is_in_engine())
    submit_single(t, slot);
}

void hold_pod(TrackerData& t, PodSlot slot, const Hold& hold) {
  PodRecord& r = t.pods.edit(slot);
  const bool was_waiting = r.phase == Phase::kWaiting;
  withdraw_pod(t, slot);
  ++r.bind_attempt;
  r.node = NodeId::none();
  set_mounted(t, slot, NodeId::none());
  r.phase = Phase::kHeld;
  r.hold = hold.reason;
  r.hold_detail = PooledString(bounded_words(hold.detail, kDetailMax));
  if (r.gang != kNoGang && (hold.reason == HoldReason::kDeleting || hold.reason == HoldReason::kGated))
    leave_gang(t, slot);
  if (was_waiting) touch_companions(t, slot);
  if (r.gang != kNoGang) touch_gang(t, r.gang);
  const bool is_worth_saying = hold.reason != HoldReason::kGated && hold.reason != HoldReason::kDeleting;
  if (is_worth_saying && t.listeners.on_condition_due) t.listeners.on_condition_due(slot);
}

void forget_pod(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  note_answered(t, slot);
  if (r.phase == Phase::kOnUnknownNode) leave_unknown_node(t, slot);
  if (r.phase == Phase::kLeaving) end_leaving(t, slot);
  leave_node(t, slot);
  withdraw_pod(t, slot);
  if (r.gang != kNoGang) leave_gang(t, slot);
  if (r.foreign_pod_of != kNoGang) leave_foreign_pods(t, slot);
  t.missed.erase(slot);
  forget_volumes(t, slot);
  set_demand(t, r, DemandId::none());
  set_constraint(t, r, ConstraintId::none());
  forget_labels(t, r);
  t.namespace_terms.forget(r);
  r.phase = Phase::kFree;
  t.pods.remove(slot);
}

void wait_again(TrackerData& t, PodSlot slot) {
  if (const auto missed = t.missed.find(slot); missed != t.missed.end()) {
    Pod pod = std::move(missed->second);
    t.missed.erase(missed);
    note_volumes(t, slot, pod);
    return see_pending(t, slot, pod);
  }
  if (t.pods[slot].volumes) renew_volumes(t, slot);
  if (t.pods[slot].phase != Phase::kWaiting) return;
  if (const Hold served = served_hold(t, t.pods[slot]); served.reason != HoldReason::kNone)
    return hold_pod(t, slot, served);
  renew_constraint(t, slot);
  if (t.pods[slot].named_queue.empty()) move_to_queue(t, slot, queue_name_in(t, t.pods[slot].ns));
}

}  // namespace ashlar::kube
