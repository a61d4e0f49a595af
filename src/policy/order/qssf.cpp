// qssf and qssf-oracle: see order.h.
#include <algorithm>

#include "policy/order/order.h"

namespace ashlar {
namespace {

/// Jobs without devices count as one device. Unknown durations stay last.
std::int64_t times_devices(std::int64_t duration_millis, std::int64_t devices) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(duration_millis, std::max<std::int64_t>(devices, 1), &product) ? INT64_MAX : product;
}

}  // namespace

OrderKey qssf_waiting(const State& state, JobId job) {
  const Job& j = state.job(job);
  return {times_devices(j.order_hint, j.devices_total), j.devices_total};
}

OrderKey qssf_oracle_waiting(const State& state, JobId job) {
  const Job& j = state.job(job);
  return {times_devices(j.estimate.p50.value, j.devices_total), j.devices_total};
}

OrderKey qssf_newcomers(const State& state, JobId job) { return {state.job(job).devices_total, 0}; }

}  // namespace ashlar
