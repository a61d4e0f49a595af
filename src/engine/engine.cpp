#include "engine/engine.h"

#include <utility>

#include "base/check.h"
#include "engine/cycle.h"
#include "engine/explain/verdicts.h"
#include "engine/place/placement.h"

namespace ashlar {
namespace {

#ifndef NDEBUG
/// Clusters of at most this many nodes and members are recounted after each stage that changed them, in builds with
/// checks.
constexpr std::size_t kCheckedRows = 64;

bool is_sound(const State& state, std::uint64_t& digest) {
  const bool is_checked = state.cluster().rows() + state.member_rows() <= kCheckedRows;
  if (!is_checked || std::exchange(digest, state.digest()) == state.digest()) return true;
  return state.is_consistent();
}
#endif

}  // namespace

Engine::Engine(Profile profile, EngineOptions options)
    : data_(std::move(profile), options), stages_(stages_of(*data_.profile)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine::Engine(const Engine&) = default;
Engine::~Engine() = default;

Plan Engine::decide(State& state, Millis now) {
  Cycle cycle(data_.pending);
  cycle.plan.based_on = state.revision();
  cycle.plan.at = now;
#ifndef NDEBUG
  std::uint64_t digest = 0;  // the first stage is checked, and with it what the events have made of the state
#endif
  for (const Stage& stage : stages_) {
    if (stage.starts_jobs && !cycle.may_start_jobs) continue;
    stage.run(data_, state, cycle);
    ASHLAR_DCHECK(is_sound(state, digest));
  }
  return std::move(cycle.plan);
}

Verdict Engine::verdict_of(JobId job) const { return ashlar::verdict_of(data_, job); }

Verdict Engine::verdict_with_numbers_of_now(State& state, JobId job) {
  return ashlar::verdict_with_numbers_of_now(data_, state, job);
}

bool Engine::try_place(Trial& trial, JobId job) {
  Rng draws(data_.draws.state());
  return place_job({trial, data_.fit_tables, *data_.profile, draws, UINT32_MAX, trial.state().now()}, job).is_placed;
}

}  // namespace ashlar
