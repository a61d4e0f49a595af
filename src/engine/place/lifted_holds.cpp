#include "engine/place/lifted_holds.h"

#include <algorithm>
#include <set>

namespace ashlar {
namespace {

/// A limit of this kind is no reservation's: their editions are counted from 1.
constexpr std::uint64_t kOnHeldNodes = 0;

bool requests_devices(const State& state, JobId job) {
  bool does = false;
  state.each_member(job, [&](MemberId, const Member& m) {
    does = does || (!m.is_placed() && state.demand(m.demand).devices.count > 0);
  });
  return does;
}

/// The nodes of the members that hold devices, ascending.
std::vector<NodeId> nodes_with_devices(const State& state, const std::vector<MemberId>& holds) {
  std::vector<NodeId> nodes;
  for (const MemberId id : holds) {
    const Member& m = state.member(id);
    if (state.demand(m.demand).devices.count > 0 && (nodes.empty() || nodes.back() != m.node)) nodes.push_back(m.node);
  }
  return nodes;
}

/// Those of the members, which are in the order of their nodes, that are placed on this one.
std::span<const MemberId> on_node(const State& state, std::span<const MemberId> holds, NodeId node) {
  const auto node_of = [&](MemberId id) { return state.member(id).node; };
  return {std::ranges::lower_bound(holds, node, {}, node_of), std::ranges::upper_bound(holds, node, {}, node_of)};
}

/// Takes the free devices of the node that are not held. Where it owes devices to holds nobody knows which these are.
void block_free_devices(Trial& trial, NodeId node, const std::vector<MemberId>& holds) {
  const State& state = trial.state();
  const std::span<const MemberId> here = on_node(state, holds, node);
  const bool owes = std::any_of(here.begin(), here.end(), [&](MemberId id) {
    const Member& m = state.member(id);
    return m.devices.count() < state.demand(m.demand).devices.count;
  });
  if (owes) return;
  for (std::size_t i = 0; i < state.cluster().device_free_milli(node).size(); ++i) {
    const std::int32_t milli = state.cluster().device_free_milli(node)[i];
    const std::int64_t mib = std::max<std::int64_t>(state.cluster().device_free_mib(node)[i], 0);
    if (milli <= 0) continue;
    DeviceMask device;
    device.set(static_cast<int>(i));
    trial.block(node, Demand{{}, {1, MilliGpu(milli), MiB(mib)}, {}}, device);
  }
}

FitsLimit only_on(const std::vector<NodeId>& nodes) {
  FitsLimit limit{.editions = {kOnHeldNodes}, .lower = {}};
  for (const NodeId n : nodes) limit.editions.push_back(n.value);
  limit.lower = [&nodes](const NodeView&, NodeRange rows, std::span<std::uint16_t> fits) {
    auto next = std::lower_bound(nodes.begin(), nodes.end(), NodeId(rows.first));
    for (std::size_t i = 0; i < fits.size(); ++i) {
      const bool is_held = next != nodes.end() && next->row() == rows.first + i;
      if (is_held)
        ++next;
      else
        fits[i] = 0;
    }
  };
  return limit;
}

/// Those of the node's holds that the job may use and that keep devices.
std::vector<MemberId> members_with_devices(const State& state, JobId job, NodeId node) {
  std::vector<MemberId> members;
  for (const Kept& kept : kept_on(state, node)) {
    const bool has_devices = std::any_of(kept.allocations.begin(), kept.allocations.end(),
                                         [](const Allocation& a) { return a.demand.devices.count > 0; });
    if (has_devices && may_use(state, job, *state.hold_of(state.member(kept.member).job)))
      members.push_back(kept.member);
  }
  return members;
}

/// Those that keep anything, of members that ascend by node and row: the others are used up, and lifting them would
/// free nothing.
std::vector<MemberId> not_used_up(const State& state, const std::vector<MemberId>& holds) {
  std::vector<MemberId> left;
  each_node(state, holds, [&](std::span<const MemberId> here) {
    for (const Kept& kept : kept_on(state, state.member(here.front()).node))
      if (!kept.allocations.empty() && std::binary_search(here.begin(), here.end(), kept.member))
        left.push_back(kept.member);
  });
  return left;
}

/// The fewest whole devices that a waiting member of the job requests; 1 for shares.
std::int32_t fewest_devices(const State& state, JobId job) {
  std::int32_t fewest = INT32_MAX;
  state.each_member(job, [&](MemberId, const Member& m) {
    if (!m.is_placed()) fewest = std::min(fewest, state.demand(m.demand).devices.count);
  });
  return fewest;
}

/// Whether the node might have that many devices free, were everything lifted that yields there.
bool might_have(const State& state, NodeId node, std::int32_t devices) {
  const Cluster& cluster = state.cluster();
  if (devices == 0 || (devices == 1 && cluster.free_milli()[node.row()] > 0)) return true;
  std::int64_t free = cluster.idle_devices()[node.row()];
  for (const HeldPlace& place : state.yielding_on(node))
    free += state.demand(state.member(place.member).demand).devices.count;
  return free >= devices;
}

/// Those on nodes where a member of the job might find enough devices: elsewhere to lift them is of no use.
std::vector<MemberId> of_use(const State& state, JobId job, std::span<const MemberId> holds) {
  const std::int32_t devices = fewest_devices(state, job);
  std::vector<MemberId> useful;
  each_node(state, holds, [&](std::span<const MemberId> here) {
    if (might_have(state, state.member(here.front()).node, devices))
      useful.insert(useful.end(), here.begin(), here.end());
  });
  return useful;
}

/// Whether what is held for this job alone might make room for a member of it, beside all else that yields there.
bool has_own_room(const State& state, JobId owner) {
  const std::int32_t devices = fewest_devices(state, owner);
  bool has_room = false;
  for (const JobId hold : state.hold_book().of(owner))
    state.each_member(hold, [&](MemberId, const Member& m) {
      has_room = has_room || (m.is_placed() && might_have(state, m.node, devices));
    });
  return has_room;
}

/// A pod by itself takes the best of the first few nodes of which devices are held and that can take it, so that its
/// cost does not follow the size of the hold.
constexpr std::size_t kNodesAtOnce = 4;

PlacementOutcome place_single(const PlacementContext& context, JobId job, const std::vector<NodeId>& nodes) {
  Trial& trial = context.trial;
  const State& state = trial.state();
  const MemberId member = state.first_waiting_member(job);
  FitTable& table =
      context.fit_tables.get(state, state.member(member).demand, state.member(member).constraint, context.draws.next());
  const std::size_t before = trial.checkpoint();
  for (auto next = nodes.begin(); next != nodes.end();) {
    std::vector<NodeId> few;
    std::vector<MemberId> members;
    for (; next != nodes.end() && few.size() < kNodesAtOnce; ++next) {
      const std::vector<MemberId> here = members_with_devices(state, job, *next);
      if (here.empty()) continue;
      few.push_back(*next);
      members.insert(members.end(), here.begin(), here.end());
    }
    for (const NodeId n : few) block_free_devices(trial, n, members);
    LiftedHolds lifted(trial, members);
    NodeId best;
    std::uint64_t best_key = 0;
    for (const NodeId n : few)
      if (const std::uint64_t key = table.key(state, n); key > best_key) best_key = key, best = n;
    if (!best.is_none()) {
      trial.place(member, best, context.profile.device->choose(table.node_view(state), best));
      trial.unblock(before);
      lifted.put_back();
      return {.is_placed = true};
    }
    trial.rollback_to(before);
  }
  return {};
}

bool is_single_anywhere(const State& state, JobId job) {
  const Job& j = state.job(job);
  return j.members_present == 1 && j.within.is_none() && j.prefer.is_none() && j.spec.is_none() &&
         !state.queues().is_limited_by_key(j.queue);
}

PlacementOutcome place_on_held_devices(const PlacementContext& context, JobId job, const std::vector<MemberId>& holds) {
  Trial& trial = context.trial;
  if (!requests_devices(trial.state(), job)) return {};
  const std::vector<NodeId> nodes = nodes_with_devices(trial.state(), holds);
  if (nodes.empty()) return {};
  if (is_single_anywhere(trial.state(), job)) return place_single(context, job, nodes);
  const std::size_t before = trial.checkpoint();
  for (const NodeId n : nodes) block_free_devices(trial, n, holds);
  LiftedHolds lifted(trial, not_used_up(trial.state(), holds));
  PlacementOutcome outcome;
  {
    const FitsLimit limit = only_on(nodes);
    const FitTables::Limited scope(context.fit_tables, limit);
    outcome = place_within_limits(context, job);
  }
  if (outcome.is_placed) {
    trial.unblock(before);
    lifted.put_back();
  } else {
    trial.rollback_to(before);
  }
  return outcome;
}

const Hold& hold_at(const State& state, MemberId held) { return *state.hold_of(state.member(held).job); }

void append_if(std::vector<Allocation>& out, const Kept& kept, bool is_wanted) {
  if (is_wanted) out.insert(out.end(), kept.allocations.begin(), kept.allocations.end());
}

/// Calls `visit(QueueId)` for the queue and those above it.
template <class Visit>
void each_above(const State& state, QueueId queue, Visit&& visit) {
  for (; !queue.is_none() && queue.row() < state.queues().rows(); queue = state.queues().parent(queue)) visit(queue);
}

/// Whether anything is held for the queue, or for one above it.
bool is_held_for(const State& state, QueueId queue) {
  if (!state.hold_book().are_any_of_queues()) return false;
  bool is_any = false;
  each_above(state, queue, [&](QueueId q) { is_any = is_any || !state.hold_book().of(q).empty(); });
  return is_any;
}

/// When the last of those holds begins that the job may not use if it will have ended by then; 0 if there is none.
Millis last_begin_not_for(const State& state, JobId job, Millis late_end) {
  const auto& later = state.hold_book().later();
  for (auto it = later.lower_bound({late_end, JobId(0u)}); it != later.begin();)
    if (--it; !may_use(state, job, *state.hold_of(it->second), late_end)) return it->first;
  return Millis(0);
}

}  // namespace

std::vector<MemberId> usable_holds(const State& state, JobId job, Millis late_end) {
  const Holds& book = state.hold_book();
  std::vector<HeldPlace> places;
  const auto append = [&](JobId hold) {
    state.each_member(hold, [&](MemberId id, const Member& m) {
      if (m.is_placed()) places.push_back({m.node, id});
    });
  };
  std::ranges::for_each(book.of(job), append);
  if (book.are_any_of_queues())
    each_above(state, state.job(job).queue, [&](QueueId q) { std::ranges::for_each(book.of(q), append); });
  for (auto it = book.later().lower_bound({late_end, JobId(0u)}); it != book.later().end(); ++it) append(it->second);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<MemberId> usable;
  usable.reserve(places.size());
  for (const HeldPlace& place : places) usable.push_back(place.member);
  return usable;
}

std::vector<MemberId> usable_holds(const State& state, JobId job, Millis late_end, NodeId node) {
  std::vector<MemberId> usable;
  for (const HeldPlace& place : state.yielding_on(node))
    if (may_use(state, job, hold_at(state, place.member), late_end)) usable.push_back(place.member);
  return usable;
}

Millis late_end_of(const State& state, JobId job, Millis at) {
  const Job& j = state.job(job);
  if (j.is_started) return j.ends_by;
  return at == Millis::max() ? at : j.late_end_if_started(at);
}

std::vector<Allocation> kept_for(const State& state, const HoldUser& user, NodeId node) {
  std::vector<Allocation> allocations;
  for (const Kept& kept : kept_on(state, node))
    append_if(allocations, kept, may_use(state, user.job, hold_at(state, kept.member), user.late_end));
  return allocations;
}

std::vector<Allocation> kept_from(const State& state, const HoldUser& user, Millis beyond, NodeId node,
                                  std::span<const Trial::Step> without) {
  std::vector<MemberId> placed;
  each_placement(without, [&](const Trial::Placement& placement) { placed.push_back(placement.member); });
  std::vector<Allocation> allocations;
  for (const Kept& kept : kept_on(state, node, placed)) {
    const Hold& hold = hold_at(state, kept.member);
    append_if(allocations, kept, hold.until > beyond && !may_use(state, user.job, hold, user.late_end));
  }
  return allocations;
}

PlacementOutcome place_with_holds(const PlacementContext& context, JobId job, const std::vector<MemberId>& usable) {
  const std::vector<MemberId> holds = of_use(context.trial.state(), job, usable);
  if (const PlacementOutcome outcome = place_on_held_devices(context, job, holds); outcome.is_placed) return outcome;
  const std::size_t before = context.trial.checkpoint();
  LiftedHolds lifted(context.trial, not_used_up(context.trial.state(), holds));
  const PlacementOutcome outcome = place_within_limits(context, job);
  if (outcome.is_placed)
    lifted.put_back();
  else
    context.trial.rollback_to(before);
  return outcome;
}

std::optional<PendingQueue::Head> first_that_may_use_more(const PendingQueue& pending, const State& state,
                                                          const PendingQueue::Head& than, Millis now) {
  std::optional<PendingQueue::Head> first;
  const std::set<PendingQueue::Entry>& jobs = pending.class_at(than.job_class).jobs;
  const auto consider = [&](const PendingQueue::Head& head) {
    if (than.entry < head.entry && (!first || head.entry < first->entry)) first = head;
  };
  const auto& owners = state.hold_book().of_jobs();
  // Whichever is shorter, the way to the next owner in the class or the list of owners: both at once.
  auto behind = jobs.upper_bound(than.entry);
  for (auto it = owners.begin(); it != owners.end() && behind != jobs.end(); ++it, ++behind) {
    if (owners.contains(behind->job) && has_own_room(state, behind->job)) {
      first = pending.head_of(than.job_class, *behind);
      break;
    }
    const JobId owner = it->first;
    if (pending.contains(owner) && pending.class_id(owner) == than.job_class &&
        jobs.contains(pending.entry_of(owner)) && has_own_room(state, owner))
      consider(pending.head_of(owner));
  }
  const Millis latest = last_begin_not_for(state, than.entry.job, late_end_of(state, than.entry.job, now));
  if (latest == Millis(0)) return first;
  for (auto it = jobs.upper_bound(than.entry); it != jobs.end() && (!first || *it < first->entry); ++it)
    if (late_end_of(state, it->job, now) <= latest) return pending.head_of(than.job_class, *it);
  return first;
}

bool may_use_holds(const PendingQueue& pending, const State& state, ClassId id, Millis now) {
  const PendingQueue::Class& job_class = pending.class_at(id);
  if (is_held_for(state, job_class.key.queue)) return true;
  const auto& owners = state.hold_book().of_jobs();
  if (owners.size() < job_class.count()) {
    for (const auto& [owner, holds] : owners)
      if (pending.contains(owner) && pending.class_id(owner) == id) return true;
  } else {
    bool has_owner = false;
    job_class.each_job([&](const PendingQueue::Entry& entry) { has_owner = has_owner || owners.contains(entry.job); });
    if (has_owner) return true;
  }
  const Millis latest = state.hold_book().last_begin();
  bool is_any_short = false;
  if (latest > Millis(0))
    job_class.each_job([&](const PendingQueue::Entry& entry) {
      is_any_short = is_any_short || late_end_of(state, entry.job, now) <= latest;
    });
  return is_any_short;
}

bool may_use_more_than_its_like(const State& state, JobId job, Millis now) {
  const Holds& book = state.hold_book();
  return !book.of(job).empty() || (!book.later().empty() && late_end_of(state, job, now) <= book.last_begin());
}

}  // namespace ashlar
