#include "sim/world/timed_run.h"

#include <algorithm>

namespace ashlar::sim {
namespace {

constexpr std::uint64_t kStepsPerReport = 4096;

Millis next_beat(Millis at, Millis cadence) {
  if (cadence.value <= 0) return at;
  return Millis((at.value + cadence.value - 1) / cadence.value * cadence.value);
}

}  // namespace

void run_to_end(const TimedRun& run) {
  Millis look_again = Millis::max();
  for (std::uint64_t steps = 0;; ++steps) {
    const Millis next = std::min(run.world.next_event(), look_again);
    if (next == Millis::max() || (run.horizon && next > *run.horizon)) return;
    run.clock.advance_to(std::max(next_beat(next, run.cadence), run.clock.now()));
    const Plan& plan = run.driver.step();
    look_again = plan.look_again_at;
    if (run.stepped) run.stepped(plan);
    if (run.progress && steps % kStepsPerReport == 0) run.progress(run.world.arrived());
  }
}

}  // namespace ashlar::sim
