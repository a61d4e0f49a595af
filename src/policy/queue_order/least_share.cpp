// least-share: see queue_order.h.
#include <algorithm>

#include "policy/queue_order/queue_order.h"

namespace ashlar {
namespace {

std::int64_t share_of(const QueueUse& use) {
  if (use.used <= 0) return 0;
  if (use.limit <= 0) return INT64_MAX;
  const auto share = static_cast<unsigned __int128>(use.used) * kWholeShare / static_cast<unsigned __int128>(use.limit);
  return share > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(share);
}

}  // namespace

OrderKey least_share(const QueueStanding& standing) {
  std::int64_t most = 0;
  for (const QueueUse& use : standing.uses) most = std::max(most, share_of(use));
  return {most, 0};
}

}  // namespace ashlar
