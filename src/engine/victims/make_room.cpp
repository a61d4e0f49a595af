#include "engine/victims/make_room.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/place/placement.h"
#include "engine/quota.h"
#include "engine/reserve/backfill.h"
#include "engine/victims/candidates.h"
#include "engine/victims/lost_work.h"
#include "engine/victims/stop_for.h"
#include "engine/victims/victim.h"
#include "state/holds/kept.h"

namespace ashlar {
namespace {

/// What is found: those that are stopped, and the place for which they are.
struct Found {
  std::vector<Victim> victims;
  std::vector<Trial::Placement> places;
};

class VictimSearch {
 public:
  VictimSearch(EngineData& e, State& state, const Cycle& cycle, const PendingQueue::Head& head)
      : e_(e),
        state_(state),
        started_(cycle.started),
        job_(head.entry.job),
        now_(cycle.plan.at),
        ahead_(reservations_ahead(e, state, head, now_)) {}

  /// Nothing of the state has changed after it; `places` empty: no place.
  Found find() {
    using First = Candidates::First;
    if (!e_.profile->stops_by_lost_work()) return find(First::kLowestPriority);
    Found found = find(First::kLeastLostByDevice);
    if (found.victims.empty()) return found;
    Found other = find(First::kLeastLost);
    const LostWork lost(state_, now_);
    return !other.victims.empty() && lost.of(other.victims) < lost.of(found.victims) ? other : found;
  }
  /// When others may be stopped that are protected now.
  Millis more_at() const { return more_at_; }

 private:
  /// A queue that borrows little may give one job back: at most this many are each tried before all others.
  static constexpr std::size_t kLeftOutTried = 64;
  /// At most this many are each spared in a search of its own: on other devices the job may leave one where it is.
  static constexpr std::size_t kLookedAtOneByOne = 16;
  /// This many times as many are tried next where some are not enough: mostly few are.
  static constexpr std::size_t kGallop = 4;

  /// First among those on nodes that the job may use: others give back what their queue borrows in vain.
  Found find(Candidates::First first) {
    const Candidates all(state_, *e_.profile->order, job_, now_, first, started_);
    more_at_ = all.more_at();
    const Candidates on_its_nodes = all.on_its_nodes();
    Found found;
    if (on_its_nodes.size() < all.size()) found = find_among(on_its_nodes);
    return found.places.empty() ? find_among(all) : found;
  }
  Found find_among(const Candidates& candidates) {
    const Candidates::Order order = candidates.in_order();
    Found found = find_among(order.victims);
    for (std::size_t i = 0; i < order.left_out.size() && i < kLeftOutTried && found.places.empty(); ++i)
      found = find_among(candidates.in_order(order.left_out[i]).victims);
    return found;
  }
  Found find_among(const std::vector<Victim>& candidates) {
    const std::size_t enough = fewest(candidates);
    if (enough > candidates.size()) return {};
    if (e_.profile->stops_by_lost_work() && enough <= kLookedAtOneByOne)  // a limit may need one that comes late
      return without_the_needless({candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(enough)});
    std::vector<Victim> victims = those_in_the_way(std::span(candidates).first(enough));
    if (has_company(victims)) return without_the_needless(std::move(victims));
    Found found = with_those_that_may_stay(victims);
    const std::size_t left = found.victims.size();
    return left > 1 && left <= kLookedAtOneByOne ? without_the_needless(std::move(found.victims)) : found;
  }

  /// A member may be off already with its job.
  void evict(Trial& trial, const Victim& victim) const {
    if (victim.is_whole())
      trial.evict(victim.job);
    else if (state_.member(victim.member).is_placed())
      trial.evict(victim.member);
  }
  /// Takes them off in the trial and places the job. False: the trial is empty.
  bool place_without(Trial& trial, std::span<const Victim> victims) const {
    for (const Victim& victim : victims) evict(trial, victim);
    const bool is_placed = place(trial);
    if (!is_placed) trial.rollback_to(0);
    return is_placed;
  }
  /// Places the job in the trial, beside the reservations ahead of it, if need be with what they reserve blocked.
  /// False: the trial is as it was.
  bool place(Trial& trial) const {
    Rng draws(e_.draws.state());
    const bool is_admitted =
        !quota_refusal(state_, job_) && std::ranges::all_of(ahead_, [&](const Reservation* reservation) {
          return reservation->spares_quota_for(state_, job_);
        });
    if (!is_admitted) return false;
    const auto is_placed = [&] {
      return place_job({trial, e_.fit_tables, *e_.profile, draws, members_within_quota(state_, job_), now_}, job_)
          .is_placed;
    };
    const auto are_kept = [&] {
      return std::ranges::all_of(ahead_, [&](const Reservation* reservation) {
        return reservation->allows(state_, trial.steps(), Beside::kItsDevices);
      });
    };
    const std::size_t before = trial.checkpoint();
    if (is_placed() && are_kept()) return true;
    trial.rollback_to(before);
    if (ahead_.empty()) return false;
    for (const Reservation* reservation : ahead_) reservation->block(trial, job_, Beside::kItsDevices);
    const bool has_room = is_placed();
    trial.unblock();
    if (has_room && are_kept()) return true;
    trial.rollback_to(before);
    return false;
  }
  bool is_enough(std::span<const Victim> victims) const {
    Trial trial(state_);
    return place_without(trial, victims);
  }
  /// How many of them, from the first on, are enough; more than there are: all are not. They go off and come back in
  /// one trial, so that each is taken off a few times at most.
  std::size_t fewest(std::span<const Victim> candidates) const {
    Trial trial(state_);
    std::vector<std::size_t> checkpoints;  // before each that is off
    const auto are_enough = [&](std::size_t count) {
      if (count < checkpoints.size()) {
        trial.rollback_to(checkpoints[count]);
        checkpoints.resize(count);
      }
      for (std::size_t i = checkpoints.size(); i < count; ++i) {
        checkpoints.push_back(trial.checkpoint());
        evict(trial, candidates[i]);
      }
      const std::size_t before = trial.checkpoint();
      const bool is_placed = place(trial);
      trial.rollback_to(before);
      return is_placed;
    };
    std::size_t too_few = 0, enough = std::min<std::size_t>(1, candidates.size());
    while (enough > too_few && !are_enough(enough))
      too_few = std::exchange(enough, std::min(enough * kGallop, candidates.size()));
    if (enough == too_few) return candidates.size() + 1;
    while (enough - too_few > 1) {
      const std::size_t middle = too_few + (enough - too_few) / 2;
      (are_enough(middle) ? enough : too_few) = middle;
    }
    return enough;
  }
  std::vector<Trial::Placement> places_of_job(const Trial& trial) const {
    std::vector<Trial::Placement> places;
    each_placement(trial.steps(), [&](const Trial::Placement& placed) {
      if (state_.member(placed.member).job == job_) places.push_back(placed);
    });
    return places;
  }
  /// Those on the nodes where the job has its place without all of them, if they are enough.
  std::vector<Victim> those_in_the_way(std::span<const Victim> victims) const {
    std::vector<NodeId> nodes;
    {
      Trial trial(state_);
      if (!place_without(trial, victims)) return {victims.begin(), victims.end()};
      for (const Trial::Placement& placed : places_of_job(trial)) nodes.push_back(placed.node);
    }
    std::sort(nodes.begin(), nodes.end());
    const auto is_there = [&](const Victim& victim) {
      bool is_any = false;
      each_placed(state_, victim, [&](MemberId, const Member& m) {
        is_any = is_any || std::binary_search(nodes.begin(), nodes.end(), m.node);
      });
      return is_any;
    };
    std::vector<Victim> there;
    std::ranges::copy_if(victims, std::back_inserter(there), is_there);
    if (there.size() < victims.size() && !is_enough(there)) return {victims.begin(), victims.end()};
    return there;
  }
  bool has_company(std::span<const Victim> victims) const {
    const auto has_any = [&](JobId job) {
      bool is_any = false;
      state_.each_member(job, [&](MemberId, const Member& m) {
        is_any = is_any || state_.cluster().constraint(m.constraint).has_company();
      });
      return is_any;
    };
    return has_any(job_) || std::ranges::any_of(victims, has_any, &Victim::job);
  }
  /// Each is spared without which the job finds a place as well, perhaps on other devices, or by other pods' rules.
  Found without_the_needless(std::vector<Victim> victims) const {
    for (std::size_t i = victims.size(); i-- > 0;) {
      std::vector<Victim> fewer = victims;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (is_enough(fewer)) victims = std::move(fewer);
    }
    Trial trial(state_);
    if (!place_without(trial, victims)) return {};
    return {without_the_covered(victims), places_of_job(trial)};
  }
  /// Each stays that has room where it is, beside the job in its place.
  Found with_those_that_may_stay(const std::vector<Victim>& victims) const {
    Trial trial(state_);
    if (!place_without(trial, victims)) return {};
    Found found{{}, places_of_job(trial)};
    const std::vector<Trial::Step> steps = trial.steps();
    for (auto victim = victims.rbegin(); victim != victims.rend(); ++victim) {
      const std::size_t before = trial.checkpoint();
      const bool is_without_its_job = std::ranges::find(found.victims, Victim{victim->job}) != found.victims.end();
      if (!is_without_its_job && may_stay(trial, *victim, victims, steps)) continue;
      trial.rollback_to(before);
      found.victims.push_back(*victim);
    }
    std::reverse(found.victims.begin(), found.victims.end());
    found.victims = without_the_covered(found.victims);
    return found;
  }
  /// Puts it back as `steps` have taken it off, if there is room for it: of a job what is no victim by itself.
  bool may_stay(Trial& trial, const Victim& victim, std::span<const Victim> victims,
                std::span<const Trial::Step> steps) const {
    for (const Trial::Step& step : steps) {
      const auto* eviction = std::get_if<Trial::Eviction>(&step);
      if (eviction == nullptr || state_.member(eviction->member).job != victim.job) continue;
      const bool is_by_itself = std::ranges::find(victims, Victim{victim.job, eviction->member}) != victims.end();
      if (victim.is_whole() ? is_by_itself : eviction->member != victim.member) continue;
      if (!eviction->grants.is_none()) return false;  // it shares devices as only its node knows
      trial.place(eviction->member, eviction->node, eviction->devices);
      const Demand& demand = state_.demand(state_.member(eviction->member).demand);
      if (is_overcommitted(state_, eviction->node, demand, eviction->devices)) return false;
    }
    return are_limits_kept();
  }
  /// Of the job's queue, and of those above it.
  bool are_limits_kept() const {
    const QueueTree& queues = state_.queues();
    const QueueId queue = state_.job(job_).queue;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      if (queues.left(d, queue) < 0) return false;
    for (std::size_t key = 0; key < queues.keys().size(); ++key)
      if (queues.left_by_key(key, queue) < 0) return false;
    return true;
  }

  EngineData& e_;
  State& state_;
  const std::set<JobId>& started_;
  JobId job_;
  Millis now_;
  std::vector<const Reservation*> ahead_;
  Millis more_at_ = Millis::max();
};

}  // namespace

bool make_room(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head) {
  const JobId job = head.entry.job;
  if (!e.profile->stops_for_a_place() || state.job(job).waits_for_surplus() || state.job(job).stopping.stops_none)
    return false;
  VictimSearch search(e, state, cycle, head);
  const Found found = search.find();
  if (found.places.empty()) {
    e.more_victims_at = std::min(e.more_victims_at, search.more_at());
    cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, search.more_at());
    return false;
  }
  std::vector<Stop> stops;
  for (const Victim& victim : found.victims)
    stops.push_back({victim, stop_reason(state, *e.profile->order, job, victim.job, cycle.plan.at)});
  stop_for(e, state, cycle, head.entry, stops, found.places);
  cycle.plan.look_again_at = cycle.plan.at;  // what the victims leave beside it
  return true;
}

}  // namespace ashlar
