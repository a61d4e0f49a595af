// tiresias: see order.h.
#include <algorithm>

#include "policy/order/order.h"

namespace ashlar {
namespace {

enum : std::int64_t { kLow = 0, kHigh = 1 };

/// The longest run whose attained service is little.
std::int64_t low_run_max(const Job& job) { return kAttainedLowMax / std::max<std::int64_t>(job.devices_total, 1); }

/// Earlier submission first, running before waiting at the same millisecond.
OrderKey key_of(const Job& job, Millis ran, bool is_running) {
  const bool is_low = job.devices_total == 0 || ran.value <= low_run_max(job);  // device-time itself may have no number
  return {is_low ? kLow : kHigh, job.submitted.value * 2 + (is_running ? 0 : 1)};
}

}  // namespace

OrderKey tiresias_waiting(const Job& job) { return key_of(job, job.served, false); }

OrderKey tiresias_running(const Job& job, Millis now) { return key_of(job, job.served + (now - job.started_at), true); }

Millis tiresias_changes_at(const Job& job, Millis now) {
  const Millis crossing = job.started_at - job.served + Millis(low_run_max(job) + 1);
  return job.devices_total > 0 && crossing > now ? crossing : Millis::max();
}

}  // namespace ashlar
