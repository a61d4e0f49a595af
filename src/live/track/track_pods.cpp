// The tracker's pods: which of them the engine sees, as what, and what becomes of them.
#include <algorithm>

#include "live/read/pod_text.h"
#include "live/track/tracker.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

void note_setting(PodRecord& r, const GangSettings& setting) {
  r.gang_size = setting.size;
  r.within = setting.within;
  r.prefer = setting.prefer;
}

}  // namespace

void Tracker::take(Change<Pod>&& change) {
  if (change.kind == Change<Pod>::Kind::kSynced) return;
  out_.stamp();
  const Pod& pod = change.object;
  PodSlot slot = pods_.find(pod.ns, pod.name);
  if (change.kind == Change<Pod>::Kind::kDeleted || pod.is_terminal()) {
    if (slot != kNoPod && (pod.uid.empty() || pods_[slot].uid == pod.uid)) forget(slot);
    return;
  }
  if (slot != kNoPod && !pod.uid.empty() && pods_[slot].uid != pod.uid) {
    forget(slot);
    slot = kNoPod;
  }
  if (slot != kNoPod && !pod.problem.empty()) return keep_unread(slot, pod);
  const bool is_ours = serves(pod.scheduler_name);
  const bool matters = is_ours || !pod.node_name.empty() || !pod.nominated_node_name.empty() || !pod.group_name.empty();
  if (slot == kNoPod) {
    if (!matters) return;
    slot = pods_.add(pod.ns, pod.name);
    pods_[slot].uid = pod.uid;
    pods_[slot].is_ours = is_ours;
    pods_[slot].scheduler = static_cast<std::uint8_t>(scheduler_index(pod.scheduler_name));
    pods_[slot].created = pod.created;
    pods_[slot].seen = out_.now();
    pods_[slot].phase = Phase::kHeld;
  } else if (!matters) {
    forget(slot);
    return;
  }
  refresh(slot, pod);
}

/// What cannot be read is never taken for gone: all that is known of the pod stays, but it may have been bound by now, and while it is not it is held.
void Tracker::keep_unread(PodSlot slot, const Pod& pod) {
  const PodRecord& r = pods_[slot];
  const bool is_bound = r.phase == Phase::kBound || r.phase == Phase::kOnUnknownNode;
  if (!pod.node_name.empty()) {
    if (!is_bound || r.node_name != pod.node_name) see_bound(slot, pod);
  } else if (r.is_ours) {
    see_pending(slot, pod);
  }
}

void Tracker::refresh(PodSlot slot, const Pod& pod) {
  PodRecord& r = pods_[slot];
  r.labels = pod.labels;
  if (r.phase == Phase::kBound && r.rules != pod.rules) {  // what was added under the old rules leaves under them
    const Labels& where = nodes_[r.node.row()].labels;
    anti_affinity_.add(r.ns, pod.rules, where);  // first, so that equal terms never vanish in between
    anti_affinity_.remove(r.ns, r.rules, where);
  }
  r.rules = pod.rules;
  r.priority = pod.priority;
  const bool has_refusal = pod.scheduled.status == ConditionStatus::kFalse;
  r.condition_hash = has_refusal ? condition_hash(pod.scheduled.reason, pod.scheduled.message) : 0;
  if (!r.is_ours && !pod.group_name.empty()) see_foreign_pod(slot, pod);
  if (!pod.node_name.empty())
    see_bound(slot, pod);
  else if (!r.is_ours)
    see_nominated(slot, pod);
  else
    see_pending(slot, pod);
}

void Tracker::see_bound(PodSlot slot, const Pod& pod) {
  PodRecord& r = pods_[slot];
  // Of a pod that cannot be read whole counts what was read of it last, else what was read now; less than it holds closes its node.
  const bool has_account = !pod.problem.empty() && !r.demand.is_none();
  const DemandId demand = has_account ? r.demand : translator_.held_by(pod);
  set_closes_node(slot, has_account ? r.closes_node : pod.lacks_amounts);
  r.hold_detail = r.closes_node ? PooledString(bounded_words(pod.problem.view(), kDetailMax)) : PooledString();
  const bool is_known = (r.phase == Phase::kBound || r.phase == Phase::kOnUnknownNode) && r.node_name == pod.node_name;
  if (is_known) check_devices(slot, pod);
  if (is_known && r.is_ours && r.gang != kNoGang) renew_settings(slot, pod);
  if (is_known && r.demand == demand) return;
  const DeviceMask had = is_known ? r.devices : DeviceMask{};
  if (is_known && r.phase == Phase::kBound) {  // resized in place: account anew
    leave_node(r);
    withdraw(slot);
  } else if (r.is_in_engine() && r.demand != demand) {
    withdraw(slot);
  }
  set_demand(r, demand);
  if (!r.is_in_engine() || r.constraint.is_none()) set_constraint(r, translator_.anywhere());
  const Demand& held = translator_.demand_of(demand);
  const DeviceMask known = !had.is_empty() && had.count() == held.devices.count ? had : claimed_devices(pod, held);
  if (r.is_ours && r.gang == kNoGang) {
    if (const Result<GangSettings> setting = read_gang_settings(pod); setting) {
      note_setting(r, *setting);
      if (!setting->name.empty()) join(slot, *setting);
    }
  }
  if (r.queue.is_none()) {
    r.queue = r.is_ours ? queue_called(queue_name_for(pod)) : QueueId(0u);
    if (r.queue.is_none()) r.queue = names_.queues.find(PooledString(kDefaultQueue));
  }
  note_bound(slot, pod.node_name, known);
}

/// A bound member may be given other words about its gang, which then count.
void Tracker::renew_settings(PodSlot slot, const Pod& pod) {
  PodRecord& r = pods_[slot];
  const Result<GangSettings> setting = read_gang_settings(pod);
  if (!setting || setting->name != gangs_[r.gang].name ||
      (r.gang_size == setting->size && r.within == setting->within && r.prefer == setting->prefer))
    return;
  note_setting(r, *setting);
  touch(r.gang);
}

DeviceMask Tracker::claimed_devices(const Pod& pod, const Demand& demand) const {
  const PooledString* devices = pod.annotations && serves(pod.scheduler_name) ? find_label(*pod.annotations, kDevicesAnnotation) : nullptr;
  if (devices == nullptr) return {};  // what other schedulers' pods say of devices, nobody has decided
  const DeviceMask claimed = parse_devices(*devices);
  if (!claimed.is_empty() && claimed.count() == demand.devices.count) return claimed;
  if (listeners_.log)
    listeners_.log(LogLevel::kWarning,
                   {"pod " + pod.ns.str() + "/" + pod.name.str() + " says that it holds the cards '" + devices->str() + "' and asks for " +
                        std::to_string(demand.devices.count) + ": so many are counted, but nobody knows which",
                    "pod", pod.ns, pod.name});
  return {};
}

/// Whoever may change the pod may change what it says of its devices, where no policy forbids it. What we know holds.
void Tracker::check_devices(PodSlot slot, const Pod& pod) {
  PodRecord& r = pods_[slot];
  if (!r.is_ours || r.phase != Phase::kBound || r.devices.is_empty()) return;
  const PooledString* devices = pod.annotations ? find_label(*pod.annotations, kDevicesAnnotation) : nullptr;
  const bool is_changed = devices == nullptr || parse_devices(*devices) != r.devices;
  if (is_changed && !r.are_devices_changed) {
    if (listeners_.log)
      listeners_.log(LogLevel::kWarning,
                     {"somebody changed the cards of pod " + r.ns.str() + "/" + r.name.str() + " from " + devices_text(r.devices) + " to '" +
                          (devices == nullptr ? std::string() : devices->str()) + "'; it holds what it was bound with",
                      "pod", r.ns, r.name});
    if (listeners_.on_devices_changed) listeners_.on_devices_changed(slot);
  }
  pods_[slot].are_devices_changed = is_changed;
}

DeviceMask Tracker::devices_held(const PodRecord& r) const {
  const bool are_unknown = r.devices.is_empty() && translator_.demand_of(r.demand).devices.count > 0;
  return are_unknown ? DeviceMask::unknown() : r.devices;
}

void Tracker::note_bound(PodSlot slot, const PooledString& node_name, const DeviceMask& devices) {
  PodRecord& r = pods_[slot];
  out_.stamp();
  note_answered(slot);
  if (r.phase == Phase::kBound && r.node_name == node_name) return;
  r.hold = HoldReason::kNone;
  if (r.phase == Phase::kBound) leave_node(r);
  const NodeId node = names_.nodes.find(node_name);
  const bool is_confirmed = r.phase == Phase::kAssumed && r.node == node && !node.is_none();
  r.node_name = node_name;
  if (!devices.is_empty() || !is_confirmed) r.devices = devices;
  if (node.is_none()) return note_on_unknown_node(slot);
  enter_bound(slot, node);
  if (is_confirmed && listeners_.on_bound) listeners_.on_bound(slot);
}

void Tracker::enter_bound(PodSlot slot, NodeId node) {
  PodRecord& r = pods_[slot];
  const bool is_confirmation = r.phase == Phase::kAssumed && r.node == node;
  missed_.erase(slot);
  r.phase = Phase::kBound;
  r.node = node;
  anti_affinity_.add(r.ns, r.rules, nodes_[node.row()].labels);
  if (r.closes_node) {
    ++nodes_[node.row()].unread_pods;
    close_or_open(node);
  }
  if (!is_confirmation || !r.is_in_engine()) ++nodes_edition_;
  if (r.gang != kNoGang) touch(r.gang);
  if (r.gang == kNoGang && !r.is_in_engine()) submit_single(slot);
  if (!r.is_in_engine()) return bound_outside_.push_back(r.gang);  // told together with the others by evaluate()
  const Bound bound{r.member, node, is_confirmation ? r.devices : devices_held(r)};
  if (is_confirmation)
    out_.add_confirmation(bound);
  else
    out_.add(bound);
}

void Tracker::set_closes_node(PodSlot slot, bool closes) {
  PodRecord& r = pods_[slot];
  if (r.closes_node == closes) return;
  r.closes_node = closes;
  if (r.phase != Phase::kBound) return;
  nodes_[r.node.row()].unread_pods += closes ? 1u : -1u;
  close_or_open(r.node);
}

void Tracker::leave_node(PodRecord& r) {
  if (r.phase == Phase::kBound && !r.node.is_none()) {
    anti_affinity_.remove(r.ns, r.rules, nodes_[r.node.row()].labels);
    if (r.closes_node) {
      --nodes_[r.node.row()].unread_pods;
      close_or_open(r.node);
    }
  }
  r.node = NodeId::none();
  if (r.phase == Phase::kBound) r.phase = Phase::kHeld;
}

void Tracker::note_on_unknown_node(PodSlot slot) {
  PodRecord& r = pods_[slot];
  leave_node(r);
  withdraw(slot);
  r.phase = Phase::kOnUnknownNode;
  r.node = NodeId::none();
  on_unknown_node_[r.node_name].emplace_back(slot, r.generation);
  if (r.gang != kNoGang) touch(r.gang);
}

void Tracker::unpark(PodSlot slot) {
  const auto on_unknown_node = on_unknown_node_.find(pods_[slot].node_name);
  if (on_unknown_node == on_unknown_node_.end()) return;
  std::erase_if(on_unknown_node->second, [&](const auto& entry) { return entry.first == slot; });
  if (on_unknown_node->second.empty()) on_unknown_node_.erase(on_unknown_node);
}

void Tracker::set_demand(PodRecord& r, DemandId demand) {
  if (r.demand == demand) return;
  if (!demand.is_none()) translator_.use(demand);
  if (!r.demand.is_none()) translator_.leave(r.demand);
  r.demand = demand;
}

void Tracker::set_constraint(PodRecord& r, ConstraintId constraint) {
  if (r.constraint == constraint) return;
  if (!constraint.is_none()) translator_.use(constraint);
  if (!r.constraint.is_none()) translator_.leave(r.constraint);
  r.constraint = constraint;
}

PooledString Tracker::queue_name_for(const Pod& pod) const {
  const PooledString* named = find_setting(pod, kQueueLabel);
  return named != nullptr ? *named : queue_name_in(pod.ns);
}

PooledString Tracker::queue_name_in(const PooledString& ns) const {
  if (const auto it = options_.queue_of_namespace.find(ns.str()); it != options_.queue_of_namespace.end()) return PooledString(it->second);
  if (const auto it = namespaces_.find(ns); it != namespaces_.end()) {
    if (const PooledString* named = find_label(it->second.annotations, kQueueLabel)) return *named;
    if (const PooledString* named = find_label(it->second.labels, kQueueLabel)) return *named;
  }
  return PooledString(kDefaultQueue);
}

Hold Tracker::hold_for(PodSlot slot, const Pod& pod, GangSettings& setting) {
  PodRecord& r = pods_[slot];
  if (pod.deletion_requested.value != 0) return {HoldReason::kDeleting, {}};
  if (pod.scheduling_gates > 0) return {HoldReason::kGated, {}};
  if (!pod.problem.empty()) return {HoldReason::kUnreadable, pod.problem.str()};
  Result<GangSettings> read = read_gang_settings(pod);
  if (!read) return {HoldReason::kMalformed, read.error().message};
  setting = std::move(read).value();
  note_setting(r, setting);
  if (std::string mistyped = mistyped_setting(pod); !mistyped.empty()) return {HoldReason::kMalformed, std::move(mistyped)};
  if (options_.quarantine != nullptr && options_.quarantine->holds(pod.uid))
    return {HoldReason::kQuarantined, options_.quarantine->text_for(pod.uid)};
  if (pod.rules && !pod.rules->unsupported.empty()) return {HoldReason::kUnsupported, pod.rules->unsupported.str()};
  const Result<DemandId> demand = translator_.demand(pod);
  if (!demand) return {HoldReason::kMalformed, demand.error().message};
  r.duration = Millis(0);
  if (const PooledString* text = find_setting(pod, kDurationLabel)) {
    const Result<Millis> duration = parse_duration(*text);
    if (!duration) return {HoldReason::kMalformed, "ashlar.dev/duration: " + duration.error().message};
    r.duration = *duration;
  }
  if (r.demand != *demand) withdraw(slot);
  set_demand(r, *demand);
  const PooledString queue_name = queue_name_for(pod);
  r.names_queue = find_setting(pod, kQueueLabel) != nullptr;
  const QueueId queue = queue_called(queue_name);
  if (queue.is_none()) return {HoldReason::kQueueUnknown, queue_name.str()};
  if (r.queue != queue && r.gang == kNoGang) withdraw(slot);  // a gang moves as a whole, see sum_up
  r.queue = queue;
  return {};
}

void Tracker::refresh_queues() {
  std::sort(moved_namespaces_.begin(), moved_namespaces_.end());
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot) {
    const PodRecord& r = pods_[slot];
    const bool may_move = r.phase == Phase::kWaiting || (r.phase == Phase::kHeld && r.hold == HoldReason::kQueueUnknown);
    if (!r.is_ours || r.names_queue || !may_move) continue;
    if (std::binary_search(moved_namespaces_.begin(), moved_namespaces_.end(), r.ns)) move_to_queue(slot, queue_name_in(r.ns));
  }
  moved_namespaces_.clear();
}

void Tracker::move_to_queue(PodSlot slot, const PooledString& name) {
  PodRecord& r = pods_[slot];
  const QueueId queue = queue_called(name);
  if (queue.is_none()) return hold_pod(slot, {HoldReason::kQueueUnknown, name.str()});
  if (r.phase == Phase::kWaiting && r.queue == queue) return;
  if (r.gang == kNoGang) withdraw(slot);
  r.queue = queue;
  admit(slot);
}

ConstraintId Tracker::constraint_for(const PodRecord& r) { return company_.of(r.ns, r.its_labels(), r.rules); }

void Tracker::see_pending(PodSlot slot, const Pod& pod) {
  PodRecord& r = pods_[slot];
  const std::uint64_t hash = owner_hash(pod);
  const bool is_changed_by_owner = r.owner_hash != 0 && hash != r.owner_hash;
  r.owner_hash = hash;
  const DemandId demand_before = r.demand;
  // What we know to be bound stays bound; an older picture of it may still be on its way.
  if (r.phase == Phase::kBound || r.phase == Phase::kOnUnknownNode) return;
  if (r.phase == Phase::kAssumed && pod.deletion_requested.value == 0) {
    // A pod may be resized before it is bound.
    if (!is_changed_by_owner && translator_.is_demand_of(pod, r.demand)) return;
    missed_.insert_or_assign(slot, pod);
    if (r.gang != kNoGang && gangs_[r.gang].is_gang && !gangs_[r.gang].is_started) ++nodes_edition_;  // the others look at it before they are sent
    return;
  }
  missed_.erase(slot);
  GangSettings setting;
  const Hold hold = hold_for(slot, pod, setting);
  const bool names_other =
      r.gang != kNoGang && !setting.name.empty() && (gangs_[r.gang].name != setting.name || gangs_[r.gang].is_pod_group != setting.is_pod_group);
  if (names_other) leave_gang(slot);
  if (r.gang == kNoGang && !setting.name.empty() && hold.reason != HoldReason::kDeleting && hold.reason != HoldReason::kGated) join(slot, setting);
  if (hold.reason != HoldReason::kNone) return hold_pod(slot, hold);
  // What failed waits for its time, unless its owner has changed something that may help.
  const bool is_held = r.phase == Phase::kHeld && r.hold == HoldReason::kBindFailed;
  if (is_held && !r.asked_node.empty()) return;  // see hold_until_answered
  if (is_held && !is_changed_by_owner && r.demand == demand_before && constraint_for(r) == r.constraint) return;
  if (is_changed_by_owner && is_gang_held(slot)) forget_bind_hold(r.gang);
  admit(slot);
}

void Tracker::admit(PodSlot slot) {
  PodRecord& r = pods_[slot];
  if (!r.asked_node.empty()) return hold_until_answered(slot);  // whatever held it meanwhile
  const ConstraintId constraint = constraint_for(r);
  const bool is_changed = r.is_in_engine() && constraint != r.constraint;
  set_constraint(r, constraint);
  if (r.phase != Phase::kWaiting && r.hold != HoldReason::kBindFailed) r.seen = eligible_since(r);
  r.hold = HoldReason::kNone;
  r.phase = Phase::kWaiting;
  if (is_changed) out_.add(ConstraintChanged{r.member, constraint});
  if (r.gang != kNoGang)
    touch(r.gang);
  else if (!r.is_in_engine())
    submit_single(slot);
}

void Tracker::hold_pod(PodSlot slot, const Hold& hold) {
  PodRecord& r = pods_[slot];
  withdraw(slot);
  ++r.bind_attempt;
  r.node = NodeId::none();
  r.phase = Phase::kHeld;
  r.hold = hold.reason;
  r.hold_detail = PooledString(bounded_words(hold.detail, kDetailMax));
  if (r.gang != kNoGang && (hold.reason == HoldReason::kDeleting || hold.reason == HoldReason::kGated)) leave_gang(slot);
  if (r.gang != kNoGang) touch(r.gang);
  const bool is_worth_saying = hold.reason != HoldReason::kGated && hold.reason != HoldReason::kDeleting;
  if (is_worth_saying && listeners_.on_condition_due) listeners_.on_condition_due(slot);
}

void Tracker::see_nominated(PodSlot slot, const Pod& pod) {
  PodRecord& r = pods_[slot];
  const NodeId node = names_.nodes.find(pod.nominated_node_name);
  if (node.is_none() || pod.deletion_requested.value != 0) return lose_nomination(slot);
  if (r.phase == Phase::kNominated && r.node == node) return;
  const DemandId demand = translator_.held_by(pod);
  if (!r.is_in_engine()) {
    set_demand(r, demand);
    set_constraint(r, translator_.anywhere());
    r.queue = QueueId(0u);
    submit_single(slot);
  }
  r.node = node;
  r.phase = Phase::kNominated;
  out_.add(Nominated{r.member, node, pod.priority});
}

void Tracker::forget(PodSlot slot) {
  PodRecord& r = pods_[slot];
  note_answered(slot);
  if (r.phase == Phase::kOnUnknownNode) unpark(slot);
  leave_node(r);
  withdraw(slot);
  if (r.gang != kNoGang) leave_gang(slot);
  if (r.foreign_pod_of != kNoGang) leave_foreign_pods(slot);
  missed_.erase(slot);
  set_demand(r, DemandId::none());
  set_constraint(r, ConstraintId::none());
  r.phase = Phase::kFree;
  pods_.remove(slot);
}

JobId Tracker::add_job(JobOwner owner) {
  const JobId job = job_rows_.add();
  if (job.row() >= owners_.size()) owners_.resize(job.row() + 1);
  owners_[job.row()] = owner;
  return job;
}

void Tracker::end_job(JobId job) {
  out_.add(Ended{job});
  note_levels_left(owners_[job.row()].within, owners_[job.row()].prefer);
  owners_[job.row()] = JobOwner{};
  job_rows_.remove(job);
}

void Tracker::submit_single(PodSlot slot) {
  PodRecord& r = pods_[slot];
  pods_.set_member(slot, member_rows_.add());
  r.job = add_job({kNoGang, slot});
  Workload w;
  w.job = r.job;
  w.queue = r.queue;
  w.priority = r.priority;
  w.submitted = r.phase == Phase::kWaiting ? r.seen : out_.now();  // a waiting pod that is submitted anew keeps its age
  if (r.duration.value > 0) w.estimate = {r.duration, r.duration};
  w.is_ours = r.is_ours;
  w.members.push_back({r.member, r.demand, r.constraint});
  out_.add(Submitted{std::move(w)});
}

void Tracker::withdraw(PodSlot slot) {
  PodRecord& r = pods_[slot];
  if (!r.is_in_engine()) return;
  const MemberId member = r.member;
  pods_.clear_member(slot);
  member_rows_.remove(member);
  if (r.gang == kNoGang) {
    end_job(r.job);
  } else {
    GangRecord& g = gangs_[r.gang];
    out_.add(MemberGone{member});
    if (--g.in_engine == 0) {
      end_job(g.job);
      g.job = JobId::none();
    }
    touch(r.gang);
  }
  r.job = JobId::none();
}

void Tracker::refresh_constraints() {
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot) {
    const PodRecord& r = pods_[slot];
    if (r.phase == Phase::kWaiting && anti_affinity_.concerns(r.ns, r.its_labels())) renew_constraint(slot);
  }
  anti_affinity_.forget_news();
}

void Tracker::renew_constraint(PodSlot slot) {
  PodRecord& r = pods_[slot];
  ++constraints_renewed_;
  const ConstraintId constraint = constraint_for(r);
  if (constraint == r.constraint) return;
  set_constraint(r, constraint);
  if (r.is_in_engine()) out_.add(ConstraintChanged{r.member, constraint});
}

}  // namespace ashlar::kube
