#include "engine/reserve/idle_room.h"

#include <algorithm>

namespace ashlar {

IdleRoom::IdleRoom(const State& state, JobId job) : state_(state), within_(state.job(job).within) {
  if (!state.yielding().empty() || !state.nominations().empty()) return;
  if (!within_.is_none() && within_.row() >= state.cluster().topology().level_count()) return;
  state.each_needed(job, [&](MemberId, const Member& m) {
    const DeviceRequest& request = state.demand(m.demand).devices;
    if (!request.is_whole() || request.count < devices_ || request.count == 0) return;
    needed_ = request.count == devices_ ? needed_ + 1 : 1;
    devices_ = request.count;
  });
  if (needed_ == 0 || (devices_ == 1 && within_.is_none())) {
    needed_ = 0;
    return;
  }
  if (!within_.is_none() && state.job(job).members_placed > 0) joined_ = state.anchor(job, within_);
  const auto idle = state.cluster().idle_devices();
  for (std::size_t row = 0; row < idle.size() && !is_enough(); ++row)
    if (idle[row] >= devices_) add_room(NodeId(row), idle[row] / devices_);
  if (!is_enough()) idle_.assign(idle.begin(), idle.end());
}

void IdleRoom::add_room(NodeId node, std::int64_t members) {
  const Cluster& cluster = state_.cluster();
  if (!cluster.is_live(node) || !cluster.facts(node).is_ready) return;
  std::size_t domain = 0;
  if (!within_.is_none()) {
    const DomainId of = cluster.topology().domain_of(within_, node);
    if (of.is_none() || (!joined_.is_none() && of != joined_)) return;
    domain = of.row();
  }
  if (rooms_.size() <= domain) rooms_.resize(domain + 1);
  rooms_[domain] += members;
  most_ = std::max(most_, rooms_[domain]);
}

void IdleRoom::free(JobId ended) {
  if (is_enough()) return;
  state_.each_member(ended, [&](MemberId, const Member& m) {
    const std::int32_t count = m.is_placed() ? std::max(state_.demand(m.demand).devices.count, m.devices.count()) : 0;
    if (count == 0 || m.node.row() >= idle_.size()) return;
    const std::int64_t before = members_on(m.node);
    idle_[m.node.row()] += count;
    if (const std::int64_t more = members_on(m.node) - before; more > 0) add_room(m.node, more);
  });
}

}  // namespace ashlar
