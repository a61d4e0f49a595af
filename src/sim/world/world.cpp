#include "sim/world/world.h"

#include <algorithm>

#include "base/check.h"
#include "base/grown.h"

namespace ashlar::sim {
namespace {

/// A stop is reported at most this much later, even if nothing else happens.
constexpr Millis kStopHeardAfter = Millis(1000);

}  // namespace

/// Effects of the events of a script on the world itself.
struct ScriptNotes {
  World& world;
  Millis at;
  std::vector<Event>& out;

  template <class Other>
  void operator()(const Other&) {}
  void operator()(const NodeSeen& e) { grown(world.is_node_there_, e.node.row()) = 1; }
  void operator()(const NodeGone& e) {
    if (!world.is_there(e.node)) return;
    world.is_node_there_[e.node.row()] = 0;
    ++grown(world.node_losses_, e.node.row());
    world.lose_node(e.node, at, out);
  }
  void operator()(const Submitted& e) {
    const Workload& w = e.workload;
    World::Live& live = grown(world.live_, w.job.row());
    live.min = std::max<std::uint32_t>(w.members_min, 1);
    live.waiting_since = at;
    live.submit = w.submitted;
    live.estimate = w.estimate;
    add(w.job, w.members);
    ++world.arrived_;
  }
  void operator()(const MembersAdded& e) {
    if (e.job.row() >= world.live_.size()) return;
    world.live_[e.job.row()].min = std::max<std::uint32_t>(e.members_min, 1);
    add(e.job, e.members);
    world.start_if_ready(e.job, at);
  }
  void operator()(const MemberGone& e) {
    if (e.member.row() >= world.placed_.size() || world.placed_[e.member.row()].job.is_none()) return;
    world.unbind(e.member, at);
    auto& members = world.live_[world.placed_[e.member.row()].job.row()].members;
    members.erase(std::remove(members.begin(), members.end(), e.member), members.end());
    world.placed_[e.member.row()].job = JobId::none();
  }
  void operator()(const Ended& e) {
    if (e.job.row() >= world.live_.size() || world.live_[e.job.row()].members.empty()) return;
    World::Live& live = world.live_[e.job.row()];
    if (live.is_running) world.stop_job(live, at);
    world.release_rows(e.job);
  }
  void operator()(const Bound& e) {
    if (e.member.row() >= world.placed_.size() || world.placed_[e.member.row()].job.is_none() ||
        !world.is_there(e.node))
      return;
    world.bind({e.member, world.placed_[e.member.row()].job, e.node, e.devices}, at);
  }
  void operator()(const Evicted& e) {
    if (e.job.row() >= world.live_.size()) return;
    World::Live& live = world.live_[e.job.row()];
    if (!e.member.is_none()) {
      const bool is_of_job = e.member.row() < world.placed_.size() && world.placed_[e.member.row()].job == e.job;
      if (is_of_job) world.unbind(e.member, at);
      return;
    }
    if (live.is_running) world.stop_job(live, at);
    world.forget_nodes(live);
    world.drop_binds(live);
    live.bound = 0;
  }

 private:
  void add(JobId job, const std::vector<MemberSpec>& members) {
    for (const MemberSpec& spec : members) {
      grown(world.placed_, spec.member.row()) = {job, NodeId::none(), {}, 0, 0};
      world.live_[job.row()].members.push_back(spec.member);
    }
  }
};

World::World(SimClock& clock, const Catalog& catalog, JobFeed feed, WorldRules rules)
    : clock_(clock), catalog_(&catalog), feed_(std::move(feed)), rules_(rules) {
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
    live.remaining = live.duration = runs->duration;
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
  if (listeners_.ended) listeners_.ended({live.vc, live.submit, end.at, live.queued});
  stop_job(live, end.at);
  release_rows(end.job);
}

/// Nothing of the job is left. Rows of a script's jobs belong to the script.
void World::release_rows(JobId id) {
  Live& live = live_[id.row()];
  forget_nodes(live);
  live.bound = 0;
  if (catalog_ != nullptr) {
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
  live.queued += at - live.waiting_since;
  due_.push({at + live.remaining + rules_.end_lag, turns_++, id, live.run});
  busy_devices_ += devices_of(live);
  ++running_;
}

/// It no longer runs, for whatever reason.
void World::stop_job(Live& live, Millis at) {
  live.is_running = false;
  ++live.run;
  live.remaining -= std::min(live.remaining, at - live.started_at);
  live.waiting_since = at;
  busy_devices_ -= devices_of(live);
  --running_;
}

void World::evict_job(JobId id, Millis at) {
  Live& live = live_[id.row()];
  if (live.is_running) stop_job(live, at);
  if (live.remaining != Millis::max()) live.remaining += rules_.restart_of(devices_of(live));
  forget_nodes(live);
  drop_binds(live);
  live.bound = 0;
  ++preemptions_;
}

void World::forget_nodes(const Live& live) {
  if (!follows_members_) return;
  for (const MemberId m : live.members) grown(placed_, m.row()).node = NodeId::none();
}

/// Pods of a stopped job are gone, and with them the actions requested for them.
void World::drop_binds(const Live& live) {
  if (!follows_members_) return;
  for (const MemberId m : live.members) placed_[m.row()].dropped = placed_[m.row()].attempts;
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
  Live& live = live_[placed.job.row()];
  --live.bound;
  if (live.is_running && (rules_.keeps_going ? live.bound == 0 : live.bound < live.min)) stop_job(live, at);
}

Evicted World::evict(const Evict& action, Millis at) {
  if (action.member.is_none())
    evict_job(action.job, at);
  else
    unbind(action.member, at);
  return {action.job, live_[action.job.row()].remaining, action.member};
}

void World::submit(const Plan& plan) {
  for (const Action& action : plan.actions) {
    if (fate_of_) {
      carry_out_late(action, plan.at);
    } else if (const Bind* bound = std::get_if<Bind>(&action)) {
      ASHLAR_CHECK(live_[bound->job.row()].bound < live_[bound->job.row()].min);
      answers_.push_back({plan.at, Bound{bound->member, bound->node, bound->devices}});
      bind(*bound, plan.at);
    } else if (const Evict* evicted = std::get_if<Evict>(&action)) {
      answers_.push_back({plan.at, evict(*evicted, plan.at)});
      has_stops_ = true;
    }
  }
  if (!plan.actions.empty()) tell_load(plan.at);
}

void World::carry_out_late(const Action& action, Millis now) {
  const Fate fate = fate_of_(action);
  LateAnswer answer;
  if (const Bind* bound = std::get_if<Bind>(&action)) {
    answer.attempt = ++grown(placed_, bound->member.row()).attempts;
    answer.changed_nodes = losses_of(bound->node);
    const bool is_refused = refused_next_.erase(bound->member) != 0 || fate.is_refused;
    answer.body = is_refused ? EventBody(BindRejected{bound->member})
                             : EventBody(Bound{bound->member, bound->node, bound->devices});
  } else if (const Evict* evicted = std::get_if<Evict>(&action)) {
    answer.body = evict(*evicted, now);
  } else {
    return;
  }
  answer_late(answer, now + fate.after);
  if (fate.reported_again_after == Millis::max()) return;
  answer.is_again = true;
  answer_late(std::move(answer), now + fate.after + fate.reported_again_after);
}

void World::answer_late(LateAnswer answer, Millis at) {
  auto row = static_cast<std::uint32_t>(late_answers_.size());
  if (spare_answers_.empty()) {
    late_answers_.push_back(std::move(answer));
  } else {
    row = spare_answers_.back();
    spare_answers_.pop_back();
    late_answers_[row] = std::move(answer);
  }
  due_.push({at, turns_++, JobId::none(), row});
}

/// A bind is carried out when it is answered, and refused if its node was removed in the meantime, even if it came
/// back: the request was lost with it. A member that has a node keeps it, whatever was requested since; an answer that
/// is outdated by then is not delivered.
void World::deliver_late(std::uint32_t row, Millis at, std::vector<Event>& out) {
  LateAnswer answer = std::move(late_answers_[row]);
  spare_answers_.push_back(row);
  if (const auto* bound = std::get_if<Bound>(&answer.body)) {
    const Placed& placed = placed_[bound->member.row()];
    const bool is_open = !answer.is_again && !placed.job.is_none() && placed.node.is_none();
    if (is_open && (!is_there(bound->node) || losses_of(bound->node) != answer.changed_nodes))
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
  lose_node(change.node, change.at, out);
}

/// Unless it keeps going, a job that loses a member starts over once it is whole again: there may be no checkpoint. Its
/// other members keep their devices.
void World::lose_node(NodeId node, Millis at, std::vector<Event>& out) {
  for (std::size_t m = 0; m < placed_.size(); ++m) {
    if (placed_[m].node != node) continue;
    const JobId job = placed_[m].job;
    unbind(MemberId(m), at);
    Live& live = live_[job.row()];
    if (rules_.keeps_going || live.is_running) continue;
    live.remaining = live.duration;
    out.push_back({at, EstimateChanged{job, live.estimate}});
  }
}

void World::tell_load(Millis at) {
  if (listeners_.load) listeners_.load(at, busy_devices_, present() - running_);
}

}  // namespace ashlar::sim
