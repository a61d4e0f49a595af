#include "oracle.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/quota.h"

namespace ashlar::bench {
namespace {

/// Decisions of one future. A head that has not started by then counts as never started, in both futures.
constexpr int kDecisionsMax = 20'000;

/// Jobs whose late end comes first, and its time; none if nothing ends.
struct NextEnds {
  Millis at = Millis::max();
  std::vector<JobId> jobs;
};
NextEnds next_ends(const State& state, Millis now) {
  NextEnds next;
  for (const Timeline::End& end : state.timeline().ends()) {
    if (end.at == Millis::max()) break;
    const Millis at = state.job(end.job).late_end(now);
    if (at > next.at) {
      if (end.at > now) break;  // those behind end at their own times
      continue;
    }
    if (at < next.at) next = {at, {}};
    next.jobs.push_back(end.job);
  }
  return next;
}

void start_by_hand(State& state, Millis now, const Places* first) {
  if (first == nullptr) return;
  for (const Bound& bound : *first) apply(state, Event{now, bound});
}

}  // namespace

std::optional<Places> places_now(State& state, Engine& engine, JobId job, std::span<const NodeId> off) {
  Trial trial(state);
  const Cluster& cluster = state.cluster();
  for (const NodeId node : off) {
    Demand all;  // pod slots are enough to keep every pod off
    all.amounts = {{resource::kPods, std::max<std::int64_t>(cluster.free(resource::kPods)[node.row()], 0)}};
    if (all.amounts.front().amount > 0) trial.block(node, std::move(all), {});
  }
  const bool is_placed = engine.try_place(trial, job);
  Places places;
  each_placement(trial.steps(), [&](const Trial::Placement& step) {
    places.push_back({step.member, step.node, step.devices});
  });
  trial.unblock();
  return is_placed ? std::optional(places) : std::nullopt;
}

std::vector<Start> starts_by_the_engine(const Moment& moment, std::span<const JobId> heads, const Places* first) {
  State state = moment.state;
  Engine engine = moment.engine;
  engine.options().has_verdicts = false;
  std::vector<Start> starts;
  for (const JobId head : heads) starts.push_back({head, Millis::max(), {}});
  Millis now = moment.now;
  start_by_hand(state, now, first);
  std::size_t open = starts.size();
  for (int decisions = 0; open > 0 && decisions < kDecisionsMax; ++decisions) {
    const Plan plan = engine.decide(state, now);
    for (const Action& action : plan.actions)
      if (const auto* bind = std::get_if<Bind>(&action)) {
        apply(state, Event{now, Bound{bind->member, bind->node, bind->devices}});
        const auto it = std::find_if(starts.begin(), starts.end(), [&](const Start& s) { return s.job == bind->job; });
        if (it == starts.end()) continue;
        if (it->at == Millis::max()) --open;
        it->at = now;
        it->nodes.push_back(bind->node);
      }
    const NextEnds next = next_ends(state, now);
    const Millis at = std::min(next.at, std::max(plan.look_again_at, now));
    if (at == Millis::max()) break;
    now = at;
    if (next.at == at)
      for (const JobId job : next.jobs) apply(state, Event{at, Ended{job}});
    else
      apply(state, Event{at, Tick{}});
  }
  return starts;
}

Start start_alone(const Moment& moment, JobId head, const Places* first) {
  State state = moment.state;
  Engine engine = moment.engine;
  Millis now = moment.now;
  start_by_hand(state, now, first);
  for (int ends = 0; ends < kDecisionsMax; ++ends) {
    if (!quota_refusal(state, head))
      if (const auto places = places_now(state, engine, head)) {
        Start start{head, now, {}};
        for (const Bound& bound : *places) start.nodes.push_back(bound.node);
        return start;
      }
    const NextEnds next = next_ends(state, now);
    if (next.at == Millis::max()) break;
    now = next.at;
    for (const JobId job : next.jobs) apply(state, Event{now, Ended{job}});
  }
  return {head, Millis::max(), {}};
}

}  // namespace ashlar::bench
