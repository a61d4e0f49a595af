// drf: see queue_order.h.
#include <algorithm>

#include "policy/queue_order/queue_order.h"

namespace ashlar {
namespace {

/// Keys of queues inside their guarantees are below 0 (QueueKeys), so these stay in range whatever is taken off.
constexpr std::int64_t kShareMax = std::int64_t{1} << 61;

std::int64_t share_in_use(const QueueUse& use, std::int64_t weight) {
  if (use.used <= use.guarantee) return 0;
  if (use.of_parent <= 0) return kShareMax;
  using Wide = unsigned __int128;
  const Wide beyond = static_cast<Wide>(use.used - use.guarantee) * kWholeShare;
  const Wide share = beyond * QueueRank::kWeightOne / (static_cast<Wide>(use.of_parent) * static_cast<Wide>(weight));
  return share > static_cast<Wide>(kShareMax) ? kShareMax : static_cast<std::int64_t>(share);
}

/// Rounded, so that equal shares of unlike amounts are equal.
std::int64_t share_used(const QueueUse& use, std::int64_t weight) {
  const double beyond = use.average - static_cast<double>(use.guarantee);
  if (beyond <= 0) return 0;
  if (use.of_parent <= 0) return kShareMax;
  const double weighted = static_cast<double>(weight) / static_cast<double>(QueueRank::kWeightOne);
  const double share = beyond * static_cast<double>(kWholeShare) / (static_cast<double>(use.of_parent) * weighted);
  return share >= static_cast<double>(kShareMax) ? kShareMax : static_cast<std::int64_t>(share + 0.5);
}

}  // namespace

OrderKey drf(const QueueStanding& standing) {
  std::int64_t most = 0;
  const std::int64_t weight = std::max<std::int64_t>(standing.rank.weight, 1);
  for (const QueueUse& use : standing.uses)
    most = std::max(most, standing.has_history ? share_used(use, weight) : share_in_use(use, weight));
  return {most, -std::int64_t{standing.rank.priority}};
}

}  // namespace ashlar
