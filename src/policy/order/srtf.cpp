// srtf: see order.h.
#include <algorithm>

#include "policy/order/order.h"

namespace ashlar {
namespace {

enum : std::int64_t { kWaitingFirst = 0, kRunningSecond = 1 };

}  // namespace

OrderKey srtf_waiting(const State& state, JobId job) { return {state.job(job).remaining.value, kWaitingFirst}; }

OrderKey srtf_running(const State& state, JobId job, Millis now) {
  const Job& j = state.job(job);
  if (j.remaining == Millis::max()) return {j.remaining.value, kRunningSecond};
  return {std::max<std::int64_t>((j.remaining - (now - j.started_at)).value, 0), kRunningSecond};
}

/// Remaining time falls all the while, so a running job may pass a waiting one at any moment.
Millis srtf_changes_at(const State& state, JobId job, Millis now) {
  return state.job(job).remaining == Millis::max() ? Millis::max() : now + Millis(1);
}

}  // namespace ashlar
