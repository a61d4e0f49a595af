#include "engine/published/cadence.h"

namespace ashlar {

void decide_at_cadence(EngineData& e, State&, Cycle& cycle) {
  const std::int64_t cadence = e.profile->cadence.value;
  const std::int64_t now = cycle.plan.at.value;
  cycle.may_start_jobs = cadence == 0 || now % cadence == 0;
  if (!cycle.may_start_jobs) cycle.plan.look_again_at = Millis((now / cadence + 1) * cadence);
}

}  // namespace ashlar
