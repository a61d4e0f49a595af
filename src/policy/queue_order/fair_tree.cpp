// fair-tree: see queue_order.h.
#include <algorithm>

#include "policy/queue_order/queue_order.h"

namespace ashlar {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 61;
constexpr double kParts = 1'048'576;  ///< of a milli-GPU or milli-core

/// Least where nothing was used. Siblings are compared, so that the sums over all of them drop out.
std::int64_t used_per_share(const QueueStanding& standing, std::size_t dimension) {
  if (dimension >= standing.uses.size()) return 0;
  const QueueUse& use = standing.uses[dimension];
  const double used = standing.has_history ? use.average : static_cast<double>(use.used);
  const auto weight = static_cast<double>(std::max<std::int64_t>(standing.rank.weight, 1));
  const double per_share = std::max(used, 0.0) * kParts / weight;
  return per_share >= static_cast<double>(kMost) ? kMost : static_cast<std::int64_t>(per_share + 0.5);
}

}  // namespace

OrderKey fair_tree(const QueueStanding& standing) {
  constexpr std::size_t kGpu = 0, kCpu = 1;
  return {used_per_share(standing, kGpu), used_per_share(standing, kCpu)};
}

}  // namespace ashlar
