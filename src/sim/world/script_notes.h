// ScriptNotes: the effects of a script's events on the world itself; a part of World. Cost: that of the event; a node
// that is lost costs a walk over all members.
#pragma once

#include <algorithm>
#include <vector>

#include "base/grown.h"
#include "sim/world/world.h"

namespace ashlar::sim {

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
    live.saved_at = w.saved_at;
    live.restart = w.stopping.restart;
    add(w.job, w.members);
    ++world.arrived_;
  }
  void operator()(const CheckpointSaved& e) {
    if (e.job.row() < world.live_.size()) world.live_[e.job.row()].saved_at = e.at;
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
    world.grace_.end(e.job);
  }

 private:
  void add(JobId job, const std::vector<MemberSpec>& members) {
    for (const MemberSpec& spec : members) {
      grown(world.placed_, spec.member.row()) = {job, NodeId::none(), {}, 0, 0};
      world.live_[job.row()].members.push_back(spec.member);
    }
  }
};

}  // namespace ashlar::sim
