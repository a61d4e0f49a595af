#include "engine/place/class_quota.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

/// Limits that are tried one after the other: each closes the nodes of one class, or of all.
constexpr int kClosedMax = 16;

using Placements = std::vector<Trial::Placement>;

Placements placements_since(const Trial& trial, std::size_t before) {
  Placements placements;
  each_placement(std::span(trial.steps()).subspan(before),
                 [&](const Trial::Placement& placement) { placements.push_back(placement); });
  return placements;
}

class ClassQuota {
 public:
  ClassQuota(const PlacementContext& context, JobId job, std::size_t before)
      : trial_(context.trial), state_(context.trial.state()), job_(job), before_(before) {}

  /// The first limit above the job, from its queue upwards, that these placements, which are in place, exceed.
  std::optional<Reason> refusal(const Placements& placements) const {
    const QueueTree& queues = state_.queues();
    for (QueueId q = state_.job(job_).queue; !q.is_none(); q = queues.parent(q))
      for (std::size_t k = 0; k < queues.keys().size(); ++k) {
        const std::int64_t limit = queues.limit(k, q);
        const std::int64_t added = limit == kUnlimited ? 0 : taken(placements, k);
        if (added > 0 && queues.used(k, q) > limit)
          return Reason{
              ReasonCode::kQuotaExhausted, q.value, {quota_number(queues.keys()[k]), queues.used(k, q) - added, limit}};
      }
    return std::nullopt;
  }

  /// Those of the placements, in order, that are within all limits together.
  Placements admitted(const Placements& placements) {
    Placements kept;
    trial_.rollback_to(before_);
    for (const Trial::Placement& placement : placements) {
      const std::size_t checkpoint = trial_.checkpoint();
      trial_.place(placement.member, placement.node, placement.devices);
      kept.push_back(placement);
      if (!refusal(kept)) continue;
      kept.pop_back();
      trial_.rollback_to(checkpoint);
    }
    return kept;
  }

 private:
  std::int64_t taken(const Placements& placements, std::size_t key) const {
    const QuotaKey& of = state_.queues().keys()[key];
    std::int64_t sum = 0;
    for (const Trial::Placement& placement : placements)
      sum += counted_for(state_.cluster(), placement.node, state_.demand(state_.member(placement.member).demand),
                         placement.devices, of);
    return sum;
  }

  Trial& trial_;
  State& state_;
  JobId job_;
  std::size_t before_;
};

/// Blocks all that is free on the devices of these classes.
void close_devices(Trial& trial, NodeId n, std::span<const DeviceClassId> classes) {
  const Cluster& cluster = trial.state().cluster();
  const DeviceLayout* mixed = cluster.mixed_layout(n);
  for (std::size_t i = 0; i < cluster.device_free_milli(n).size(); ++i) {
    const DeviceClassId own = mixed == nullptr ? cluster.models()[n.row()] : mixed->devices[i].device_class;
    const DeviceRequest rest{1, MilliGpu(cluster.device_free_milli(n)[i]), MiB(cluster.device_free_mib(n)[i])};
    if (rest.milli_each.value <= 0 || std::find(classes.begin(), classes.end(), own) == classes.end()) continue;
    DeviceMask device;
    device.set(static_cast<int>(i));
    trial.block(n, {.amounts = {}, .devices = rest, .ports = {}}, device);
  }
}

/// The class that members without devices count as on the node.
DeviceClassId class_without_devices(const Cluster& cluster, NodeId n) {
  const DeviceLayout* mixed = cluster.mixed_layout(n);
  return mixed == nullptr ? cluster.models()[n.row()] : mixed->devices.front().device_class;
}

/// Blocks all that is free of what the key counts on the nodes of its class; of a node with devices of several classes
/// the devices of that one, so that none counts as of it.
void close_key(Trial& trial, const QuotaKey& key) {
  const Cluster& cluster = trial.state().cluster();
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const NodeId n(row);
    if (!cluster.is_live(n) || !cluster.has_class(n, key.device_class)) continue;
    const bool has_several = cluster.mixed_layout(n) != nullptr;
    if (key.resource.is_none() || has_several) close_devices(trial, n, {&key.device_class, 1});
    if (key.resource.is_none() || class_without_devices(cluster, n) != key.device_class) continue;
    const std::int64_t free = key.resource.row() < cluster.resource_count() ? cluster.free(key.resource)[row] : 0;
    if (free > 0) trial.block(n, {.amounts = {{key.resource, free}}, .devices = {}, .ports = {}}, {});
  }
}

/// What the job finds no more on nodes of which it exceeds a limit: all that its members request, so that none goes
/// there; but what the limit counts alone, if some of them take nothing of that.
class Closed {
 public:
  explicit Closed(JobId job) : job_(job) {}

  void add(const State& state, const QuotaKey& key) {
    bool do_all_take = true;
    state.each_member(job_, [&](MemberId, const Member& m) {
      do_all_take = do_all_take && amount_of(state.demand(m.demand), key) > 0;
    });
    if (do_all_take)
      classes_.push_back(key.device_class);
    else
      keys_.push_back(key);
  }
  void close(Trial& trial) const {
    close_classes(trial, job_, classes_);
    for (const QuotaKey& key : keys_) close_key(trial, key);
  }

 private:
  JobId job_;
  std::vector<DeviceClassId> classes_;
  std::vector<QuotaKey> keys_;
};

}  // namespace

void close_classes(Trial& trial, JobId job, std::span<const DeviceClassId> classes) {
  if (classes.empty()) return;
  const State& state = trial.state();
  const Cluster& cluster = state.cluster();
  std::vector<ResourceId> asked;
  bool do_all_take_devices = true;
  state.each_member(job, [&](MemberId, const Member& m) {
    if (m.is_placed()) return;
    do_all_take_devices = do_all_take_devices && state.demand(m.demand).devices.count > 0;
    for (const ResourceAmount& a : state.demand(m.demand).amounts)
      if (a.resource.row() < cluster.resource_count() &&
          std::find(asked.begin(), asked.end(), a.resource) == asked.end())
        asked.push_back(a.resource);
  });
  for (std::size_t n = 0; n < cluster.rows(); ++n) {
    if (!cluster.is_live(NodeId(n))) continue;
    const bool has_several = cluster.mixed_layout(NodeId(n)) != nullptr;
    if (has_several) close_devices(trial, NodeId(n), classes);
    if (has_several && do_all_take_devices) continue;
    const DeviceClassId own = class_without_devices(cluster, NodeId(n));
    if (std::find(classes.begin(), classes.end(), own) == classes.end()) continue;
    Demand all;
    for (const ResourceId r : asked)
      if (const std::int64_t free = cluster.free(r)[n]; free > 0) all.amounts.push_back({r, free});
    if (!all.amounts.empty()) trial.block(NodeId(n), std::move(all), {});
  }
}

PlacementOutcome keep_within_class_quota(const PlacementContext& context, JobId job, std::size_t before,
                                         std::uint32_t needed) {
  Trial& trial = context.trial;
  ClassQuota quota(context, job, before);
  PlacementOutcome outcome{.is_placed = true};
  Closed closed(job);
  for (int tries = 0; tries < kClosedMax; ++tries) {
    const Placements placements = placements_since(trial, before);
    const std::optional<Reason> refusal = quota.refusal(placements);
    if (!refusal) {
      trial.unblock(before);
      return outcome;
    }
    if (!outcome.over_quota) outcome.over_quota = refusal;
    const QuotaKey key = quota_key(refusal->numbers[0]);
    if (key.device_class.is_none()) break;
    closed.add(trial.state(), key);
    const auto kept = static_cast<std::uint32_t>(quota.admitted(placements).size());
    closed.close(trial);
    const auto place = [&](std::uint32_t members_max) {
      const PlacementContext rest{trial, context.fit_tables, context.profile, context.draws, members_max};
      const PlacementOutcome placed = members_max == 0 ? PlacementOutcome{} : place_anywhere(rest, job);
      outcome.is_limit_reached = outcome.is_limit_reached || placed.is_limit_reached;
      return placed.is_placed;
    };
    if (place(context.members_max - std::min(kept, context.members_max))) continue;
    if (kept >= needed) {
      trial.unblock(before);
      return outcome;
    }
    // Those kept may stand in a domain that is too small for the others.
    trial.rollback_to(before);
    closed.close(trial);
    if (kept == 0 || !place(context.members_max)) break;
  }
  trial.rollback_to(before);
  outcome.is_placed = false;
  return outcome;
}

}  // namespace ashlar
