// The smallest changes that would let a waiting job start. Each is applied to a copy of the state and the job is placed
// there by the profile's own rules, all its groups together, within its quota and beside the reservations of jobs ahead
// of it; a change that does not help is not offered. Tries are counted, and the search ends when they are used up.
// Cost: one copy of the state, then at most kRemedyTriesMax placements.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/engine.h"
#include "engine/explain/explain.h"
#include "engine/explain/rehearsal.h"
#include "engine/explain/room_remedies.h"
#include "engine/quota.h"
#include "engine/reserve/backfill.h"

namespace ashlar {
namespace {

constexpr std::uint32_t kGroupsTriedMax = 8;  ///< groups that are smaller or without their domain, one at a time

/// The largest number in 1..high for which it works, by binary search; 0 if none was found. It may miss some if more
/// does not mean harder.
template <class Works>
std::int64_t largest(std::int64_t high, Works&& works) {
  std::int64_t found = 0, low = 1;
  while (low <= high) {
    const std::int64_t middle = high - (high - low) / 2;
    if (works(middle)) {
      found = middle;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return found;
}

struct InTheWay {
  std::vector<Remedy::Limit> limits;
  bool is_kept = false;  ///< too much of what the cluster has is kept for others: no limit that anybody could raise
};

/// Every limit from the queue upwards that the job would exceed wherever it is placed, and by how much.
InTheWay limits_in_the_way(const State& state, JobId job) {
  const QueueTree& queues = state.queues();
  const QuotaVector asked = quota_needed(state, job);
  const std::vector<std::int64_t> asked_by_key = quota_needed_by_key(state, job);
  InTheWay found;
  std::vector<std::int64_t> own(kQuotaDimensions + asked_by_key.size());  // what the queues so far keep for themselves
  for (QueueId q = state.job(job).queue; !q.is_none() && q.row() < queues.rows(); q = queues.parent(q)) {
    // Of the root what the cluster has is no limit that is stated.
    const auto add = [&](std::size_t counter, const QuotaKey& of, std::int64_t amount, std::int64_t limit,
                         std::int64_t counted, std::int64_t stated) {
      if (amount == 0) return;
      const std::int64_t used = queues.used(of, q), most = queues.parent(q).is_none() ? stated : limit;
      const std::int64_t counts = std::max<std::int64_t>(amount - own[counter], 0);
      std::int64_t lacking = most == kUnlimited ? 0 : amount - (most - used);
      if (limit != kUnlimited && counted > used && counts > limit - counted) {
        if (most == limit)
          lacking = std::max(lacking, counts - (limit - counted));
        else
          found.is_kept = true;
      }
      if (lacking > 0) found.limits.push_back({q, of, lacking, most < stated});
      own[counter] += queues.idle(of, q);
    };
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      add(d, quota_key(static_cast<std::int64_t>(d)), asked[d], queues.quota(q)[d], queues.counted(d, q),
          queues.stated_quota(q)[d]);
    for (std::size_t k = 0; k < asked_by_key.size(); ++k)
      add(kQuotaDimensions + k, queues.keys()[k], asked_by_key[k], queues.limit(k, q), queues.counted_by_key(k, q),
          queues.stated_limit(k, q));
  }
  return found;
}

/// Limits by device class: as much more as the job lacks where it fits best. Of a single one no more than it needs for
/// what has no place on nodes of other classes, if its members are alike.
void add_class_quota(Rehearsal& r, std::vector<Remedy>& out) {
  std::vector<Remedy::Limit> limits = r.class_limits_in_the_way();
  if (limits.empty() || !r.starts_with(limits)) return;
  const std::vector<MemberSpec> members = r.needed_members();
  const auto amount = [&](const MemberSpec& m) { return amount_of(r.state().demand(m.demand), limits[0].of); };
  const std::int64_t each = amount(members.front());
  const bool are_alike = std::all_of(members.begin(), members.end(), [&](const auto& m) { return amount(m) == each; });
  if (limits.size() == 1 && are_alike && each > 0) {
    const std::int64_t lacking = limits[0].lacking;
    const std::int64_t spared = largest((lacking - 1) / each, [&](std::int64_t count) {
      Remedy::Limit fewer = limits[0];
      fewer.lacking = lacking - count * each;
      return r.starts_with({{fewer}});
    });
    limits[0].lacking -= spared * each;
  }
  out.push_back({.kind = Remedy::Kind::kMoreQuota, .limits = std::move(limits)});
}

void add_topology_remedies(Rehearsal& r, std::vector<Remedy>& out) {
  const LevelId within = r.original().within;
  if (within.is_none()) return;
  const std::uint32_t nested = r.state().cluster().topology().nested_count();
  for (std::uint32_t l = std::min(within.value, nested); l-- > 0;) {
    if (!r.starts({.within = LevelId(l)})) continue;
    out.push_back({.kind = Remedy::Kind::kWidenWithin, .amount = r.needed(), .level = LevelId(l)});
    break;
  }
  if (r.starts({.within = LevelId::none()})) out.push_back({.kind = Remedy::Kind::kDropWithin, .amount = r.needed()});
}

/// The first group, or all of them, that would have to do without a domain of its own.
void add_group_remedies(Rehearsal& r, std::vector<Remedy>& out) {
  if (r.original().spec.is_none()) return;
  const std::vector<GangGroup> groups = r.state().gang_spec(r.original().spec).groups;
  std::uint32_t with_domain = 0;
  for (std::uint32_t g = 0; g < groups.size() && with_domain < kGroupsTriedMax; ++g) {
    if (groups[g].within.is_none()) continue;
    ++with_domain;
    if (!r.starts({.free_group = g})) continue;
    out.push_back({.kind = Remedy::Kind::kDropGroupWithin, .amount = g + 1, .level = groups[g].within});
    return;
  }
  if (with_domain > 1 && r.starts({.free_group = ChangedJob::kEachGroup}))
    out.push_back({.kind = Remedy::Kind::kDropGroupWithin});
}

/// The first group of the gang that would let it start with fewer members, but not with none, and with how many.
void add_smaller_group(Rehearsal& r, std::vector<Remedy>& out) {
  std::map<std::uint32_t, std::int64_t> needed;
  for (const MemberSpec& m : r.needed_members()) ++needed[m.group];
  std::uint32_t tried = 0;
  for (const auto& [group, count] : needed) {
    if (count == 1) continue;
    if (tried++ == kGroupsTriedMax) return;
    const auto starts = [&, g = group](std::int64_t m) {
      return r.starts({.members_max = static_cast<std::uint32_t>(m), .small_group = g});
    };
    if (!starts(1)) continue;
    const std::int64_t left = std::max<std::int64_t>(largest(count - 1, starts), 1);
    const auto placed = static_cast<std::int64_t>(r.placed());
    out.push_back({.kind = Remedy::Kind::kFewerMembers,
                   .amount = placed + std::int64_t{r.needed()} - count + left,
                   .level = r.original().within,
                   .of_groups = {{.group = group, .amount = static_cast<std::int64_t>(r.placed_of(group)) + left}}});
    return;
  }
}

void add_fewer_members(Rehearsal& r, std::vector<Remedy>& out) {
  if (!r.original().spec.is_none()) return add_smaller_group(r, out);
  const std::int64_t members = largest(std::int64_t{r.needed()} - 1, [&](std::int64_t m) {
    return r.starts({.members_max = static_cast<std::uint32_t>(m)});
  });
  if (members > 0)
    out.push_back({.kind = Remedy::Kind::kFewerMembers,
                   .amount = members + static_cast<std::int64_t>(r.placed()),
                   .level = r.original().within});
}

void add_fewer_devices(Rehearsal& r, std::vector<Remedy>& out) {
  std::int32_t most = 0;
  for (const MemberSpec& m : r.needed_members())
    if (const DeviceRequest& request = r.state().demand(m.demand).devices; request.is_whole())
      most = std::max(most, request.count);
  const std::int64_t devices = largest(
      std::int64_t{most} - 1, [&](std::int64_t c) { return r.starts({.devices_max = static_cast<std::int32_t>(c)}); });
  if (devices > 0)
    out.push_back({.kind = Remedy::Kind::kFewerDevices, .amount = devices, .level = r.original().within});
}

/// Whether it waits for capacity or quota, with no job ahead of it.
bool is_its_turn(const Engine& engine, JobId job) {
  const PendingQueue& pending = engine.pending();
  if (!pending.contains(job)) return false;
  const WakeOn wake_on = engine.verdict_of(job).wake_on;
  if (wake_on != WakeOn::kCapacity && wake_on != WakeOn::kQuota) return false;
  if (!backfill_rule(engine.profile()).is_strict) return true;
  const PendingQueue::Head* blocked = pending.first_blocked(pending.class_at(pending.class_id(job)).key.queue);
  return blocked == nullptr || !(blocked->entry < pending.entry_of(job));
}

std::vector<Remedy> search(Rehearsal& rehearsal, const State& state, const Engine& engine, JobId job,
                           const RemedyOptions& options) {
  std::vector<Remedy> out;
  if (rehearsal.starts({})) return out;  // something has helped it already: it only has not been looked at since
  add_topology_remedies(rehearsal, out);
  add_group_remedies(rehearsal, out);
  add_fewer_members(rehearsal, out);
  add_fewer_devices(rehearsal, out);
  InTheWay in_the_way = limits_in_the_way(state, job);
  if (!in_the_way.limits.empty()) {
    if (!in_the_way.is_kept && rehearsal.starts_without_limits())
      out.push_back({.kind = Remedy::Kind::kMoreQuota, .limits = std::move(in_the_way.limits)});
    return out;
  }
  add_class_quota(rehearsal, out);
  add_free_devices(rehearsal, engine.profile(), out);
  add_more_nodes(rehearsal, engine.profile(), options.node_names, out);
  return out;
}

}  // namespace

std::vector<Remedy> find_remedies(const State& state, const Engine& engine, JobId job, const RemedyOptions& options) {
  if (options.tries != nullptr) *options.tries = 0;
  if (!is_its_turn(engine, job) || state.first_waiting_member(job).is_none()) return {};
  const Job& j = state.job(job);
  if (j.is_refused || !state.queues().held_above(j.queue).is_none()) return {};  // no change of it releases its queue
  Rehearsal rehearsal(state, engine, job, options.counts_devices);
  std::vector<Remedy> found = search(rehearsal, state, engine, job, options);
  if (options.tries != nullptr) *options.tries = rehearsal.tries();
  return found;
}

}  // namespace ashlar
