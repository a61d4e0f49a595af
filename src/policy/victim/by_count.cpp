#include "policy/victim/by_count.h"

namespace ashlar {

QuotaMarks mark_by_quota(std::int64_t quota_devices, std::span<const QuotaCandidate> candidates) {
  QuotaMarks marks;
  QuotaWalk walk(quota_devices);
  for (const QuotaCandidate& c : candidates) {
    const QuotaWalk::Mark mark = walk.next(c.devices, c.is_running);
    if (mark == QuotaWalk::Mark::kStart) marks.start.push_back(c.job);
    if (mark == QuotaWalk::Mark::kStop) marks.stop.push_back(c.job);
  }
  return marks;
}

}  // namespace ashlar
