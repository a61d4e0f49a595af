// srtf: see order.h. It has no changes_at, although the remaining time of running jobs falls continuously: running jobs
// keep their relative order and can only pass waiting ones, which changes nothing. With preemption by quota, every
// running job has its devices from the quota after a round. Suppose it passes a waiting neighbour: if that one had its
// devices too, both still have them and the same is left for the rest; if not, it has even less left now. So the set of
// jobs that may run changes with events only.
#include <algorithm>

#include "policy/order/order.h"

namespace ashlar {
namespace {

enum : std::int64_t { kWaitingFirst = 0, kRunningSecond = 1 };

}  // namespace

OrderKey srtf_waiting(const Job& job) { return {job.remaining.value, kWaitingFirst}; }

OrderKey srtf_running(const Job& job, Millis now) {
  if (job.remaining == Millis::max()) return {job.remaining.value, kRunningSecond};
  return {std::max<std::int64_t>((job.remaining - (now - job.started_at)).value, 0), kRunningSecond};
}

}  // namespace ashlar
