#include "sim/world/world.h"

#include <algorithm>

#include "base/check.h"
#include "base/grown.h"
#include "sim/world/script_notes.h"

namespace ashlar::sim {
namespace {

/// A stop is reported at most this much later, even if nothing else happens.
constexpr Millis kStopHeardAfter = Millis(1000);

}  // namespace

World::World(SimClock& clock, const Catalog& catalog, JobFeed feed, WorldRules rules)
    : clock_(clock), catalog_(&catalog), feed_(std::move(feed)), rules_(rules), follows_members_(rules.has_grace) {
  fetch();
}

World::World(SimClock& clock, std::span<const ScriptedEvent> script, FateOf fate_of, WorldRules rules)
    : clock_(clock), fate_of_(std::move(fate_of)), rules_(rules), script_(script), follows_members_(true) {}

void World::fetch() {
  const Millis before = next_job_.submit;
  has_next_job_ = feed_(next_job_);
  ASHLAR_CHECK(!has_next_job_ || next_job_.submit >= before || arrived_ == 0);
}

void World::set_node_changes(std::vector<NodeChange> changes, std::span<const NodeFacts> facts) {
  node_changes_ = std::move(changes);
  facts_ = facts;
  follows_members_ = follows_members_ || !node_changes_.empty();
}

void World::set_holds(std::vector<Event> holds) {
  ASHLAR_CHECK(live_.empty() && member_rows_ == 0);
  holds_ = std::move(holds);
  live_.resize(holds_.size());
  member_rows_ = static_cast<std::uint32_t>(holds_.size());
}

void World::drop_outdated_ends() {
  while (!due_.empty() && !is_current(due_.top())) due_.pop();
}

Millis World::next_event() {
  if (!opening_.empty()) return clock_.now();
  drop_outdated_ends();
  Millis at = has_stops_ ? clock_.now() + kStopHeardAfter : Millis::max();
  if (!due_.empty()) at = std::min(at, due_.top().at);
  if (has_next_job_) at = std::min(at, next_job_.submit);
  if (next_node_change_ < node_changes_.size()) at = std::min(at, node_changes_[next_node_change_].at);
  if (next_hold_ < holds_.size()) at = std::min(at, holds_[next_hold_].at);
  if (next_scripted_event_ < script_.size()) at = std::min(at, script_[next_scripted_event_].at);
  return at;
}

void World::take(std::vector<Event>& out) {
  std::move(opening_.begin(), opening_.end(), std::back_inserter(out));
  opening_.clear();
  std::move(answers_.begin(), answers_.end(), std::back_inserter(out));
  answers_.clear();
  has_stops_ = false;
  const Millis now = clock_.now();
  for (;;) {
    drop_outdated_ends();
    const Millis due_at = due_.empty() ? Millis::max() : due_.top().at;
    const Millis node_at =
        next_node_change_ < node_changes_.size() ? node_changes_[next_node_change_].at : Millis::max();
    const Millis hold_at = next_hold_ < holds_.size() ? holds_[next_hold_].at : Millis::max();
    const Millis script_at = next_scripted_event_ < script_.size() ? script_[next_scripted_event_].at : Millis::max();
    const Millis job_at = has_next_job_ ? next_job_.submit : Millis::max();
    const Millis at = std::min({due_at, node_at, hold_at, script_at, job_at});
    if (at > now || at == Millis::max()) return;
    if (due_at == at) {
      const Due due = due_.top();
      due_.pop();
      if (due.job.is_none())
        deliver_late(due.run, at, out);
      else
        end_job(due, out);
    } else if (node_at == at) {
      change_node(node_changes_[next_node_change_++], out);
    } else if (hold_at == at) {
      out.push_back(holds_[next_hold_++]);
    } else if (script_at == at) {
      happen(script_[next_scripted_event_++], out);
    } else {
      arrive(out);
    }
    if (grace_.has_waiting()) bind_waiting(at, out);
    tell_load(at);
  }
}

void World::happen(const ScriptedEvent& scripted_event, std::vector<Event>& out) {
  if (const auto* body = std::get_if<EventBody>(&scripted_event.what)) {
    out.push_back({scripted_event.at, *body});
    std::visit(ScriptNotes{*this, scripted_event.at, out}, *body);
  } else if (const auto* reject = std::get_if<RejectNext>(&scripted_event.what)) {
    refused_next_.insert(reject->member);
  } else if (const auto* runs = std::get_if<RunsFor>(&scripted_event.what)) {
    Live& live = grown(live_, runs->job.row());
    live.duration = runs->duration;
    live.remaining = runs->duration - runs->already;
    live.ran_before = runs->already;
    start_if_ready(runs->job, scripted_event.at);
  }
}

void World::arrive(std::vector<Event>& out) {
  if (rules_.is_refusal_final) withdraw_last(out);
  JobId id(live_.size());
  if (spare_jobs_.empty()) {
    live_.emplace_back();
  } else {
    id = spare_jobs_.back();
    spare_jobs_.pop_back();
  }
  last_arrived_ = id;
  first_arrival_ = std::min(first_arrival_, next_job_.submit);
  Live& live = live_[id.row()];
  live.submit = next_job_.submit;
  live.duration = next_job_.duration;
  live.estimate = next_job_.estimate;
  live.kind = next_job_.kind;
  live.vc = next_job_.vc;
  live.priority = next_job_.priority;
  live.first_start = Millis::max();
  live.remaining = next_job_.duration;
  live.waiting_since = next_job_.submit;
  live.queued = Millis(0);
  const JobKind& kind = catalog_->kind(next_job_.kind);
  live.bound = 0;
  live.min = kind.members;
  out.push_back({next_job_.submit, Submitted{}});
  Workload& w = std::get<Submitted>(out.back().body).workload;
  w.job = id;
  w.queue = next_job_.queue;
  w.priority = next_job_.priority;
  w.members_min = kind.members;
  w.within = kind.within;
  w.prefer = kind.prefer;
  w.spec = kind.spec;
  w.submitted = next_job_.submit;
  w.estimate = next_job_.estimate;
  w.order_hint = next_job_.order_hint;
  w.members.reserve(kind.members);
  for (const MemberNeed& need : kind.needs) {
    for (std::uint32_t i = 0; i < need.count; ++i) {
      MemberId member(member_rows_);
      if (spare_members_.empty()) {
        ++member_rows_;
      } else {
        member = spare_members_.back();
        spare_members_.pop_back();
      }
      live.members.push_back(member);
      w.members.push_back(
          {.member = member, .demand = need.demand, .constraint = need.constraint, .group = need.group});
    }
  }
  ++arrived_;
  fetch();
}

void World::withdraw_last(std::vector<Event>& out) {
  if (last_arrived_.is_none() || live_[last_arrived_.row()].bound >= live_[last_arrived_.row()].min) return;
  out.push_back({next_job_.submit, Ended{last_arrived_}});
  release_rows(last_arrived_);
}

void World::end_job(const Due& end, std::vector<Event>& out) {
  Live& live = live_[end.job.row()];
  out.push_back({end.at, Ended{end.job}});
  if (listeners_.ended)
    listeners_.ended({live.vc, live.submit, end.at, live.queued, live.first_start, devices_of(live), live.priority});
  stop_job(live, end.at);
  release_rows(end.job);
}

/// Nothing of the job is left. Rows of a script's jobs belong to the script.
void World::release_rows(JobId id) {
  Live& live = live_[id.row()];
  forget_nodes(live);
  live.bound = 0;
  grace_.end(id);
  grace_.forget(id);
  if (catalog_ != nullptr) {
    drop_binds(live);
    spare_members_.insert(spare_members_.end(), live.members.rbegin(), live.members.rend());
    spare_jobs_.push_back(id);
  } else {
    for (const MemberId m : live.members) placed_[m.row()].job = JobId::none();
  }
  live.members.clear();
  ++ended_;
}

void World::start_if_ready(JobId id, Millis at) {
  Live& live = live_[id.row()];
  if (!live.is_running && live.bound >= live.min && live.remaining != Millis::max()) start_job(id, at);
}

void World::start_job(JobId id, Millis at) {
  Live& live = live_[id.row()];
  live.is_running = true;
  live.started_at = at;
  live.first_start = std::min(live.first_start, at);
  live.queued += at - live.waiting_since;
  due_.push({at + live.remaining + rules_.end_lag, turns_++, id, live.run});
  busy_devices_ += devices_of(live);
  ++running_;
}

/// It no longer runs, for whatever reason.
void World::stop_job(Live& live, Millis at) {
  live.is_running = false;
  live.ran_before = Millis(0);
  ++live.run;
  live.remaining -= std::min(live.remaining, at - live.started_at);
  live.waiting_since = at;
  busy_devices_ -= devices_of(live);
  --running_;
}

void World::evict_job(JobId id, Millis at) {
  Live& live = live_[id.row()];
  if (live.is_running) {
    const Millis lost = live.lost_if_stopped(at);
    stop_job(live, at);
    live.remaining += lost;
  }
  if (live.remaining != Millis::max()) live.remaining += rules_.restart_of(devices_of(live)) + live.restart;
  forget_nodes(live);
  drop_binds(live);
  live.bound = 0;
  grace_.end(id);
  ++preemptions_;
}

void World::forget_nodes(const Live& live) {
  if (!follows_members_) return;
  for (const MemberId m : live.members) grown(placed_, m.row()).node = NodeId::none();
}

/// Pods of a stopped job are gone, and with them the actions requested for them.
void World::drop_binds(const Live& live) {
  if (!follows_members_) return;
  for (const MemberId m : live.members) drop_bind(m);
}

void World::drop_bind(MemberId member) {
  if (follows_members_) grown(placed_, member.row()).dropped = placed_[member.row()].attempts;
}

void World::bind(const Bind& bind, Millis at) {
  Live& live = live_[bind.job.row()];
  if (follows_members_) {
    Placed& placed = grown(placed_, bind.member.row());
    const bool is_moved = !placed.node.is_none();
    placed.job = bind.job;
    placed.node = bind.node;
    placed.devices = bind.devices;
    if (is_moved) return;
  }
  ++live.bound;
  start_if_ready(bind.job, at);
}

void World::unbind(MemberId member, Millis at) {
  Placed& placed = placed_[member.row()];
  if (placed.node.is_none()) return;
  placed.node = NodeId::none();
  grace_.end(member);
  Live& live = live_[placed.job.row()];
  if (--live.bound == 0) grace_.end(placed.job);
  if (live.is_running && (rules_.keeps_going ? live.bound == 0 : live.bound < live.min)) stop_job(live, at);
}

Evicted World::evict(const Evict& action, Millis at) {
  if (action.member.is_none()) {
    evict_job(action.job, at);
  } else {
    drop_bind(action.member);
    unbind(action.member, at);
  }
  const Live& live = live_[action.job.row()];
  return {action.job, rules_.tells_by_estimates ? live.remaining_believed() : live.remaining, action.member};
}

bool World::has_grace(const Evict& action) const {
  if (action.grace == Millis(0)) return false;
  if (action.member.is_none()) return live_[action.job.row()].bound > 0;
  return action.member.row() < placed_.size() && !placed_[action.member.row()].node.is_none();
}

/// Pods that have no node yet are gone at once, and with them the binds requested for them.
void World::begin_grace(const Evict& action, const Fate& fate, Millis now) {
  ASHLAR_CHECK(follows_members_);
  action.member.is_none() ? drop_binds(live_[action.job.row()]) : drop_bind(action.member);
  LateAnswer answer;
  answer.ends_grace = true;
  answer.after = fate.after;
  const std::uint32_t row = keep(std::move(answer));
  due_.push({now + action.grace, turns_++, JobId::none(), row});
  grace_.begin(action, row);
}

void World::end_grace(const LateAnswer& answer, std::uint32_t row, Millis at, std::vector<Event>& out) {
  const Evict* ends = grace_.find(row);
  if (ends == nullptr) return;  // its job has ended, or was stopped otherwise
  LateAnswer reported;
  reported.body = evict(Evict(*ends), at);
  if (answer.after == Millis(0))
    out.push_back({at, std::move(reported.body)});
  else
    answer_late(std::move(reported), at + answer.after);
}

World::Leaving World::leaving(JobId job, MemberId member) const {
  const bool is_stopped = member.row() < placed_.size() && grace_.find(job, member) != nullptr;
  return is_stopped ? Leaving{placed_[member.row()].node, placed_[member.row()].devices} : Leaving{};
}

bool World::holds(const Evict& eviction, NodeId node, const DeviceMask& devices) const {
  const auto has_one = [&](MemberId m) {
    return m.row() < placed_.size() && placed_[m.row()].node == node && placed_[m.row()].devices.overlaps(devices);
  };
  if (!eviction.member.is_none()) return has_one(eviction.member);
  const auto& members = live_[eviction.job.row()].members;
  return std::any_of(members.begin(), members.end(), has_one);
}

bool World::must_wait(const Bind& bind) const {
  return grace_.keep_waiting(bind, [&](const Evict& eviction) { return holds(eviction, bind.node, bind.devices); });
}

void World::bind_waiting(Millis at, std::vector<Event>& out) {
  for (const std::uint32_t row : grace_.take_waiting()) deliver_late(row, at, out);
}

void World::submit(const Plan& plan) {
  for (const Action& action : plan.actions) {
    const Bind* bound = std::get_if<Bind>(&action);
    const bool is_late = bound != nullptr ? must_wait(*bound) : has_grace(std::get<Evict>(action));
    if (fate_of_ || is_late) {
      carry_out_late(action, plan.at);
    } else if (bound != nullptr) {
      ASHLAR_CHECK(live_[bound->job.row()].bound < live_[bound->job.row()].min);
      answers_.push_back({plan.at, Bound{bound->member, bound->node, bound->devices}});
      bind(*bound, plan.at);
    } else {
      answers_.push_back({plan.at, evict(std::get<Evict>(action), plan.at)});
      has_stops_ = true;
    }
  }
  if (!plan.actions.empty()) tell_load(plan.at);
}

void World::carry_out_late(const Action& action, Millis now) {
  const Fate fate = fate_of_ ? fate_of_(action) : Fate{};
  LateAnswer answer;
  if (const Bind* bound = std::get_if<Bind>(&action)) {
    if (catalog_ != nullptr) grown(placed_, bound->member.row()).job = bound->job;  // a script says so itself
    answer.attempt = ++grown(placed_, bound->member.row()).attempts;
    answer.changed_nodes = losses_of(bound->node);
    const bool is_refused = refused_next_.erase(bound->member) != 0 || fate.is_refused;
    answer.body = is_refused ? EventBody(BindRejected{bound->member})
                             : EventBody(Bound{bound->member, bound->node, bound->devices});
  } else {
    const Evict& evicted = std::get<Evict>(action);
    if (has_grace(evicted)) return begin_grace(evicted, fate, now);
    answer.body = evict(evicted, now);
  }
  if (!fate_of_) return grace_.wait(keep(std::move(answer)));
  answer_late(answer, now + fate.after);
  if (fate.reported_again_after == Millis::max()) return;
  answer.is_again = true;
  answer_late(std::move(answer), now + fate.after + fate.reported_again_after);
}

std::uint32_t World::keep(LateAnswer answer) {
  auto row = static_cast<std::uint32_t>(late_answers_.size());
  if (spare_answers_.empty()) {
    late_answers_.push_back(std::move(answer));
  } else {
    row = spare_answers_.back();
    spare_answers_.pop_back();
    late_answers_[row] = std::move(answer);
  }
  return row;
}

void World::answer_late(LateAnswer answer, Millis at) {
  due_.push({at, turns_++, JobId::none(), keep(std::move(answer))});
}

/// A bind is carried out when it is answered, and refused if its node was removed in the meantime, even if it came
/// back: the request was lost with it. A member that has a node keeps it, whatever was requested since; an answer that
/// is outdated by then is not delivered.
void World::deliver_late(std::uint32_t row, Millis at, std::vector<Event>& out) {
  LateAnswer answer = std::move(late_answers_[row]);
  spare_answers_.push_back(row);
  if (answer.ends_grace) return end_grace(answer, row, at, out);
  if (const auto* bound = std::get_if<Bound>(&answer.body)) {
    const Placed& placed = placed_[bound->member.row()];
    const bool is_open = !answer.is_again && !placed.job.is_none() && placed.node.is_none();
    if (is_open && answer.attempt > placed.dropped &&
        must_wait({bound->member, placed.job, bound->node, bound->devices}))
      return grace_.wait(keep(std::move(answer)));
    if (is_open && (is_gone(bound->node) || losses_of(bound->node) != answer.changed_nodes))
      answer.body = BindRejected{bound->member};
  }
  if (auto* bound = std::get_if<Bound>(&answer.body)) {
    const Placed placed = placed_[bound->member.row()];
    if (answer.attempt <= placed.dropped || (answer.is_again && placed.node != bound->node)) return;
    if (!placed.job.is_none() && !placed.node.is_none()) {
      bound->node = placed.node;
      bound->devices = placed.devices;
    } else if (!placed.job.is_none()) {
      bind({bound->member, placed.job, bound->node, bound->devices}, at);
    }
  } else if (const auto* rejected = std::get_if<BindRejected>(&answer.body)) {
    const Placed& placed = placed_[rejected->member.row()];
    if (placed.attempts != answer.attempt || answer.attempt <= placed.dropped || !placed.node.is_none()) return;
  } else if (answer.is_again) {
    return;  // a stop that is delivered twice would stop the next run
  }
  out.push_back({at, std::move(answer.body)});
}

void World::change_node(const NodeChange& change, std::vector<Event>& out) {
  if (change.is_there) {
    out.push_back({change.at, NodeSeen{change.node, facts_[change.node.row()]}});
    return;
  }
  out.push_back({change.at, NodeGone{change.node}});
  ++grown(node_losses_, change.node.row());
  lose_node(change.node, change.at, out);
}

/// Unless it keeps going, a job that loses a member starts over once it is whole again: there may be no checkpoint. Its
/// other members keep their devices.
void World::lose_node(NodeId node, Millis at, std::vector<Event>& out) {
  for (std::size_t m = 0; m < placed_.size(); ++m) {
    if (placed_[m].node != node) continue;
    const JobId job = placed_[m].job;
    const Evict* const stopped = grace_.find(job, MemberId(m));
    const Evict eviction = stopped != nullptr ? *stopped : Evict{};
    unbind(MemberId(m), at);
    Live& live = live_[job.row()];
    if (stopped != nullptr && (live.bound == 0 || !eviction.member.is_none())) out.push_back({at, evict(eviction, at)});
    if (rules_.keeps_going || live.is_running) continue;
    live.remaining = live.duration;
    out.push_back({at, EstimateChanged{job, live.estimate}});
  }
}

void World::tell_load(Millis at) {
  if (listeners_.load) listeners_.load(at, busy_devices_, present() - running_);
}

}  // namespace ashlar::sim
