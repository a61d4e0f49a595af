#include "live/track/volumes/pod_volumes.h"

#include <algorithm>

#include "live/track/nodes/csi_nodes.h"
#include "live/track/pods/pod_changes.h"
#include "live/track/pods/queues.h"
#include "live/track/pods/requests.h"
#include "live/track/volumes/pod_needs.h"
#include "live/track/volumes/room_counts.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

bool is_placed(const PodRecord& r) { return r.phase == Phase::kAssumed || r.phase == Phase::kBound; }

bool names_claim(const PodRecord& r, const PooledString& claim) {
  return r.volumes && std::ranges::any_of(r.volumes->claims,
                                          [&](const ClaimUse& use) { return !use.is_ephemeral && use.name == claim; });
}

/// Another pod that names the claim, and of which `is_it` says so.
template <class Question>
bool has_other_user(const TrackerData& t, PodSlot slot, const PooledString& claim, Question&& is_it) {
  const VolumeTopic topic{VolumeTopic::Kind::kClaim, t.pods[slot].ns, claim};
  return std::ranges::any_of(t.volumes.dependents(topic), [&](PodSlot other) {
    return other != slot && names_claim(t.pods[other], claim) && is_it(t.pods[other], other);
  });
}

/// Whether a pod that has a place names the claim. While pods are evaluated one after another none gets a place or
/// loses it: they are looked for once for each claim.
bool has_placed_user(TrackerData& t, PodSlot slot, const PooledString& claim) {
  const auto look = [&] {
    ++t.claim_users_looked_for;
    return has_other_user(t, slot, claim, [](const PodRecord& other, PodSlot) { return is_placed(other); });
  };
  if (!t.are_volumes_settling) return look();
  const auto [known, is_new] = t.claims_in_use.try_emplace({t.pods[slot].ns, claim}, false);
  if (is_new) known->second = look();
  return known->second;
}

/// Members of a gang that start together cannot both have a claim for one pod: the first keeps it.
bool is_claim_taken(TrackerData& t, PodSlot slot, const PooledString& claim) {
  const PodRecord& r = t.pods[slot];
  if (is_placed(r)) return false;
  if (has_placed_user(t, slot, claim)) return true;
  if (r.gang == kNoGang || !t.gangs[r.gang].is_gang) return false;
  return std::ranges::any_of(t.gangs[r.gang].pods, [&](PodSlot other) {
    return other < slot && t.pods[other].phase == Phase::kWaiting && names_claim(t.pods[other], claim);
  });
}

VolumeOwner owner_of(TrackerData& t, PodSlot slot) {
  const PodRecord& r = t.pods[slot];
  return {.ns = r.ns,
          .name = r.name,
          .uid = r.uid,
          .volumes = *r.volumes,
          .has_place = r.phase == Phase::kAssumed && t.chosen_volumes.contains(slot),
          .late = t.late_choices,
          .accepted_fields = t.options.accepted_fields,
          .is_taken = [&t, slot](const PooledString& claim) { return is_claim_taken(t, slot, claim); },
          .each_node =
              [&t](const std::function<void(const PooledString&, const Labels&)>& visit) {
                for (std::size_t row = 0; row < t.nodes.size(); ++row)
                  if (const PooledString name = t.names.nodes.name(NodeId(row)); !name.empty())
                    visit(name, t.nodes[row].labels);
              }};
}

/// The resource has its column from the first pod on that requests it.
std::vector<Amount> amounts_of(TrackerData& t, const std::vector<AttachedVolume>& attached) {
  std::vector<Amount> amounts;
  for (const PooledString& driver : t.volumes.limited_drivers()) {
    const auto count = std::ranges::count(attached, driver, &AttachedVolume::driver);
    if (count == 0) continue;
    amounts.push_back({attachable_resource(driver), count});
    t.names.resource(amounts.back().name);
  }
  return amounts;
}

/// Evaluates the pod's volumes; what nodes have to attach for it.
std::vector<Amount> evaluate(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  if (!r.volumes) {
    r.volume_terms.reset();
    r.volume_hold = HoldReason::kNone;
    t.volumes.depend(slot, {});
    if (t.scarce_volumes.forget(slot)) renew_labels(t, slot);
    return {};
  }
  VolumeNeeds needs = volume_needs(t.volumes, owner_of(t, slot));
  r.volume_terms = r.phase == Phase::kBound ? nullptr : std::move(needs.terms);
  r.volume_hold = needs.hold.reason;
  r.volume_problem = PooledString(r.volume_hold == HoldReason::kNone ? needs.unmet : needs.hold.detail);
  t.volumes.depend(slot, std::move(needs.topics));
  if (!needs.has_late && t.scarce_volumes.forget(slot)) renew_labels(t, slot);
  std::vector<AttachedVolume>& attached = t.attached[slot];
  if (attached != needs.attached) {
    attached = std::move(needs.attached);
    if (!r.mounted_on.is_none() && !t.volumes.limited_drivers().empty())
      t.volumes.touch_node(t.names.nodes.name(r.mounted_on));
  }
  std::vector<Amount> amounts = amounts_of(t, attached);
  if (needs.has_late && !t.volume_rooms.is_empty())
    for (Amount& amount : room_amounts(t, late_claims(t.volumes, owner_of(t, slot)))) amounts.push_back(amount);
  return amounts;
}

/// Volumes and nodes that may be looked at between two decisions; one evaluation that exceeds it is made whole.
constexpr std::uint64_t kLooksPerTurn = 60'000;
std::uint64_t looks_of_turn(const TrackerData& t) { return t.late_choices.looks() - t.looks_before_turn; }
bool is_turn_over(const TrackerData& t) { return looks_of_turn(t) >= kLooksPerTurn; }

constexpr std::string_view kNotYetLookedAt = "its volumes are looked at in a moment: many pods wait for volumes";

/// What its demand says of them so far.
std::vector<Amount> amounts_so_far(const TrackerData& t, const PodRecord& r) {
  std::vector<Amount> amounts;
  if (r.demand.is_none()) return amounts;
  for (const ResourceAmount& a : t.translator.demand_of(r.demand).amounts) {
    if (a.resource.row() < resource::kFirstExtended) continue;
    if (const PooledString name = t.names.resource_name(a.resource); is_volume_resource(name.view()))
      amounts.push_back({name, a.amount});
  }
  return amounts;
}

/// A pod that waits, of which it is not known yet where its volumes can be used, is not placed until its turn; of one
/// that is known it stays as it is until then.
std::vector<Amount> evaluate_later(TrackerData& t, PodSlot slot, bool is_known) {
  t.evaluation_turns.add(t.pods[slot].ns, slot);
  if (is_known) return amounts_so_far(t, t.pods[slot]);
  PodRecord& r = t.pods.edit(slot);
  r.volume_hold = HoldReason::kVolumes;
  r.volume_problem = PooledString(kNotYetLookedAt);
  return {};
}

/// Waiting pods that name its claims for one pod look again.
void touch_claims(TrackerData& t, const PodRecord& r) {
  if (!r.volumes) return;
  for (const ClaimUse& use : r.volumes->claims) {
    const PersistentVolumeClaim* claim = t.volumes.claim(r.ns, use.name);
    if (!use.is_ephemeral && claim != nullptr && claim->is_for_one_pod())
      t.volumes.touch({VolumeTopic::Kind::kClaim, r.ns, use.name});
  }
}

bool has_lost_claim(const TrackerData& t, PodSlot slot) {
  const PodRecord& r = t.pods[slot];
  return std::ranges::any_of(r.volumes->claims, [&](const ClaimUse& use) {
    const PersistentVolumeClaim* claim = use.is_ephemeral ? nullptr : t.volumes.claim(r.ns, use.name);
    return claim != nullptr && claim->is_for_one_pod() &&
           has_other_user(t, slot, use.name, [](const PodRecord& other, PodSlot) { return is_placed(other); });
  });
}

ScarceVolumes::Classes classes_of(const std::vector<LateClaim>& claims) {
  ScarceVolumes::Classes classes;
  for (const LateClaim& late : claims)
    if (std::ranges::find(classes, late.claim->class_name) == classes.end()) classes.push_back(late.claim->class_name);
  return classes;
}

bool are_of_nodes(const TrackerData& t, NodeId node, const VolumeOwner& owner, const std::vector<LateClaim>& claims) {
  return t.late_choices.is_of_nodes(claims, t.nodes[node.row()].labels, owner.each_node);
}

/// The claims that bind late take what the node has for them, before the next decision.
void choose(TrackerData& t, PodSlot slot, NodeId node) {
  PodRecord& r = t.pods.edit(slot);
  const VolumeOwner owner = owner_of(t, slot);
  const std::vector<LateClaim> claims = late_claims(t.volumes, owner);
  if (claims.empty()) return;
  const PooledString name = t.names.nodes.name(node);
  const VolumeChoice choice = t.late_choices.choose(claims, name, t.nodes[node.row()].labels);
  ChosenVolumes chosen{.node = name, .items = {}, .problem = {}};
  const bool is_of_gang = r.gang != kNoGang && t.gangs[r.gang].is_gang;
  if (choice.unmet == nullptr) {
    for (const auto& [claim, volume] : choice.bound) chosen.items.push_back({*claim, *t.volumes.volume(volume)});
    for (const PersistentVolumeClaim* claim : choice.made) chosen.items.push_back({.claim = *claim, .volume = {}});
    for (ChosenVolumes::Item& item : chosen.items)
      item.taken_as =
          item.is_new() ? t.volumes.assume_node(item.claim, name) : t.volumes.assume(item.volume.name, item.claim);
  } else if (is_of_gang && are_of_nodes(t, node, owner, claims) && lacks_room(t, slot, *choice.unmet)) {
    r.has_lost_claim = true;  // the next decision knows how many volumes are left
    return;
  } else if (is_of_gang && !t.gangs[r.gang].is_started) {
    // tried again later: the same decision at once would have the same end
    chosen.problem = "node " + name.str() + " has no volumes left for the claims of pod " + r.name.str();
  } else {
    r.has_lost_claim = true;
    if (are_of_nodes(t, node, owner, claims)) t.scarce_volumes.note_lost(slot, classes_of(claims));
    return;
  }
  t.chosen_volumes[slot] = std::move(chosen);
}

void give_back(TrackerData& t, PodSlot slot) {
  const auto chosen = t.chosen_volumes.find(slot);
  if (chosen == t.chosen_volumes.end()) return;
  for (const ChosenVolumes::Item& item : chosen->second.items) {
    if (!item.is_own()) continue;
    item.is_new() ? t.volumes.restore_claim(item.claim.ns, item.claim.name, item.taken_as)
                  : t.volumes.restore_volume(item.volume.name, item.taken_as);
  }
  t.chosen_volumes.erase(chosen);
}

}  // namespace

Hold volume_hold(const PodRecord& r) { return {r.volume_hold, r.volume_problem.str()}; }

void note_volumes(TrackerData& t, PodSlot slot, Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  const bool is_known = t.attached.contains(slot) && r.volumes && (!pod.volumes || *r.volumes == *pod.volumes);
  if (pod.problem.empty()) r.volumes = pod.volumes;
  if (!r.volumes && !t.attached.contains(slot)) return;
  const bool waits = pod.node_name.empty() && (r.phase == Phase::kWaiting || r.phase == Phase::kHeld);
  std::vector<Amount>& requests = pod.requests.extended;
  std::erase_if(requests, [](const Amount& a) { return is_volume_resource(a.name.view()); });
  for (Amount& amount : r.volumes&& waits&& is_turn_over(t) ? evaluate_later(t, slot, is_known) : evaluate(t, slot)) {
    const auto at = std::lower_bound(requests.begin(), requests.end(), amount.name,
                                     [](const Amount& a, const PooledString& name) { return a.name < name; });
    requests.insert(at, std::move(amount));
  }
}

void note_companions(TrackerData& t, PodSlot slot) {
  if (!t.pods[slot].volumes) return;
  if (is_turn_over(t))
    t.evaluation_turns.add(t.pods[slot].ns, slot);
  else
    evaluate(t, slot);
}

void touch_companions(TrackerData& t, PodSlot slot) { touch_claims(t, t.pods[slot]); }

void forget_volumes(TrackerData& t, PodSlot slot) {
  t.evaluation_turns.forget(slot);
  if (!t.pods[slot].volumes) return;
  set_mounted(t, slot, NodeId::none());
  touch_claims(t, t.pods[slot]);
  t.volumes.depend(slot, {});
  t.attached.erase(slot);
  t.scarce_volumes.forget(slot);
}

void renew_volumes(TrackerData& t, PodSlot slot) {
  if (!t.pods[slot].volumes || t.pods[slot].phase == Phase::kFree) return;
  const HoldReason had = t.pods[slot].volume_hold;
  const PooledString said = t.pods[slot].volume_problem;
  const std::vector<Amount> amounts = evaluate(t, slot);
  const PodRecord& r = t.pods[slot];
  // of a pod whose binding is under way it stays what it was decided by
  if (!r.demand.is_none() && r.phase != Phase::kAssumed)
    if (const DemandId demand = t.translator.with_volumes(r.demand, amounts); demand != r.demand)
      renew_demand(t, slot, demand);
  if (r.phase == Phase::kHeld && r.is_ours && had != HoldReason::kNone && r.hold == had) {
    if (r.volume_hold == HoldReason::kNone) return admit_again(t, slot);
    if (r.volume_hold != had || r.volume_problem != said) hold_pod(t, slot, volume_hold(r));
  } else if (r.phase == Phase::kAssumed) {
    if (t.listeners.on_volumes_changed) t.listeners.on_volumes_changed(slot);
  } else if (r.phase == Phase::kWaiting) {
    if (r.volume_hold != HoldReason::kNone) return hold_pod(t, slot, volume_hold(r));
    renew_constraint(t, slot);
  }
}

void settle_volumes(TrackerData& t) {
  settle_csi_nodes(t);
  t.looks_before_turn = t.late_choices.looks();
  t.late_choices.note_changed(t.volumes.take_classes());
  t.late_choices.settle(kLooksPerTurn / 2);
  for (const PodSlot slot : t.volumes.take_pods()) t.evaluation_turns.add(t.pods[slot].ns, slot);
  t.are_volumes_settling = true;
  while (!t.evaluation_turns.is_empty() && !is_turn_over(t)) renew_volumes(t, t.evaluation_turns.take());
  t.are_volumes_settling = false;
  t.claims_in_use.clear();
  settle_rooms(t);
  settle_csi_nodes(t);  // volumes of placed pods may be others
}

void set_mounted(TrackerData& t, PodSlot slot, NodeId node) {
  PodRecord& r = t.pods.edit(slot);
  if (!r.volumes) return;
  if (r.mounted_on == node) {
    if (r.phase == Phase::kBound) t.chosen_volumes.erase(slot);  // they are its own
    return;
  }
  if (r.phase == Phase::kBound) r.volume_terms.reset();
  if (!r.mounted_on.is_none()) std::erase(t.nodes[r.mounted_on.row()].mounters, slot);
  const NodeId before = r.mounted_on;
  r.mounted_on = node;
  give_back(t, slot);
  if (node.is_none() && !t.volume_rooms.is_empty()) t.volumes.touch_pod(slot);  // it may need room from now on
  r.has_lost_claim = !node.is_none() && has_lost_claim(t, slot);
  if (!node.is_none()) t.nodes[node.row()].mounters.push_back(slot);
  if (r.phase == Phase::kAssumed && !node.is_none() && !r.has_lost_claim) choose(t, slot, node);
  touch_claims(t, r);
  if (t.volumes.limited_drivers().empty() && t.volume_rooms.is_empty()) return;
  for (const NodeId of : {before, node})
    if (!of.is_none()) t.volumes.touch_node(t.names.nodes.name(of));
}

bool has_lost_volumes(const TrackerData& t, PodSlot slot) {
  const PodRecord& r = t.pods[slot];
  if (!r.volumes) return false;
  if (r.has_lost_claim) return true;
  if (t.chosen_volumes.contains(slot)) return false;  // its commit looks at them
  if (r.volume_hold != HoldReason::kNone) return true;
  const Labels& labels = t.nodes[r.node.row()].labels;
  return r.volume_terms && !std::ranges::all_of(r.volume_terms->lists,
                                                [&](const std::vector<NodeTerm>& list) { return holds(list, labels); });
}

}  // namespace ashlar::kube
