#include "engine/reserve/deciding_nodes.h"

#include <algorithm>
#include <span>

#include "engine/place/choice.h"
#include "engine/place/placement.h"
#include "engine/place/scope.h"

namespace ashlar {
namespace {

/// Whole devices that one of these members requests; 0 for shares.
std::int32_t whole_devices(const State& state, const Run& run) {
  const DeviceRequest& request = state.demand(run.demand).devices;
  return request.is_whole() ? request.count : 0;
}

/// Whether its place depends on nothing but what nodes have free and the domains that they are in.
bool is_placed_by_nodes(const State& state, const Profile& profile, const Job& job, std::span<const Run> runs) {
  const bool has_rules_of_its_own =
      !job.spec.is_none() || !job.prefer.is_none() || job.members_placed > 0 || !placement_rule(profile).is_room_exact;
  if (has_rules_of_its_own || runs.empty() || !state.yielding().empty() || !state.nominations().empty() ||
      !state.queues().keys().empty())
    return false;
  if (!job.within.is_none() && job.within.row() >= state.cluster().topology().level_count()) return false;
  return std::ranges::all_of(runs, [&](const Run& run) {
    const Constraint& constraint = state.cluster().constraint(run.constraint);
    return constraint.seen_as.is_none() && !constraint.has_company() && !constraint.has_wishes_about_pods();
  });
}

}  // namespace

DecidingNodes::DecidingNodes(const State& state, const Profile& profile, JobId job)
    : state_(state), within_(state.job(job).within) {
  const Job& j = state.job(job);
  const bool is_choice = has_choice(state, job);  // then any of those that wait may be among them
  const std::vector<Run> runs = runs_of(state, job, is_choice ? j.members_present : j.members_needed());
  if (!is_placed_by_nodes(state, profile, j, runs)) return;
  if (within_.is_none()) {
    // Of several kinds each must be unable to use the other nodes. Of one device hardly any node is without.
    constexpr std::int32_t kFewest = 2;
    std::int32_t fewest = INT32_MAX;
    for (const Run& run : runs) fewest = std::min(fewest, whole_devices(state, run));
    if (fewest < kFewest) return;
    devices_ = fewest;
    const bool is_by_points = j.members_present == 1 || !profile.is_default_domain_search;
    together_ = is_by_points ? Together::kGroup : Together::kNode;
  } else if (is_choice) {
    // It must have room for as many of the smallest, whatever others it has room for.
    devices_ = INT32_MAX;
    for (const Run& run : runs) devices_ = std::min(devices_, whole_devices(state, run));
    members_ = j.members_needed();
    together_ = Together::kDomain;
  } else {
    // A domain without room for the largest members is out of the question, whatever room it has for others.
    for (const Run& run : runs) {
      const std::int32_t devices = whole_devices(state, run);
      if (devices < devices_ || (devices == devices_ && run.members.size() <= members_)) continue;
      devices_ = devices;
      members_ = run.members.size();
    }
    together_ = Together::kDomain;
  }
  if (are_known()) start_anew();
}

void DecidingNodes::start_anew() {
  const auto idle = state_.cluster().idle_devices();
  idle_.assign(idle.begin(), idle.end());
}

void DecidingNodes::free(JobId ended) {
  state_.each_member(ended, [&](MemberId, const Member& m) {
    if (m.is_placed() && m.node.row() < idle_.size())
      idle_[m.node.row()] += std::max(state_.demand(m.demand).devices.count, m.devices.count());
  });
}

bool DecidingNodes::is_enough(std::span<const NodeId> nodes) const {
  std::size_t members = 0;
  for (const NodeId n : nodes)
    if (const std::int32_t idle = idle_[n.row()]; idle >= devices_)
      members += static_cast<std::size_t>(idle / devices_);
  return members >= members_;
}

void DecidingNodes::mark(std::span<const NodeId> nodes, std::vector<std::uint8_t>& decides) {
  for (const NodeId n : nodes) decides[n.row()] = 1;
}

std::vector<std::uint8_t> DecidingNodes::list() const {
  const Topology& topology = state_.cluster().topology();
  std::vector<std::uint8_t> decides(idle_.size(), 0);
  switch (together_) {
    case Together::kNode:
      for (std::size_t row = 0; row < idle_.size(); ++row) decides[row] = idle_[row] >= devices_ ? 1 : 0;
      break;
    case Together::kGroup:
      for (std::size_t g = 0; g < topology.group_count(); ++g)
        if (const auto nodes = topology.nodes_of_group(GroupId(g)); is_enough(nodes)) mark(nodes, decides);
      break;
    case Together::kDomain:
      for (std::size_t d = 0; d < topology.domain_count(within_); ++d)
        if (const auto nodes = topology.nodes_of(within_, DomainId(d)); is_enough(nodes)) mark(nodes, decides);
      break;
  }
  return decides;
}

}  // namespace ashlar
