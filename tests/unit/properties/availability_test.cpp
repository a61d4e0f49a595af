// The availability profiles of random lives: what is kept from one look to the next equals a recount, node by node and
// end by end; and no job can be placed before the time that they give.
#include "engine/reserve/availability.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/place/nomination.h"
#include "played_life.h"
#include "state/state_fields.h"

namespace ashlar {
namespace {

constexpr OutsideOptions kEverything{.has_holds = true,
                                     .has_company = true,
                                     .has_health = true,
                                     .has_layouts = true,
                                     .has_gangs = true,
                                     .has_grants = true};

/// The devices of that member that count for the kind when it has gone.
std::int32_t freed_by(const State& state, const Member& m, const SlotKind& kind) {
  const DeviceLayout* mixed = kind.classes.empty() ? nullptr : state.cluster().mixed_layout(m.node);
  if (mixed == nullptr) return std::max(state.demand(m.demand).devices.count, m.devices.count());
  std::int32_t freed = 0;
  m.devices.each([&](int i) {
    const auto device = static_cast<std::size_t>(i);
    if (device < mixed->devices.size()) freed += std::ranges::count(kind.classes, mixed->devices[device].device_class);
  });
  return freed;
}

/// Idle devices of the node for the kind; none if nothing is placed there.
std::optional<std::int32_t> idle_for(const Cluster& cluster, NodeId n, const SlotKind& kind) {
  if (!cluster.is_live(n) || !cluster.facts(n).is_ready) return std::nullopt;
  if (kind.classes.empty()) return cluster.idle_devices()[n.row()];
  const DeviceLayout* mixed = cluster.mixed_layout(n);
  if (mixed == nullptr) {
    if (std::ranges::count(kind.classes, cluster.facts(n).devices.device_class) == 0) return std::nullopt;
    return cluster.idle_devices()[n.row()];
  }
  std::int32_t idle = 0;
  for (std::size_t i = 0; i < mixed->devices.size(); ++i)
    if (std::ranges::count(kind.classes, mixed->devices[i].device_class) > 0 &&
        cluster.device_free_milli(n)[i] == kWholeDevice)
      ++idle;
  return idle;
}

/// By a walk over all members at each time at which a job ends.
Millis naive_earliest(const State& state, const EndsAt& ends, const SlotRequest& request) {
  if (request.count <= 0) return Millis(0);
  std::set<Millis> times{Millis(0)};
  for (std::size_t row = 0; row < state.job_rows(); ++row)
    if (const Job& j = state.job(JobId(row)); j.is_live && j.is_started) times.insert(ends.of(j));
  times.erase(Millis::max());
  for (const Millis at : times) {
    std::map<NodeId, std::int32_t> freed;
    for (std::size_t row = 0; row < state.member_rows(); ++row) {
      const Member& m = state.member(MemberId(row));
      if (!state.is_live(MemberId(row)) || !m.is_placed()) continue;
      const Job& j = state.job(m.job);
      if (j.is_started && m.job != request.lasting && ends.of(j) <= at)
        freed[m.node] += freed_by(state, m, request.kind);
    }
    std::map<DomainId, std::int64_t> open;
    for (std::size_t row = 0; row < state.cluster().rows(); ++row) {
      const NodeId n(row);
      const auto idle = idle_for(state.cluster(), n, request.kind);
      if (!idle) continue;
      const DomainId domain =
          request.within.is_none() ? DomainId(0u) : state.cluster().topology().domain_of(request.within, n);
      if (domain.is_none() || (!request.joined.is_none() && domain != request.joined)) continue;
      const std::int32_t there = std::clamp(*idle + freed[n], 0, state.cluster().devices()[row]);
      if ((open[domain] += there / request.kind.devices) >= request.count) return at;
    }
  }
  return Millis::max();
}

std::vector<SlotRequest> some_requests(Rng& rng) {
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(rng.below(bound)); };
  const std::vector<DeviceClassId> classes[] = {
      {}, {}, {DeviceClassId(0u)}, {DeviceClassId(1u)}, {DeviceClassId(0u), DeviceClassId(1u)}};
  std::vector<SlotRequest> requests;
  for (std::uint32_t i = below(4); i > 0; --i) {
    SlotRequest request{.kind = {.devices = 1 << below(4), .classes = classes[below(5)]}, .count = 1 + below(12)};
    if (below(3) > 0) {
      request.within = LevelId(below(3));
      if (below(3) == 0) request.joined = DomainId(below(4));
    }
    if (below(3) == 0) request.lasting = JobId(below(Outside::kJobs));
    requests.push_back(request);
  }
  return requests;
}

RC_GTEST_PROP(AvailabilityProfiles, EqualARecount, ()) {
  Rng rng(static_cast<std::uint64_t>(*rc::gen::arbitrary<std::uint32_t>()));
  for (const EndsBy by : {EndsBy::kLate, EndsBy::kMedian}) {
    Availability kept(by);
    play(kEverything, *some_moves(), [&](const State& state, const Engine&, Millis now) {
      kept.bring_up(state, now);
      Availability anew(by);
      anew.bring_up(state, now);
      for (const SlotRequest& request : some_requests(rng)) {
        const Millis expected = naive_earliest(state, {by, now}, request);
        RC_ASSERT(anew.earliest_fit(state, request) == expected);
        RC_ASSERT(kept.earliest_fit(state, request) == expected);
      }
    });
  }
}

/// Evicts what ends by then, as expected, and places the job.
class FullSearch {
 public:
  FullSearch(const State& state, const Engine& engine, Millis now)
      : state_(state), profile_(engine.profile()), tables_(profile_) {
    StateFields::forget_caches(state_);
    for (std::size_t row = 0; row < state_.job_rows(); ++row) {
      const Job& j = state_.job(JobId(row));
      if (const EndsAt ends{EndsBy::kLate, now}; j.is_live && j.is_started && ends.of(j) != Millis::max())
        ends_[ends.of(j)].push_back(JobId(row));
    }
  }

  /// max() if no known end lets it start.
  Millis earliest(JobId job, Millis now) {
    Trial trial(state_);
    if (fits(trial, job, now)) return Millis(0);
    for (const auto& [at, ended] : ends_) {
      for (const JobId other : ended)
        if (other != job) trial.evict(other);
      const std::size_t before = trial.checkpoint();
      if (fits(trial, job, at)) return at;
      trial.rollback_to(before);
    }
    return Millis::max();
  }

 private:
  bool fits(Trial& trial, JobId job, Millis at) {
    const auto place = [&] {
      Rng draws(1);
      return place_job({trial, tables_, profile_, draws, state_.job(job).members_needed(), at}, job).is_placed;
    };
    if (place()) return true;
    const std::vector<MemberId> outranked = outranked_nominations(state_, job);
    for (const MemberId m : outranked) trial.evict(m);
    return !outranked.empty() && place();
  }

  State state_;
  Profile profile_;
  FitTables tables_;
  std::map<Millis, std::vector<JobId>> ends_;
};

RC_GTEST_PROP(AvailabilityProfiles, NeverPromiseLaterThanTheFullSearch, ()) {
  Availability kept;
  play(kEverything, *some_moves(), [&](const State& state, const Engine& engine, Millis now) {
    kept.bring_up(state, now);
    std::optional<FullSearch> search;
    for (std::size_t row = 0; row < state.job_rows(); ++row) {
      const JobId job(row);
      if (!state.is_live(job) || !state.job(job).is_in_backlog) continue;
      const NeededSlots needed = needed_slots(state, job);
      const Millis bound = std::max(kept.earliest_fit(state, needed.largest), kept.earliest_fit(state, needed.all));
      if (bound == Millis(0)) continue;
      if (!search) search.emplace(state, engine, now);
      RC_ASSERT(bound <= search->earliest(job, now));
    }
  });
}

}  // namespace
}  // namespace ashlar
