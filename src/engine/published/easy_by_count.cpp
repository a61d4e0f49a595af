#include "engine/published/easy_by_count.h"

#include <algorithm>

#include "engine/explain/verdicts.h"
#include "engine/reserve/backfill.h"

namespace ashlar {

bool may_backfill_by_count(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head) {
  const std::int64_t devices = e.pending.class_at(head.job_class).devices;
  const Millis end = state.job(head.entry.job).late_end_if_started(cycle.plan.at);
  for (const QueueId queue : e.pending.blocked_queues()) {
    const std::set<PendingQueue::Head>& heads = e.pending.blocked_heads(queue);
    // The published rule considers devices only: a job that waits for quota has no reservation.
    const auto first = std::find_if(heads.begin(), heads.end(), [&](const PendingQueue::Head& h) {
      return e.pending.class_at(h.job_class).verdict.wake_on == WakeOn::kCapacity;
    });
    if (first == heads.end() || !e.pending.is_before(*first, head)) continue;
    const PendingQueue::Head& blocked = *first;
    const Cycle::ShadowTime& r =
        cycle.shadow_time_for(state, blocked.entry.job, e.pending.class_at(blocked.job_class).devices);
    if (r.shadow == Millis::max() || end <= r.shadow || devices <= r.extra) continue;
    cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, r.shadow);
    report(e, cycle, head.entry.job, held_until(r.shadow, cycle.plan.at));
    return false;
  }
  return true;
}

}  // namespace ashlar
