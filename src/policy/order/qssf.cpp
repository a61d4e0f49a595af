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

OrderKey qssf_waiting(const Job& job) { return {times_devices(job.order_hint, job.devices_total), job.devices_total}; }

OrderKey qssf_oracle_waiting(const Job& job) {
  return {times_devices(job.estimate.p50.value, job.devices_total), job.devices_total};
}

OrderKey qssf_newcomers(const Job& job) { return {job.devices_total, 0}; }

}  // namespace ashlar
