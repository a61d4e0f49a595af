#include "policy/victim/by_count.h"

namespace ashlar {

CountMarks mark_by_count(std::int64_t quota_devices, std::span<const CountCandidate> candidates) {
  CountMarks marks;
  CountWalk walk(quota_devices);
  for (const CountCandidate& c : candidates) {
    const CountWalk::Mark mark = walk.next(c.devices, c.is_running);
    if (mark == CountWalk::Mark::kStart) marks.start.push_back(c.job);
    if (mark == CountWalk::Mark::kStop) marks.stop.push_back(c.job);
  }
  return marks;
}

}  // namespace ashlar
