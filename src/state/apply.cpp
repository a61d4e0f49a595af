// apply(): one small overload per kind of event. Every one tolerates late and duplicate delivery, since watches do
// both.
#include <algorithm>

#include "base/check.h"
#include "state/cluster/usable_devices.h"
#include "state/holds/kept.h"
#include "state/state.h"

namespace ashlar {

struct Applier {
  State& s;
  Millis now;

  void operator()(const Tick&) {}
  void operator()(const LevelsDefined& e) { s.cluster_.define_levels(e.nested, e.orthogonal); }
  void operator()(const DemandDefined& e) { s.define(e.id, e.demand); }
  void operator()(const ConstraintDefined& e) { s.define(e.id, e.constraint); }
  void operator()(const GangSpecDefined& e) { s.gangs_.define(e.id, e.spec); }
  void operator()(const LabelSetDefined& e) { s.define(e.id, e.set); }
  void operator()(const PodSelectorDefined& e) { s.define(e.id, e.selector); }
  void operator()(const NamespaceSeen& e) {
    const SelectorIndex& index = s.cluster_.counts().index();
    const bool may_concern_gangs = !index.selecting_namespaces().empty() && !index.is_like(e.id, e.labels);
    s.cluster_.define(e.id, e.labels);
    if (may_concern_gangs) refresh_gangs_with_company();
  }
  void operator()(const DeviceLayoutDefined& e) {
    const DeviceLayouts& layouts = s.cluster_.layouts();
    if (e.id.row() < layouts.rows() && layouts.row(e.id) == e.layout) return;  // duplicate
    ASHLAR_CHECK(!s.cluster_.is_used(e.id));
    s.cluster_.define(e.id, e.layout);
  }
  void operator()(const DeviceClassDefined& e) { s.cluster_.define(e.id, e.device_class); }
  void operator()(const QueueDefined& e) {
    const bool refused_any = s.queues_.is_any(QueueGate::Is::kDraining);
    const std::size_t keys = s.queues_.keys().size(), shares = s.queues_.shares().columns().size();
    const std::vector<NodeId> held = s.yielding_.nodes();
    s.change_kept(held,
                  [&] { s.queues_.define(e.id, e.parent, e.quota, e.limits, e.shares, e.rank, e.gate, e.stops); });
    for (const QueueUsage& usage : e.usage) s.queues_.record_usage(e.id, usage);
    for (const NodeId n : held) note_node_change(n);  // its jobs may be for other holds now
    s.charge_new_keys(keys);
    s.count_new_shares(shares);
    if (refused_any) take_released();
  }
  void operator()(const NodeSeen& e) {
    const std::vector<Displaced> displaced = lift_from_devices(e.node, e.facts.devices.count);
    s.charge_by_class(e.node, -1);
    s.count_capacity(e.node, -1);
    s.cluster_.upsert_node(e.node, e.facts);
    s.count_capacity(e.node, 1);
    s.charge_by_class(e.node, 1);
    put_back(displaced, e.node);
    take_held(e.node);
    note_node_change(e.node);
  }
  void operator()(const NodeCapacityChanged& e) {
    if (!s.cluster_.is_live(e.node)) return;
    s.count_capacity(e.node, -1);
    s.cluster_.set_capacity(e.node, e.allocatable);
    s.count_capacity(e.node, 1);
    note_node_change(e.node);
  }
  void operator()(const NodeDevicesChanged& e) {
    if (!s.cluster_.is_live(e.node)) return;
    const std::vector<Displaced> displaced = lift_from_devices(e.node, e.devices.count);
    s.charge_by_class(e.node, -1);
    s.count_capacity(e.node, -1);
    s.cluster_.set_devices(e.node, e.devices);
    s.count_capacity(e.node, 1);
    s.charge_by_class(e.node, 1);
    put_back(displaced, e.node);
    note_node_change(e.node);
  }
  void operator()(const DeviceHealthChanged& e) {
    if (!s.cluster_.is_live(e.node)) return;
    const DeviceMask before = s.cluster_.unhealthy_devices(e.node);
    s.cluster_.set_unhealthy(e.node, e.unhealthy);
    const DeviceMask after = s.cluster_.unhealthy_devices(e.node);
    if (after == before) return;
    if (before.is_within(after))
      s.changed_nodes_.push_back(e.node);
    else
      note_node_change(e.node);
  }
  void operator()(const NodeGone& e) {
    if (!s.cluster_.is_live(e.node)) return;
    for (const MemberId m : s.members_on(e.node)) lose(m);
    s.count_capacity(e.node, -1);
    s.cluster_.remove_node(e.node);
    s.changed_nodes_.push_back(e.node);
  }
  void operator()(const Submitted& e) {
    const Workload& w = e.workload;
    if (s.is_live(w.job)) return;
    Job& j = s.job_row(w.job);
    j = Job{};
    j.is_live = true;
    j.is_ours = w.is_ours;
    j.queue = w.queue;
    j.priority = w.priority;
    j.within = w.within;
    j.prefer = w.prefer;
    j.submitted = j.queued_at = w.submitted;
    j.estimate = w.estimate;
    j.remaining = w.estimate.p50;
    j.order_hint = w.order_hint;
    j.runs_since = w.runs_since;
    j.saved_at = w.saved_at;
    j.stopping = w.stopping;
    j.tenant = w.tenant;
    if (!w.spec.is_none()) {
      j.spec = w.spec;
      s.gangs_.enter(w.job, w.spec);
    }
    j.is_refused = !s.queues_.refusing_above(w.queue, w.submitted).is_none();
    s.set_minimum(w.job, w.members_min);
    s.add_members(w.job, w.members);
    s.settle_backlog(w.job);
  }
  void operator()(const MembersAdded& e) {
    if (!is_job(e.job)) return;
    s.set_minimum(e.job, e.members_min);
    s.add_members(e.job, e.members);
    s.refresh_backlog(e.job);
    s.start(e.job, now);  // if fewer must start together now, those placed may be enough
  }
  void operator()(const MemberGone& e) {
    if (!s.is_live(e.member)) return;
    s.note_end(s.member(e.member).job, now);
    s.remove_member(e.member, now);
  }
  void operator()(const Ended& e) {
    if (s.is_live(e.job)) s.end(e.job, now);
  }
  void operator()(const HoldPlaced& e) {
    if (!s.is_live(e.hold.job)) s.place_hold(e.hold, now);
  }
  void operator()(const Bound& e) {
    if (!is_pod(e.member) || !s.cluster_.is_live(e.node)) return;
    Member& m = s.member_row(e.member);
    const bool is_unknown = e.devices == DeviceMask::unknown();
    const GivenDevices stated = is_unknown || e.devices.is_empty() ? GivenDevices{} : stated_devices(e);
    const bool is_as_assumed =
        m.node == e.node && (e.devices.is_empty() || is_unknown || stated == s.given_to(e.member));
    if (!is_as_assumed) {
      if (m.is_placed()) {
        s.note_freed(m.node);
        s.take_off(e.member);
      }
      s.changed_nodes_.push_back(e.node);
      const GivenDevices given = e.devices.is_empty() ? chosen_devices(m, e.node) : stated;
      s.place_on(e.member, e.node, given, Member::Phase::kBound);
      if (tells_devices_apart(s, e.node, e.member) || shares_beside_owed(s, e.node, e.member)) s.note_freed(e.node);
    }
    s.forget_nomination(e.member);
    s.set_leaving(e.member, false);
    s.member_row(e.member).phase = Member::Phase::kBound;
    s.start(m.job, now);
    if (!is_as_assumed) s.refresh_backlog(m.job);  // the remaining members may fit where all of them did not
  }
  void operator()(const BindRejected& e) {
    if (s.is_live(e.member) && s.member(e.member).phase == Member::Phase::kAssumed) lose(e.member);
  }
  void operator()(const Evicted& e) {
    if (!is_job(e.job)) return;
    if (!e.member.is_none()) return evict_one(e);
    s.note_end(e.job, now);
    s.stop(e.job, now);
    for (MemberId m = s.job(e.job).first; !m.is_none(); m = s.member(m).next)
      if (s.member(m).is_placed()) {
        s.note_freed(s.member(m).node);
        s.take_off(m);
      } else {
        s.set_leaving(m, false);  // its pod is gone with the others
      }
    Job& j = s.job_row(e.job);
    j.remaining = e.remaining;
    if (!std::exchange(j.has_given_way, false)) j.queued_at = now;
    ++j.evictions;
    s.send_to_tail(e.job);
  }
  void operator()(const EstimateChanged& e) {
    if (!is_job(e.job)) return;
    Job& j = s.job_row(e.job);
    if (j.is_started) s.timeline_.remove_end({j.end_at, j.devices_total, e.job});
    j.revise(e.estimate);
    if (j.is_started) {
      j.end_at = j.late_end_if_started(j.started_at);
      s.expect_end(e.job, j.late_end_if_started(j.started_at), true);
      s.timeline_.add_end({j.end_at, j.devices_total, e.job});
      ++s.unforeseen_frees_;
    }
    s.refresh_backlog(e.job);
  }
  void operator()(const CheckpointSaved& e) {
    if (is_job(e.job)) s.job_row(e.job).saved_at = e.at;
  }
  void operator()(const ConstraintChanged& e) {
    if (!s.is_live(e.member)) return;
    Member& m = s.member_row(e.member);
    const auto acts_on_others = [&](ConstraintId id) { return s.cluster_.constraint(id).acts_on_others(); };
    if (m.is_placed() && !acts_on_others(m.constraint) && !acts_on_others(e.constraint)) return;
    if (m.is_placed()) s.cluster_.remove_pod(e.member, m.labels, m.constraint, m.node);
    --s.constraint_uses_[m.constraint.row()].members;
    m.constraint = e.constraint;
    ++s.constraint_uses_[m.constraint.row()].members;
    if (m.is_placed()) s.cluster_.add_pod(e.member, m.labels, m.constraint, m.node);
    s.refresh_backlog(m.job);
  }
  void operator()(const LabelsChanged& e) {
    if (!s.is_live(e.member)) return;
    Member& m = s.member_row(e.member);
    if (m.labels == e.labels) return;
    if (m.is_placed()) s.cluster_.remove_pod(e.member, m.labels, m.constraint, m.node);
    s.cluster_.use(e.labels, 1);
    s.cluster_.use(m.labels, -1);
    m.labels = e.labels;
    if (m.is_placed()) s.cluster_.add_pod(e.member, m.labels, m.constraint, m.node);
    if (s.job(m.job).members_present > 1) s.refresh_backlog(m.job);  // the rules of its gang may mean it now
  }
  void operator()(const ImageSeen& e) { s.cluster_.note(e); }
  void operator()(const PriorityChanged& e) {
    if (!s.is_live(e.job)) return;
    const bool is_running = s.job(e.job).is_started;
    if (is_running) s.note_running(e.job, false);
    s.job_row(e.job).priority = e.priority;
    if (is_running) s.note_running(e.job, true);
    s.refresh_backlog(e.job);
  }
  void operator()(const Nominated& e) {
    if (!is_pod(e.member)) return;
    Member& m = s.member_row(e.member);
    if (m.phase == Member::Phase::kBound) return;
    if (m.is_placed()) {
      s.drop_nomination(e.member, m.node);
      s.take_off(e.member);
    } else {
      s.forget_nomination(e.member);
    }
    if (!e.node.is_none() && s.cluster_.is_live(e.node)) {
      s.changed_nodes_.push_back(e.node);
      s.place(e.member, e.node,
              choose_devices(s.cluster_, e.node, s.demand(m.demand).devices, s.cluster_.constraint(m.constraint)),
              Member::Phase::kAssumed);
      if (!s.job(m.job).is_ours) {
        s.job_row(m.job).priority = e.priority;
        s.nominations_.push_back(e.member);
      }
    }
    s.refresh_backlog(m.job);
    s.settle_backlog(m.job);
  }

  /// Jobs that no queue refuses any more.
  void take_released() {
    for (std::size_t row = 0; row < s.job_rows(); ++row) {
      const Job& j = s.job(JobId(row));
      if (!j.is_refused || !s.queues_.refusing_above(j.queue, j.submitted).is_none()) continue;
      s.job_row(JobId(row)).is_refused = false;
      s.refresh_backlog(JobId(row));
    }
  }
  /// Which of its own members the rules of a waiting gang mean may be others now.
  void refresh_gangs_with_company() {
    for (std::size_t row = 0; row < s.job_rows(); ++row) {
      const JobId id(row);
      if (!s.is_live(id) || !s.job(id).is_in_backlog || s.job(id).members_present <= 1) continue;
      bool has_company = false;
      s.each_waiting(id, [&](MemberId, const Member& m) {
        has_company = s.cluster_.constraint(m.constraint).has_company();
        return !has_company;
      });
      if (has_company) s.refresh_backlog(id);
    }
  }
  /// What a change of the node may have freed.
  void note_node_change(NodeId node) {
    s.note_freed(node);
    s.changed_nodes_.push_back(node);
    ++s.unforeseen_frees_;
  }
  struct Displaced {
    MemberId member;
    GivenDevices given;
    Member::Phase phase;
  };
  /// Takes members off the node that were given devices which it is about to lose, or get: it will have this many.
  std::vector<Displaced> lift_from_devices(NodeId node, std::int32_t devices) {
    std::vector<Displaced> displaced;
    if (!s.cluster_.is_live(node)) return displaced;
    const std::int32_t before = s.cluster_.devices()[node.row()];
    if (devices == before || (devices > before && s.absent_devices_.are_none())) return displaced;
    for (const MemberId id : s.members_on(node)) {
      const Member m = s.members_[id.row()];
      const GivenDevices given = s.given_to(id);
      bool is_concerned = false;
      given.devices.each([&](int i) { is_concerned = is_concerned || (i >= devices) != (i >= before); });
      if (!is_concerned) continue;
      displaced.push_back({id, given, m.phase});
      s.unplace(id);
    }
    return displaced;
  }
  void put_back(const std::vector<Displaced>& displaced, NodeId node) {
    for (const Displaced& d : displaced) s.place_on(d.member, node, d.given, d.phase);
  }
  GivenDevices chosen_devices(const Member& m, NodeId node) const {
    return {choose_devices(s.cluster_, node, s.demand(m.demand).devices, s.cluster_.constraint(m.constraint)), {}};
  }
  /// What the event says, without grants if the member holds what it requests.
  GivenDevices stated_devices(const Bound& e) const {
    if (e.grants.empty()) return {e.devices, {}};
    ASHLAR_CHECK(devices_of(e.grants) == e.devices);
    const DeviceRequest& request = s.demand(s.member(e.member).demand).devices;
    if (request.count == 0 || are_as_requested(e.grants, request)) return {e.devices, {}};
    return {e.devices, e.grants};
  }
  /// What is held of a node that was away.
  void take_held(NodeId node) {
    for (const Hold& hold : s.holds())
      for (const HoldPart& part : hold.parts)
        if (part.node == node) s.take(part);
  }
  bool is_job(JobId id) const { return s.is_live(id) && !s.job(id).is_hold; }
  bool is_pod(MemberId id) const { return s.is_live(id) && !s.job(s.member(id).job).is_hold; }
  /// The other members of its job stay where they are.
  void evict_one(const Evicted& e) {
    if (!s.is_live(e.member) || s.member(e.member).job != e.job) return;
    if (const NodeId node = s.member(e.member).node; !node.is_none()) {
      ++s.unforeseen_frees_;
      s.note_freed(node);
      s.take_off(e.member);
    }
    if (s.job(e.job).members_placed == 0) {
      s.stop(e.job, now);
      s.job_row(e.job).remaining = e.remaining;
    }
    if (!s.member(e.member).is_leaving) s.job_row(e.job).queued_at = now;
    s.set_leaving(e.member, false);
    ++s.job_row(e.job).evictions;
    if (!s.job(e.job).has_given_way) s.send_to_tail(e.job);
  }
  /// The member is no longer placed but still exists: it waits again.
  void lose(MemberId id) {
    const JobId job = s.member(id).job;
    ++s.unforeseen_frees_;
    s.note_freed(s.member(id).node);
    s.take_off(id);
    s.stop_if_empty(job, now);
    s.refresh_backlog(job);
    s.settle_backlog(job);
  }
};

void apply(State& state, const Event& event) {
  state.now_ = std::max(state.now_, event.at);
  ++state.revision_;
  state.cluster_.start_noting_company();
  std::visit(Applier{state, state.now_}, event.body);
  const std::vector<NodeId> changed = state.cluster_.stop_noting_company();
  if (changed.empty()) return;
  for (const NodeId n : changed) state.note_freed(n);
  state.changed_nodes_.insert(state.changed_nodes_.end(), changed.begin(), changed.end());
  ++state.unforeseen_frees_;
}

}  // namespace ashlar
