#include "live/track/pods/requests.h"

#include <algorithm>

#include "live/track/pods/awaits_resource.h"
#include "live/track/pods/bound_pods.h"
#include "live/track/pods/jobs.h"
#include "live/track/pods/pod_changes.h"
#include "live/track/pods/queues.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

void renew_demand(TrackerData& t, PodSlot slot, DemandId demand) {
  PodRecord& r = t.pods.edit(slot);
  const NodeId node = r.node;
  const bool is_bound = r.phase == PodRecord::Phase::kBound;
  const bool was_in_engine = r.is_in_engine();
  if (is_bound) leave_node(t, slot);
  withdraw_pod(t, slot);
  set_demand(t, r, demand);
  if (is_bound) return enter_bound(t, slot, node);
  if (!was_in_engine || r.gang != kNoGang) return;
  submit_single(t, slot);
  if (r.phase == PodRecord::Phase::kNominated) t.out.add(Nominated{r.member, node, r.priority});
}

void renew_demands(TrackerData& t) {
  t.translator.forget_templates();
  for (PodSlot slot = 0; slot < t.pods.slots(); ++slot) {
    const PodRecord& r = t.pods[slot];
    if (r.phase == PodRecord::Phase::kFree || r.demand.is_none()) continue;
    const PooledString refused = t.translator.refused_in(r.demand);
    if (!refused.empty() && (r.phase == Phase::kWaiting || awaits_resource(r)))
      hold_pod(t, slot, {HoldReason::kMalformed, refusal_text(refused)});
    else if (const DemandId renewed = t.translator.renewed(r.demand); renewed != r.demand)
      renew_demand(t, slot, renewed);
  }
}

Hold served_hold(const TrackerData& t, const PodRecord& r) {
  if (t.served_resources.is_empty() || r.demand.is_none()) return {};
  for (const ResourceAmount& a : t.translator.demand_of(r.demand).amounts)
    if (const PooledString server = t.served_resources.server_of(a.resource); !server.empty())
      return {HoldReason::kUnsupported, "spec.containers[].resources.requests (" +
                                            t.names.resource_name(a.resource).str() +
                                            ", which no node has and DeviceClass " + server.str() + " serves)"};
  return {};
}

void refresh_served(TrackerData& t) {
  for (PodSlot slot = 0; slot < t.pods.slots(); ++slot) {
    const PodRecord& r = t.pods[slot];
    const bool is_held = awaits_resource(r);
    if (r.phase != Phase::kWaiting && !is_held) continue;
    const Hold hold = served_hold(t, r);
    if (hold.reason == HoldReason::kNone) {
      if (is_held) admit_again(t, slot);
    } else if (!is_held || r.hold_detail.view() != hold.detail) {
      hold_pod(t, slot, hold);
    }
  }
  t.served_resources.forget_news();
}

Hold terms_hold(const PodRecord& r) {
  return {HoldReason::kTermsFull,
          "the pods of a namespace may have " + std::to_string(NamespaceTerms::kMax) +
              " terms of pod affinity, anti-affinity and topology spread (alike pods count once), and those of " +
              r.ns.str() + " leave no room for this one's; it waits until some with other terms have ended"};
}

void refresh_let_in(TrackerData& t) {
  for (const PodSlot slot : t.namespace_terms.take_let_in()) {
    const PodRecord& r = t.pods[slot];
    if (r.phase == Phase::kHeld && r.hold == HoldReason::kTermsFull) admit_again(t, slot);
  }
}

void set_demand(TrackerData& t, PodRecord& r, DemandId demand) {
  if (r.demand == demand) return;
  if (!demand.is_none()) t.translator.use(demand);
  if (!r.demand.is_none()) t.translator.leave(r.demand);
  if (!r.mounted_on.is_none() && !t.volume_rooms.is_empty())
    t.volumes.touch_node(t.names.nodes.name(r.mounted_on));  // volumes that it has or not
  r.demand = demand;
}

void set_constraint(TrackerData& t, PodRecord& r, ConstraintId constraint) {
  if (r.constraint == constraint) return;
  if (!constraint.is_none()) t.translator.use(constraint);
  if (!r.constraint.is_none()) t.translator.leave(r.constraint);
  r.constraint = constraint;
}

namespace {

void set_label_set(TrackerData& t, PodRecord& r, LabelSetId labels) {
  if (r.label_set == labels) return;
  if (!labels.is_none()) t.translator.company().use(labels);
  if (!r.label_set.is_none()) t.translator.company().leave(r.label_set);
  r.label_set = labels;
}

/// What a waiting pod has lost; null: nothing, or it has a place. Of a gang that starts together all try again later.
const ScarceVolumes::Classes* lost_volumes(const TrackerData& t, PodSlot slot) {
  const PodRecord& r = t.pods[slot];
  const bool has_place = r.phase == Phase::kAssumed || r.phase == Phase::kBound;
  const bool is_of_gang = r.gang != kNoGang && t.gangs[r.gang].is_gang;
  return has_place || is_of_gang ? nullptr : t.scarce_volumes.lost_by(slot);
}

void renew_label_set(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  const LabelSetId before = r.label_set;
  const ScarceVolumes::Classes* lost = lost_volumes(t, slot);
  const LabelSetId now = lost == nullptr ? t.translator.company().label_set(r.ns, r.its_labels(), r.is_leaving)
                                         : t.translator.company().label_set(
                                               r.ns, ScarceVolumes::labels(r.its_labels(), *lost), r.is_leaving);
  set_label_set(t, r, now);
  if (r.is_in_engine() && r.label_set != before) t.out.add(LabelsChanged{r.member, r.label_set});
}

}  // namespace

void take_labels(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  const bool is_leaving = pod.deletion_requested.value != 0;
  const bool are_others = r.labels != pod.labels && (!r.labels || !pod.labels || *r.labels != *pod.labels);
  const bool is_changed = are_others || r.is_leaving != is_leaving;
  r.labels = pod.labels;
  r.is_leaving = is_leaving;
  if (is_leaving) r.leaves_by = pod.deletion_requested;
  if (t.are_labels_counted && (is_changed || r.label_set.is_none())) renew_label_set(t, slot);
}

void count_labels(TrackerData& t) {
  if (t.are_labels_counted) return;
  t.are_labels_counted = true;
  for (PodSlot slot = 0; slot < t.pods.slots(); ++slot)
    if (t.pods[slot].phase != Phase::kFree) renew_label_set(t, slot);
}

void forget_labels(TrackerData& t, PodRecord& r) { set_label_set(t, r, LabelSetId::none()); }

void renew_labels(TrackerData& t, PodSlot slot) {
  if (!t.pods[slot].label_set.is_none()) renew_label_set(t, slot);
}

namespace {

bool is_waiting_in(const TrackerData& t, const PooledString& ns, PodSlot slot) {
  return slot < t.pods.slots() && t.pods[slot].phase == Phase::kWaiting && t.pods[slot].ns == ns;
}

std::shared_ptr<const PodRules> rules_with_defaults(TrackerData& t, PodSlot slot) {
  const PodRecord& r = t.pods[slot];
  DefaultSpread& spread = t.default_spread;
  const bool has_gpus = !r.demand.is_none() && t.translator.demand_of(r.demand).devices.count > 0;
  if (spread.is_off() || (spread.defaults().spares_gpus && (has_gpus || r.gang != kNoGang))) return r.rules;
  WaitingTemplates& waiting = spread.waiting();
  if (waiting.is_sweep_due())
    waiting.sweep([&](const PooledString& ns, PodSlot noted) { return is_waiting_in(t, ns, noted); });
  waiting.note(r, slot);
  return spread.rules_of(r);
}

}  // namespace

ConstraintId constraint_for(TrackerData& t, PodSlot slot) {
  const PodRecord& r = t.pods[slot];
  const std::shared_ptr<const PodRules> rules = rules_with_defaults(t, slot);
  const ScarceVolumes::Classes* lost = lost_volumes(t, slot);
  if (lost != nullptr || (rules && rules->has_company())) count_labels(t);
  if (lost == nullptr) return t.exclusion_constraints.of(r.ns, r.its_labels(), rules, r.volume_terms);
  renew_labels(t, slot);
  return t.exclusion_constraints.of(r.ns, ScarceVolumes::labels(r.its_labels(), *lost),
                                    t.scarce_volumes.rules(rules, *lost), r.volume_terms);
}

void end_keeping_apart(TrackerData& t, PodSlot slot) {
  if (t.scarce_volumes.lost_by(slot) == nullptr) return;
  renew_labels(t, slot);
  set_bound_constraint(t, slot);
}

void set_bound_constraint(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  const bool has_terms = r.rules && (!r.rules->required_anti_affinity.empty() || r.rules->draws_others());
  if (!has_terms && !r.constraint.is_none() && !t.translator.acts_on_others(r.constraint)) return;
  const ConstraintId constraint = has_terms ? t.translator.acting_on_others(r.ns, *r.rules) : t.translator.anywhere();
  // The engine keeps what a placed member waited under, unless it keeps others away than it does now.
  if (!r.constraint.is_none() && t.translator.act_alike_on_others(r.constraint, constraint)) return;
  set_constraint(t, r, constraint);
  if (r.is_in_engine()) t.out.add(ConstraintChanged{r.member, constraint});
}

void refresh_constraints(TrackerData& t) {
  for (PodSlot slot = 0; slot < t.pods.slots(); ++slot) {
    const PodRecord& r = t.pods[slot];
    if (r.phase == Phase::kWaiting && t.anti_affinity.asked().concerns(r.ns, r.its_labels())) renew_constraint(t, slot);
  }
  t.anti_affinity.forget_news();
}

namespace {

bool selects_namespaces(const PodRules& rules) {
  const auto selects = [](const PodAffinityTerm& term) { return term.namespace_selector.present; };
  return std::ranges::any_of(rules.required_pod_affinity, selects) ||
         std::ranges::any_of(rules.required_anti_affinity, selects);
}

}  // namespace

void refresh_relabelled(TrackerData& t) {
  std::sort(t.relabelled_namespaces.begin(), t.relabelled_namespaces.end());
  for (PodSlot slot = 0; slot < t.pods.slots(); ++slot) {
    const PodRecord& r = t.pods[slot];
    if (r.phase != Phase::kWaiting || !r.rules || !selects_namespaces(*r.rules)) continue;
    if (std::binary_search(t.relabelled_namespaces.begin(), t.relabelled_namespaces.end(), r.ns))
      renew_constraint(t, slot);
  }
  t.relabelled_namespaces.clear();
}

void refresh_images(TrackerData& t) {
  NodeImages& images = t.translator.images();
  t.exclusion_constraints.forget();
  t.translator.forget_rules();
  const bool were_too_many = images.begin_naming_anew();
  const PodRules* asked = nullptr;  // pods of one template follow each other
  bool is_concerned = false;
  for (PodSlot slot = 0; slot < t.pods.slots(); ++slot) {
    const PodRecord& r = t.pods[slot];
    if (r.phase != Phase::kWaiting || !r.rules) continue;
    if (r.rules.get() != asked) {
      asked = r.rules.get();
      is_concerned = images.concerns(asked->images);
      if (were_too_many) images.note_missed(asked->images);
    }
    if (is_concerned) renew_constraint(t, slot);
  }
  images.forget_news();
}

void refresh_default_spread(TrackerData& t) {
  for (const auto& [ns, news] : t.default_spread.book().take_news())
    for (const PodSlot slot : t.default_spread.waiting().take(ns, news))
      if (is_waiting_in(t, ns, slot)) renew_constraint(t, slot);
}

void renew_constraint(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  ++t.constraints_renewed;
  const ConstraintId constraint = constraint_for(t, slot);
  if (constraint == r.constraint) return;
  set_constraint(t, r, constraint);
  if (r.is_in_engine()) t.out.add(ConstraintChanged{r.member, constraint});
}

}  // namespace ashlar::kube
