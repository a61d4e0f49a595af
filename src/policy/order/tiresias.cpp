// tiresias: see order.h.
#include <algorithm>

#include "policy/order/order.h"

namespace ashlar {
namespace {

enum : std::int64_t { kLow = 0, kHigh = 1 };

/// Earlier submission first, running before waiting at the same millisecond.
OrderKey key_of(const Job& job, Millis ran, bool is_running) {
  const std::int64_t attained = ran.value * job.devices_total;
  return {attained <= kAttainedLowMax ? kLow : kHigh, job.submitted.value * 2 + (is_running ? 0 : 1)};
}

}  // namespace

OrderKey tiresias_waiting(const Job& job) { return key_of(job, job.served, false); }

OrderKey tiresias_running(const Job& job, Millis now) { return key_of(job, job.served + (now - job.started_at), true); }

Millis tiresias_changes_at(const Job& job, Millis now) {
  const Millis crossing =
      job.started_at - job.served + Millis(kAttainedLowMax / std::max<std::int64_t>(job.devices_total, 1) + 1);
  return job.devices_total > 0 && crossing > now ? crossing : Millis::max();
}

}  // namespace ashlar
