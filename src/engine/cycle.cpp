#include "engine/cycle.h"

#include <algorithm>

#include "engine/reserve/earliest_start.h"

namespace ashlar {

const Cycle::ShadowTime& Cycle::shadow_time_for(const State& state, JobId job, std::int64_t devices) {
  for (const ShadowTime& r : shadow_times)
    if (r.job == job) return r;
  std::int64_t free = 0;
  for (const std::int64_t idle : state.cluster().group_idle_devices()) free += idle;
  ShadowTime r{job, Millis::max(), 0};
  const ExpectedEnds ends(state, plan.at);
  if (free >= devices) {  // enough devices, but fragmented
    r.shadow = ends.reaches(1) ? ends[0].at : Millis::max();
    r.extra = std::max<std::int64_t>(free - devices, 0);
  } else {
    const Timeline::Window w = Timeline::earliest(ends, free, devices);
    r.shadow = w.at;
    r.extra = w.extra;
  }
  shadow_times.push_back(r);
  return shadow_times.back();
}

void Cycle::account(const State& state, JobId started) {
  for (ShadowTime& r : shadow_times)
    if (state.job(started).late_end_if_started(plan.at) > r.shadow) r.extra -= state.job(started).devices_total;
}

}  // namespace ashlar
