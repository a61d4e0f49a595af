#include "policy/victim/by_count.h"

namespace ashlar {

QuotaMarks mark_by_quota(std::int64_t quota_cards, std::span<const QuotaCandidate> candidates) {
  QuotaMarks marks;
  QuotaWalk walk(quota_cards);
  for (const QuotaCandidate& c : candidates) {
    const QuotaWalk::Mark mark = walk.next(c.cards, c.is_running);
    if (mark == QuotaWalk::Mark::kStart) marks.start.push_back(c.job);
    if (mark == QuotaWalk::Mark::kStop) marks.stop.push_back(c.job);
  }
  return marks;
}

}  // namespace ashlar
