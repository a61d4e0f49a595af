// tiresias: see order.h.
#include <algorithm>

#include "policy/order/order.h"

namespace ashlar {
namespace {

enum : std::int64_t { kLow = 0, kHigh = 1 };

/// Earlier submission first, running before waiting at the same millisecond.
OrderKey key_of(const Job& j, Millis ran, bool is_running) {
  const std::int64_t attained = ran.value * j.devices_total;
  return {attained <= kAttainedLowMax ? kLow : kHigh, j.submitted.value * 2 + (is_running ? 0 : 1)};
}

}  // namespace

OrderKey tiresias_waiting(const State& state, JobId job) { return key_of(state.job(job), state.job(job).served, false); }

OrderKey tiresias_running(const State& state, JobId job, Millis now) {
  const Job& j = state.job(job);
  return key_of(j, j.served + (now - j.started_at), true);
}

Millis tiresias_changes_at(const State& state, JobId job, Millis now) {
  const Job& j = state.job(job);
  const Millis crossing = j.started_at - j.served + Millis(kAttainedLowMax / std::max<std::int64_t>(j.devices_total, 1) + 1);
  return j.devices_total > 0 && crossing > now ? crossing : Millis::max();
}

}  // namespace ashlar
