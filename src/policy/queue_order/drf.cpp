// drf: see queue_order.h.
#include <algorithm>

#include "policy/queue_order/queue_order.h"

namespace ashlar {
namespace {

/// Keys of queues inside their guarantees are below 0 (QueueKeys), so these stay in range whatever is taken off.
constexpr std::int64_t kShareMax = std::int64_t{1} << 61;

std::int64_t share_beyond_guarantee(const QueueUse& use, std::int64_t weight) {
  if (use.used <= use.guarantee) return 0;
  if (use.of_parent <= 0) return kShareMax;
  using Wide = unsigned __int128;
  const Wide beyond = static_cast<Wide>(use.used - use.guarantee) * kWholeShare;
  const Wide share = beyond * QueueRank::kWeightOne / (static_cast<Wide>(use.of_parent) * static_cast<Wide>(weight));
  return share > static_cast<Wide>(kShareMax) ? kShareMax : static_cast<std::int64_t>(share);
}

}  // namespace

OrderKey drf(const QueueStanding& standing) {
  std::int64_t most = 0;
  for (const QueueUse& use : standing.uses)
    most = std::max(most, share_beyond_guarantee(use, std::max<std::int64_t>(standing.rank.weight, 1)));
  return {most, -std::int64_t{standing.rank.priority}};
}

}  // namespace ashlar
