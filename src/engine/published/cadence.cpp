#include "engine/published/beat.h"

namespace ashlar {

void keep_to_the_beat(EngineData& e, State&, Cycle& cycle) {
  const std::int64_t beat = e.profile->cadence.value;
  const std::int64_t now = cycle.plan.at.value;
  cycle.may_start_jobs = beat == 0 || now % beat == 0;
  if (!cycle.may_start_jobs) cycle.plan.look_again_at = Millis((now / beat + 1) * beat);
}

}  // namespace ashlar
