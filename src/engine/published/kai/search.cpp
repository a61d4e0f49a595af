#include "engine/published/kai/search.h"

#include <algorithm>

#include "engine/place/placement.h"
#include "engine/published/kai/contenders.h"
#include "engine/quota.h"

namespace ashlar::kai {
namespace {

bool is_on(const Unit& unit, NodeId node) { return std::ranges::binary_search(unit.nodes, node); }

/// Whether one that left has any of its members again, and all of them where they were.
struct Return {
  bool is_placed = false, is_on_its_nodes = true, is_on_its_devices = true;
};

Return return_of(const State& state, const Unit& unit, std::span<const Trial::Step> left) {
  Return result;
  for (const Trial::Step& step : left) {
    const auto* eviction = std::get_if<Trial::Eviction>(&step);
    if (eviction == nullptr) continue;
    const Member& member = state.member(eviction->member);
    if (member.job != unit.victim.job) continue;
    if (!unit.victim.is_whole() && unit.victim.member != eviction->member) continue;
    const bool is_there = member.is_placed() && member.node == eviction->node;
    result.is_placed = result.is_placed || member.is_placed();
    result.is_on_its_nodes = result.is_on_its_nodes && is_there;
    result.is_on_its_devices = result.is_on_its_devices && is_there && member.devices == eviction->devices;
  }
  return result;
}

}  // namespace

Search::Search(EngineData& e, State& state, const Queues& queues, const Cycle& cycle, Action action, JobId job)
    : e_(e),
      state_(state),
      queues_(queues),
      started_(cycle.started),
      job_(job),
      now_(cycle.plan.at),
      stops_(state, queues, action, job),
      before_(queues.all_allocated()),
      smallest_(kUnlimited) {
  state.each_needed(job, [&](MemberId, const Member& m) {
    const std::int64_t devices = state.quota_of_demand(m.demand)[kGpu];
    needed_ += devices;
    smallest_ = std::min(smallest_, devices);
  });
}

std::optional<Search::Found> Search::run() {
  if (!stops_.are_allowed()) return std::nullopt;
  const std::vector<Unit> units = units_in_order();
  if (units.empty()) return std::nullopt;
  std::optional<Found> found = on_one_node(units);
  return found ? found : on_several_nodes(units);
}

std::vector<Unit> Search::units_of(JobId job) {
  const Job& running = state_.job(job);
  std::vector<Unit> units;
  Unit rest{{job}, running.queue, {}, {}};
  std::vector<MemberId> surplus = surplus_members(state_, job);
  for (const MemberId member : surplus) {
    const Member& m = state_.member(member);
    units.push_back({{job, member}, running.queue, state_.quota_of_demand(m.demand), {m.node}});
  }
  if (const Millis until = stops_.protected_until(running); until > now_) {
    more_at_ = std::min(more_at_, until);
    return units;
  }
  state_.each_member(job, [&](MemberId id, const Member& m) {
    if (!m.is_placed() || std::ranges::find(surplus, id) != surplus.end()) return;
    add_saturated(rest.amounts, state_.quota_of_demand(m.demand));
    rest.nodes.push_back(m.node);
  });
  std::ranges::sort(rest.nodes);
  rest.nodes.erase(std::unique(rest.nodes.begin(), rest.nodes.end()), rest.nodes.end());
  if (!rest.nodes.empty()) units.push_back(std::move(rest));
  return units;
}

std::vector<Unit> Search::units_in_order() {
  std::map<QueueId, std::vector<Unit>> of_queue;  // the next one last
  for (std::size_t row = 0; row < state_.running().rows(); ++row) {
    std::vector<JobId> jobs;
    for (const JobId job : state_.running().in(QueueId(row))) {
      const Job& running = state_.job(job);
      const bool came_back_now = running.evictions > 0 && running.started_at == now_;
      if (job != job_ && !started_.contains(job) && !came_back_now && stops_.may_stop(running)) jobs.push_back(job);
    }
    std::ranges::sort(jobs, [&](JobId a, JobId b) { return is_before(state_, b, a); });
    std::vector<Unit> units;
    for (const JobId job : jobs) std::ranges::move(units_of(job), std::back_inserter(units));
    std::ranges::reverse(units);
    if (!units.empty()) of_queue.emplace(QueueId(row), std::move(units));
  }
  std::map<QueueId, QuotaVector> taken;
  std::vector<Unit> order;
  while (!of_queue.empty()) {
    std::vector<Contender> next;
    for (const auto& [queue, units] : of_queue) {
      const Unit& unit = units.back();
      next.push_back({unit.victim.job, queue, {}, sum_of(taken[queue], unit.amounts)});
    }
    const QueueId queue = next[last_of(queues_, next)].queue;
    std::vector<Unit>& units = of_queue.at(queue);
    taken[queue] = sum_of(taken[queue], units.back().amounts);
    order.push_back(std::move(units.back()));
    units.pop_back();
    if (units.empty()) of_queue.erase(queue);
  }
  return order;
}

std::optional<Search::Found> Search::on_one_node(std::span<const Unit> units) {
  for (std::size_t last = 0; last < units.size(); ++last) {
    for (const NodeId node : units[last].nodes) {
      std::vector<Unit> there;
      std::ranges::copy_if(units.first(last + 1), std::back_inserter(there),
                           [&](const Unit& unit) { return is_on(unit, node); });
      if (auto found = try_without(there)) return found;
    }
  }
  return std::nullopt;
}

std::optional<Search::Found> Search::on_several_nodes(std::span<const Unit> units) {
  const Cluster& cluster = state_.cluster();
  std::vector<std::int64_t> room(cluster.rows());
  for (std::size_t row = 0; row < room.size(); ++row) room[row] = cluster.idle_devices()[row] * kWholeDevice;
  for (std::size_t count = 1; count <= units.size(); ++count) {
    state_.each_member(units[count - 1].victim.job, [&](MemberId id, const Member& m) {
      const Victim& victim = units[count - 1].victim;
      const bool is_of_unit = victim.is_whole() ? is_on(units[count - 1], m.node) : victim.member == id;
      if (m.is_placed() && is_of_unit) room[m.node.row()] += state_.quota_of_demand(m.demand)[kGpu];
    });
    std::vector<std::pair<std::int64_t, NodeId>> nodes;
    for (std::size_t row = 0; row < room.size(); ++row)
      if (cluster.is_live(NodeId(row)) && room[row] >= smallest_) nodes.emplace_back(room[row], NodeId(row));
    std::ranges::sort(nodes);
    std::int64_t sum = 0;
    std::size_t taken = 0;
    while (taken < nodes.size() && (sum < needed_ || taken == 0)) sum += nodes[taken++].first;
    if (sum < needed_) continue;
    for (std::size_t more = 1; taken <= nodes.size(); more *= 2) {
      std::set<NodeId> chosen;
      for (std::size_t i = 0; i < taken; ++i) chosen.insert(nodes[i].second);
      std::vector<Unit> there;
      std::ranges::copy_if(units.first(count), std::back_inserter(there), [&](const Unit& unit) {
        return std::ranges::any_of(unit.nodes, [&](NodeId node) { return chosen.contains(node); });
      });
      if (auto found = try_without(there)) return found;
      if (taken == nodes.size()) break;
      taken = std::min(taken + more, nodes.size());
    }
  }
  return std::nullopt;
}

bool Search::place(Trial& trial, JobId job) const {
  const QuotaVector step = quota_needed(state_, job);
  if (quota_refusal(state_, job) || beyond_deserved(state_, queues_, job, step)) return false;
  Rng draws(e_.draws.state());
  return place_job({trial, e_.fit_tables, *e_.profile, draws, state_.job(job).members_needed(), now_}, job).is_placed;
}

/// A job that leaves as a whole leaves with its members beyond the minimum, wherever they are.
std::vector<Unit> Search::with_their_surplus(std::vector<Unit> units) {
  std::vector<Unit> missing;
  for (const Unit& unit : units) {
    if (!unit.victim.is_whole()) continue;
    for (Unit& other : units_of(unit.victim.job)) {
      const auto is_it = [&](const Unit& one) { return one.victim == other.victim; };
      if (std::ranges::none_of(units, is_it)) missing.push_back(std::move(other));
    }
  }
  units.insert(units.begin(), missing.begin(), missing.end());
  return units;
}

std::optional<Search::Found> Search::try_without(std::vector<Unit> units) {
  if (units.empty() || ++tries_ > kTriesMax) return std::nullopt;
  units = with_their_surplus(std::move(units));
  std::set<JobId> staying;
  Found found;
  {
    Trial trial(state_);
    for (const Unit& unit : units) {
      if (!unit.victim.is_whole())
        trial.evict(unit.victim.member);
      else
        trial.evict(unit.victim.job);
    }
    const std::vector<Trial::Step> left = trial.steps();
    Line line(state_, queues_);
    line.add(job_);
    std::set<JobId> jobs;
    for (const Unit& unit : units)
      if (jobs.insert(unit.victim.job).second) line.add(unit.victim.job);
    while (!line.is_empty()) {
      const JobId next = line.take();
      if (!place(trial, next) && next == job_) return std::nullopt;
    }
    std::vector<Unit> lost;
    for (const Unit& unit : units) {
      const Return back = return_of(state_, unit, left);
      if (!back.is_placed) {
        lost.push_back(unit);
        found.lost.push_back(unit.victim);
      } else if (!back.is_on_its_devices) {
        found.moved.push_back(unit.victim);
        if (back.is_on_its_nodes) staying.insert(unit.victim.job);
      }
    }
    if (!stops_.allow(lost, lost.empty(), before_)) return std::nullopt;
    each_placement(trial.steps(), [&](const Trial::Placement& placed) {
      if (state_.member(placed.member).job == job_) found.places.push_back(placed);
    });
  }
  if (!staying.empty())
    if (auto without_moving = try_without_moving(units, staying)) return without_moving;
  found.lost = without_the_covered(found.lost);
  found.moved = without_the_covered(found.moved);
  return found;
}

std::optional<Search::Found> Search::try_without_moving(const std::vector<Unit>& units,
                                                        const std::set<JobId>& staying) {
  std::vector<Unit> others;
  std::ranges::copy_if(units, std::back_inserter(others),
                       [&](const Unit& unit) { return !staying.contains(unit.victim.job); });
  return try_without(others);
}

}  // namespace ashlar::kai
