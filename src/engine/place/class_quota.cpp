#include "engine/place/class_quota.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/place/choice.h"
#include "engine/place/some_members.h"
#include "engine/quota.h"
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
    std::vector<std::int64_t> own(queues.keys().size());  // of what is placed, what the queues so far have kept
    for (QueueId q = state_.job(job_).queue; !q.is_none(); q = queues.parent(q))
      for (std::size_t k = 0; k < queues.keys().size(); ++k) {
        const std::int64_t limit = queues.limit(k, q);
        const std::int64_t added = taken(placements, k);
        if (added == 0) continue;
        const std::int64_t used = queues.used(k, q), kept = queues.counted_by_key(k, q) - used;
        const std::int64_t number = quota_number(queues.keys()[k]);
        if (used > (queues.parent(q).is_none() ? queues.stated_limit(k, q) : limit))  // placing shows what there is
          return Reason{ReasonCode::kQuotaExhausted, q.value, {number, used - added, limit}};
        if (limit != kUnlimited && kept > 0 && added > own[k] && used + kept > limit)
          return Reason{ReasonCode::kKeptByGuarantees, q.value, {number, kept, limit}};
        own[k] += queues.idle_without(queues.keys()[k], q, added, own[k]) - queues.idle(queues.keys()[k], q);
      }
    return std::nullopt;
  }

  /// Those of the placements, in order, that are within all limits together, and that the rules about pods allow beside
  /// those of them that are.
  Placements admitted(const Placements& placements) {
    Placements kept;
    trial_.rollback_to(before_);
    for (const Trial::Placement& placement : placements) {
      const ConstraintId constraint = state_.member(placement.member).constraint;
      if (!state_.cluster().allowed(constraint, kNodeRules).test(placement.node.row())) continue;
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

DeviceClassId class_of_device(const Cluster& cluster, NodeId n, int device) {
  const DeviceLayout* mixed = cluster.mixed_layout(n);
  return mixed == nullptr ? cluster.models()[n.row()] : mixed->devices[static_cast<std::size_t>(device)].device_class;
}

/// Blocks all that is free on the device.
void close_device(Trial& trial, NodeId n, int device) {
  const Cluster& cluster = trial.state().cluster();
  const auto i = static_cast<std::size_t>(device);
  const DeviceRequest rest{1, MilliGpu(cluster.device_free_milli(n)[i]), MiB(cluster.device_free_mib(n)[i])};
  if (rest.milli_each.value <= 0) return;
  DeviceMask one;
  one.set(device);
  trial.block(n, {.amounts = {}, .devices = rest, .ports = {}}, one);
}

/// The same on the devices of these classes.
void close_devices(Trial& trial, NodeId n, std::span<const DeviceClassId> classes) {
  const Cluster& cluster = trial.state().cluster();
  for (int i = 0; i < static_cast<int>(cluster.device_free_milli(n).size()); ++i)
    if (std::find(classes.begin(), classes.end(), class_of_device(cluster, n, i)) != classes.end())
      close_device(trial, n, i);
}

/// Blocks idle devices of the node; one block if they are alike.
void close_idle(Trial& trial, NodeId n, const DeviceMask& idle) {
  const Cluster& cluster = trial.state().cluster();
  if (idle.is_empty()) return;
  if (cluster.mixed_layout(n) != nullptr) return idle.each([&](int i) { close_device(trial, n, i); });
  const DeviceRequest all{idle.count(), MilliGpu(kWholeDevice), MiB(cluster.device_memories(n)[0])};
  trial.block(n, {.amounts = {}, .devices = all, .ports = {}}, idle);
}

/// How many devices of each class the limits still leave to the job.
class LimitsLeft {
 public:
  LimitsLeft(const State& state, JobId job) : state_(state), queue_(state.job(job).queue) {}

  std::int64_t of(DeviceClassId device_class) {
    const auto [left, is_new] = left_.try_emplace(device_class, 0);
    if (is_new) left->second = members_within_class_quota(state_, queue_, one_, device_class);
    return left->second;
  }

 private:
  const State& state_;
  QueueId queue_;
  Demand one_{{}, {1, MilliGpu(kWholeDevice), {}}, {}};
  std::map<DeviceClassId, std::int64_t> left_;
};

/// Blocks on each node the idle devices beyond those that the limits leave to the member of their class.
void close_beyond_limits(Trial& trial, JobId job, const Member& member) {
  const State& state = trial.state();
  const Cluster& cluster = state.cluster();
  LimitsLeft limits(state, job);
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const NodeId n(row);
    const bool has_several = cluster.mixed_layout(n) != nullptr;
    if (!cluster.is_live(n) || (!has_several && limits.of(cluster.models()[row]) >= cluster.devices()[row])) continue;
    const DeviceMask usable =
        usable_devices(cluster, n, cluster.constraint(member.constraint), state.demand(member.demand).devices);
    std::map<DeviceClassId, std::int64_t> taken;
    DeviceMask beyond;
    idle_to_take(cluster, n, usable).each([&](int i) {
      const DeviceClassId own = class_of_device(cluster, n, i);
      if (++taken[own] > limits.of(own)) beyond.set(i);
    });
    close_idle(trial, n, beyond);
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
/// there; but what the limit counts alone, if some of them take nothing of that. With a member to share the limits, no
/// more devices either than the limits leave, of those that it may use.
class Closed {
 public:
  explicit Closed(JobId job, MemberId to_share = {}) : job_(job), to_share_(to_share) {}

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
    if (!to_share_.is_none()) close_beyond_limits(trial, job_, trial.state().member(to_share_));
    close_classes(trial, job_, classes_);
    for (const QuotaKey& key : keys_) close_key(trial, key);
  }

 private:
  JobId job_;
  MemberId to_share_;
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

namespace {

/// What exceeds a limit is placed where that closes nothing, until all are within the limits.
PlacementOutcome keep_elsewhere(const PlacementContext& context, JobId job, std::size_t before, std::uint32_t needed,
                                Closed& closed) {
  Trial& trial = context.trial;
  ClassQuota quota(context, job, before);
  PlacementOutcome outcome{.is_placed = true};
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
      if (placed.limit) outcome.limit = placed.limit;
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

/// The first waiting member of whole devices, where some of a limited class may be of use: on a node of several
/// classes, or to a gang in a domain.
MemberId first_to_share_limits(const State& state, JobId job) {
  const Job& j = state.job(job);
  const bool has_mixed = !state.cluster().layouts().mixed_nodes().empty();
  const bool is_in_a_domain = j.members_needed() > 1 && (!j.within.is_none() || !j.spec.is_none());
  MemberId first;
  state.each_waiting(job, [&](MemberId id, const Member& m) {
    const DeviceRequest& request = state.demand(m.demand).devices;
    if ((has_mixed && request.count > 1) || (is_in_a_domain && request.count > 0 && request.is_whole())) first = id;
    return first.is_none();
  });
  return first;
}

}  // namespace

namespace {

/// Of a job with a choice: those whose places are within the limits.
bool place_those_within(const PlacementContext& context, JobId job, std::size_t before) {
  if (!has_choice(context.trial.state(), job)) return false;
  const ClassQuota quota(context, job, before);
  return place_some_within(context, job,
                           [&] { return !quota.refusal(placements_since(context.trial, before)).has_value(); });
}

/// Without a choice.
PlacementOutcome keep_all_within(const PlacementContext& context, JobId job, std::size_t before, std::uint32_t needed) {
  Trial& trial = context.trial;
  Closed closed(job);
  const PlacementOutcome outcome = keep_elsewhere(context, job, before, needed, closed);
  const MemberId to_share = outcome.is_placed ? MemberId() : first_to_share_limits(trial.state(), job);
  if (to_share.is_none()) return outcome;
  Closed beyond(job, to_share);
  beyond.close(trial);
  Rng draws = context.draws;  // of an attempt that fails nothing is left
  const PlacementContext last{trial, context.fit_tables, context.profile, draws, context.members_max, context.at};
  PlacementOutcome shared = place_anywhere(last, job);
  if (shared.is_placed) shared = keep_elsewhere(last, job, before, needed, beyond);
  if (shared.is_placed) {
    context.draws = draws;
    return shared;
  }
  trial.rollback_to(before);
  return outcome;
}

}  // namespace

PlacementOutcome keep_within_class_quota(const PlacementContext& context, JobId job, std::size_t before,
                                         std::uint32_t needed) {
  const PlacementOutcome outcome = keep_all_within(context, job, before, needed);
  if (!outcome.is_placed && place_those_within(context, job, before)) return {.is_placed = true};
  return outcome;
}

}  // namespace ashlar
