#include "state/consistency.h"

#include <algorithm>

#include "state/holds/kept.h"

namespace ashlar {
namespace {

/// Calls `visit(NodeId, const Demand&)` for what is taken of the nodes: by members, but those of holds that yield; by
/// these what they keep.
template <class Visit>
void each_taken(const State& state, Visit&& visit) {
  for (std::size_t row = 0; row < state.member_rows(); ++row) {
    if (!state.is_live(MemberId(row))) continue;
    const Member& m = state.member(MemberId(row));
    if (!m.is_placed()) continue;
    const Hold* hold = state.hold_of(m.job);
    if (hold == nullptr || !hold->yields()) visit(m.node, state.demand(m.demand));
  }
  for (std::size_t n = 0; n < state.cluster().rows(); ++n)
    for (const Kept& kept : kept_on(state, NodeId(n)))
      for (const Allocation& a : kept.allocations) visit(NodeId(n), a.demand);
}

bool are_request_counts_consistent(const State& state) {
  const Cluster& cluster = state.cluster();
  std::vector<DeviceRequestCounts> counts(cluster.rows(), DeviceRequestCounts{});
  each_taken(state, [&](NodeId n, const Demand& demand) {
    if (demand.devices.count > 0) ++counts[n.row()][device_request_kind(demand.devices)];
  });
  return std::equal(counts.begin(), counts.end(), cluster.device_request_counts().begin(),
                    cluster.device_request_counts().end());
}

bool are_ports_consistent(const State& state) {
  std::vector<std::vector<HostPort>> left;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
    const auto taken = state.cluster().ports_taken(NodeId(n));
    left.emplace_back(taken.begin(), taken.end());
  }
  bool are_there = true;
  each_taken(state, [&](NodeId n, const Demand& demand) {
    for (const HostPort& port : demand.ports) {
      const auto it = std::ranges::find(left[n.row()], port);
      if (it == left[n.row()].end())
        are_there = false;
      else
        left[n.row()].erase(it);
    }
  });
  return are_there && std::ranges::all_of(left, [](const auto& ports) { return ports.empty(); });
}

}  // namespace

Counts counted_company(const State& state) {
  const Cluster& cluster = state.cluster();
  Counts counts = cluster.counts();
  counts.rebuild(cluster.constraints(), cluster);
  for (std::size_t row = 0; row < state.member_rows(); ++row) {
    if (!state.is_live(MemberId(row))) continue;
    const Member& m = state.member(MemberId(row));
    counts.use(m.labels, 1);
    if (m.is_placed()) counts.add(MemberId(row), m.labels, cluster.constraint(m.constraint), m.node);
  }
  return counts;
}

std::vector<std::uint32_t> counted_gang_uses(const State& state) {
  std::vector<std::uint32_t> uses(state.gangs().rows(), 0);
  for (std::size_t row = 0; row < state.job_rows(); ++row) {
    const Job& j = state.job(JobId(row));
    if (j.is_live && j.spec.row() < uses.size()) ++uses[j.spec.row()];
  }
  return uses;
}

bool are_placements_consistent(const State& state) {
  if (!state.cluster().counts().is_like(counted_company(state)) || !are_request_counts_consistent(state) ||
      !are_ports_consistent(state))
    return false;
  std::vector<std::vector<MemberId>> on_nodes(state.cluster().rows());
  for (std::size_t row = 0; row < state.member_rows(); ++row) {
    if (!state.is_live(MemberId(row))) continue;
    const Member& m = state.member(MemberId(row));
    if (m.is_placed()) on_nodes[m.node.row()].emplace_back(row);
  }
  for (std::size_t n = 0; n < on_nodes.size(); ++n)
    if (state.members_on(NodeId(n)) != on_nodes[n]) return false;
  return true;
}

std::vector<std::uint32_t> counted_grant_uses(const State& state) {
  std::vector<std::uint32_t> uses(state.grants().rows());
  for (std::size_t row = 0; row < state.member_rows(); ++row)
    if (const DeviceGrantsId grants = state.member(MemberId(row)).grants; grants.row() < uses.size())
      ++uses[grants.row()];
  return uses;
}

bool are_running_consistent(const State& state) {
  const RunningJobs& running = state.running();
  std::vector<std::vector<JobId>> counted(running.rows());
  for (std::size_t row = 0; row < state.job_rows(); ++row) {
    const Job& job = state.job(JobId(row));
    if (!job.is_live || !job.is_started || !job.is_ours || job.is_hold) continue;
    if (job.queue.row() >= counted.size()) return false;
    counted[job.queue.row()].push_back(JobId(row));
  }
  for (std::size_t row = 0; row < counted.size(); ++row) {
    std::vector<JobId> listed(running.in(QueueId(row)).begin(), running.in(QueueId(row)).end());
    std::ranges::sort(listed);
    const auto priority = [&](JobId job) { return state.job(job).priority; };
    if (listed != counted[row]) return false;
    if (!listed.empty() && priority(std::ranges::min(listed, {}, priority)) != running.lowest_priority(QueueId(row)))
      return false;
  }
  return true;
}

bool are_members_consistent(const State& state, JobId job) {
  const Job& j = state.job(job);
  std::uint32_t present = 0, placed = 0, leaving = 0;
  bool are_apart = true;
  state.each_member(job, [&](MemberId, const Member& m) {
    ++present;
    placed += m.is_placed() ? 1 : 0;
    leaving += m.is_leaving ? 1 : 0;
    are_apart = are_apart && !(m.is_placed() && m.is_leaving);
  });
  return present == j.members_present && placed == j.members_placed && leaving == j.members_leaving && are_apart &&
         !(leaving > 0 && j.is_in_backlog);
}

bool are_groups_consistent(const State& state, JobId job) {
  const Job& j = state.job(job);
  if (j.spec.is_none()) return j.groups_lack == 0;
  std::vector<GroupCount> counted(state.gang_spec(j.spec).groups.size());
  state.each_member(job, [&](MemberId, const Member& m) {
    ++counted[m.group].present;
    counted[m.group].placed += m.is_placed() ? 1 : 0;
  });
  return counted == state.groups_of(job);
}

}  // namespace ashlar
