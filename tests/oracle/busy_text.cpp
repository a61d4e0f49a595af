#include "busy_text.h"

#include "engine/quota.h"

namespace ashlar::oracle::busy {
namespace {

std::string workload_text(const Workload& w) {
  std::string text = std::to_string(w.job.row()) + (w.is_ours ? "" : " foreign") + " queue " +
                     std::to_string(w.queue.row()) + " priority " + std::to_string(w.priority) + " min " +
                     std::to_string(w.members_min) + " ends " + std::to_string(w.estimate.p50.value) + "/" +
                     std::to_string(w.estimate.p90.value);
  if (!w.within.is_none()) text += " within " + std::to_string(w.within.row());
  for (const MemberSpec& m : w.members)
    text += " m" + std::to_string(m.member.row()) + "(d" + std::to_string(m.demand.row()) + " c" +
            std::to_string(m.constraint.row()) + ")";
  return text;
}

std::string facts_text(const NodeFacts& f) {
  return std::to_string(f.devices.count) + " of class " +
         (f.devices.device_class.is_none() ? "-" : std::to_string(f.devices.device_class.row())) +
         (f.devices.layout.is_none() ? "" : " layout " + std::to_string(f.devices.layout.row())) + " cores " +
         std::to_string(f.allocatable[0]) + " pods " + std::to_string(f.allocatable[3]) + " nics " +
         std::to_string(f.allocatable[4]) + (f.is_ready ? "" : " not ready");
}

std::string event_text(const EventBody& body) {
  std::string text(kind_name(body));
  if (const auto* e = std::get_if<Submitted>(&body)) text += " job " + workload_text(e->workload);
  if (const auto* e = std::get_if<Ended>(&body)) text += " job " + std::to_string(e->job.row());
  if (const auto* e = std::get_if<NodeGone>(&body)) text += " node " + std::to_string(e->node.row());
  if (const auto* e = std::get_if<NodeSeen>(&body))
    text += " node " + std::to_string(e->node.row()) + " " + facts_text(e->facts);
  if (const auto* e = std::get_if<QueueDefined>(&body)) {
    text += " " + std::to_string(e->id.row());
    if (!e->parent.is_none()) text += " below " + std::to_string(e->parent.row());
    for (const std::int64_t limit : e->quota) text += limit == kUnlimited ? " -" : " " + std::to_string(limit);
    for (const QuotaLimit& l : e->limits)
      text += " [" + (l.of.resource.is_none() ? std::string("gpu") : "r" + std::to_string(l.of.resource.row())) + "@" +
              (l.of.device_class.is_none() ? "-" : std::to_string(l.of.device_class.row())) + " " +
              std::to_string(l.limit) + "]";
  }
  if (const auto* e = std::get_if<DemandDefined>(&body)) {
    text += " d" + std::to_string(e->id.row()) + " " + std::to_string(e->demand.devices.count) + " x " +
            std::to_string(e->demand.devices.milli_each.value) + " milli " +
            std::to_string(e->demand.devices.memory_each.value) + " MiB";
    for (const ResourceAmount& a : e->demand.amounts)
      text += " r" + std::to_string(a.resource.row()) + "=" + std::to_string(a.amount);
  }
  if (const auto* e = std::get_if<ConstraintDefined>(&body)) {
    text += " c" + std::to_string(e->id.row());
    for (const DeviceClassId of : e->constraint.models) text += " class " + std::to_string(of.row());
  }
  if (const auto* e = std::get_if<Evicted>(&body)) text += " job " + std::to_string(e->job.row());
  if (const auto* e = std::get_if<EstimateChanged>(&body))
    text += " job " + std::to_string(e->job.row()) + " " + std::to_string(e->estimate.p50.value) + "/" +
            std::to_string(e->estimate.p90.value);
  if (const auto* e = std::get_if<PriorityChanged>(&body))
    text += " job " + std::to_string(e->job.row()) + " " + std::to_string(e->priority);
  if (const auto* e = std::get_if<ConstraintChanged>(&body))
    text += " member " + std::to_string(e->member.row()) + " c" + std::to_string(e->constraint.row());
  if (const auto* e = std::get_if<MemberGone>(&body)) text += " member " + std::to_string(e->member.row());
  if (const auto* e = std::get_if<MembersAdded>(&body))
    text += " job " + std::to_string(e->job.row()) + " min " + std::to_string(e->members_min) + " member " +
            std::to_string(e->members[0].member.row());
  if (const auto* e = std::get_if<Bound>(&body))
    text += " member " + std::to_string(e->member.row()) + " node " + std::to_string(e->node.row());
  if (const auto* e = std::get_if<Nominated>(&body))
    text += " member " + std::to_string(e->member.row()) + " node " + std::to_string(e->node.row()) + " priority " +
            std::to_string(e->priority);
  if (const auto* e = std::get_if<DeviceHealthChanged>(&body))
    text += " node " + std::to_string(e->node.row()) + " " + std::to_string(e->unhealthy.low);
  if (const auto* e = std::get_if<HoldPlaced>(&body)) {
    text += " job " + std::to_string(e->hold.job.row()) + " until " + std::to_string(e->hold.until.value);
    for (const HoldPart& p : e->hold.parts)
      text += " d" + std::to_string(p.member.demand.row()) + " on node " + std::to_string(p.node.row());
  }
  return text;
}

std::string reservation_text(const State& state, const Reservation& r) {
  std::string text;
  text += "\n    reservation of " + std::to_string(r.entry.job.row()) + "." + std::to_string(r.edition) + " at " +
          std::to_string(r.at.value) + " lasts " + std::to_string(r.lasts.value) + " made at " +
          std::to_string(r.made_at.value);
  if (!r.limiting.is_none()) text += " below " + std::to_string(r.limiting.row());
  for (const Reservation::Place& place : r.places)
    text += " m" + std::to_string(place.member.row()) + "@" + std::to_string(place.node.row());
  for (const Reservation::QuotaSpare& spare : r.quota_spares)
    text += " queue " + std::to_string(spare.queue.row()) + " has " + std::to_string(spare.left[0]);
  for (const Reservation::QuotaSpare& spare : r.quota_spares) {
    text += " cores " + (spare.left[1] > 1'000'000 ? std::string("-") : std::to_string(spare.left[1]));
    for (std::size_t k = 0; k < spare.left_by_key.size(); ++k)
      if (spare.left_by_key[k] < 1'000'000)
        text += " key " + std::to_string(k) + ":" + std::to_string(spare.left_by_key[k]);
  }
  for (const Reservation::QuotaClaim& c : r.quota_claims) text += " claim of " + std::to_string(c.job.row());
  if (state.queues().rows() == 0) text += " no queues";
  return text;
}

/// Where the job waits.
std::string place_of(const Engine& engine, JobId job) {
  const PendingQueue& pending = engine.pending();
  if (!pending.contains(job)) return "does not wait";
  const PendingQueue::Class& of = pending.class_at(pending.class_id(job));
  const bool is_held = of.held.contains(pending.entry_of(job));
  std::string text = "of queue " + std::to_string(of.key.queue.row()) + " " +
                     (is_held        ? "held by"
                      : of.is_active ? "active"
                                     : "parked");
  for (const PendingQueue::Holder& holder : of.holders)
    text += " " + std::to_string(holder.job.row()) + "." + std::to_string(holder.edition);
  if (is_held) text += " seen";
  for (const PendingQueue::Holder& holder : of.holders_seen) text += " " + std::to_string(holder.job.row());
  if (engine.reservation_book().find(job) != nullptr) text += " with a reservation";
  if (is_held || of.is_active) return text;
  text += " " + std::string(verdict_name(of.verdict.kind)) + " on " + std::string(wake_name(of.verdict)) + " since " +
          std::to_string(of.verdict.at.value) + " ms";
  if (waits_for_class_quota(of.verdict)) {
    const Reason& r = of.verdict.reasons.front();
    text += " of a class: queue " + std::to_string(r.subject) + " number " + std::to_string(r.numbers[0]) + " used " +
            std::to_string(r.numbers[1]) + " of " + std::to_string(r.numbers[2]);
  }
  return text;
}

}  // namespace

std::string text_of(const std::map<std::uint32_t, int>& members) {
  std::string text;
  for (const auto& [job, count] : members)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " of job " + std::to_string(job);
  return text.empty() ? "nothing" : text;
}

std::string text_of(const Story& story) {
  std::string text = "profile " + story.profile.name + " " +
                     std::string(kBlockingNames[static_cast<std::size_t>(story.profile.blocking)]) + " order " +
                     std::string(story.profile.order->name) + " queues " +
                     std::string(story.profile.queue_order->name) +
                     (story.options.has_verdicts ? "" : " without verdicts") + " binds per step " +
                     std::to_string(story.options.binds_per_step_max) + (story.has_faulty_binds ? " faulty binds" : "");
  for (const sim::ScriptedEvent& e : story.script) {
    text += "\n  " + std::to_string(e.at.value) + " ms ";
    if (const auto* body = std::get_if<EventBody>(&e.what)) text += event_text(*body);
    if (const auto* runs = std::get_if<sim::RunsFor>(&e.what))
      text += "job " + std::to_string(runs->job.row()) + " runs for " + std::to_string(runs->duration.value);
  }
  return text;
}

std::string places_of(const Engine& engine, const std::map<std::uint32_t, int>& started) {
  std::string text;
  for (const auto& [job, members] : started)
    text += "; job " + std::to_string(job) + " " + place_of(engine, JobId(job));
  return text;
}

std::string texts_of(const State& state, const std::vector<Reservation>& reservations) {
  std::string text;
  for (const Reservation& r : reservations) text += reservation_text(state, r);
  return text;
}

std::string told(const State& state, const Engine& engine) {
  std::string text;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
    text += "\n    node " + std::to_string(n) + " idle " + std::to_string(state.cluster().idle_devices()[n]) + " milli";
    for (const std::int32_t milli : state.cluster().device_free_milli(NodeId(n))) text += " " + std::to_string(milli);
    text += " cores " + std::to_string(state.cluster().free(resource::kCpu)[n]) + ":";
    for (const MemberId m : state.members_on(NodeId(n)))
      text += " m" + std::to_string(m.row()) + " of " + std::to_string(state.member(m).job.row());
  }
  for (const Reservation& r : engine.reservations()) text += reservation_text(state, r);
  return text;
}

}  // namespace ashlar::oracle::busy
