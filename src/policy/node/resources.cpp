#include "policy/node/resources.h"

#include <algorithm>

namespace ashlar {
namespace {

/// min(fits, free / need) for free >= 0, need > 0. The estimate by the reciprocal is at most one off, since it is below
/// kFitsMax where it is used.
std::uint16_t quotient_within(std::uint16_t fits, std::int64_t free, std::int64_t need, double inverse) {
  auto q = static_cast<std::int64_t>(static_cast<double>(free) * inverse);
  q -= q * need > free ? 1 : 0;
  q += (q + 1) * need <= free ? 1 : 0;
  return static_cast<std::uint16_t>(std::min<std::int64_t>(q, fits));
}

void lower_by_one(std::span<const std::int64_t> free, std::int64_t need, std::span<std::uint16_t> fits) {
  // keeps the products exact (8 PiB); no node has that much
  constexpr std::int64_t kNeedMax = INT64_MAX / (kFitsMax + 2);
  if (need > kNeedMax) {
    std::fill(fits.begin(), fits.end(), std::uint16_t{0});
    return;
  }
  double inverse = 0;  // computed when first needed: most nodes are decided by the multiplication
  const auto lower = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (static_cast<std::int64_t>(fits[i]) * need <= free[i]) continue;
      if (free[i] < need) {
        fits[i] = 0;
        continue;
      }
      if (inverse == 0) inverse = 1.0 / static_cast<double>(need);
      fits[i] = quotient_within(fits[i], free[i], need, inverse);
    }
  };
  // On most of the nodes in use nothing fits by the rules before: those are passed over block by block.
  constexpr std::size_t kBlock = 16;
  std::size_t first = 0;
  for (; first + kBlock <= fits.size(); first += kBlock) {
    std::uint16_t any = 0;
    for (std::size_t i = 0; i < kBlock; ++i) any |= fits[first + i];
    if (any != 0) lower(first, first + kBlock);
  }
  lower(first, fits.size());
}

}  // namespace

void lower_by_resources(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
  for (const ResourceAmount& asked : view.demand.amounts) {
    if (asked.amount <= 0) continue;
    if (asked.resource.row() >= view.nodes.resource_count()) {
      std::fill(fits.begin(), fits.end(), std::uint16_t{0});
      return;
    }
    lower_by_one(view.nodes.free(asked.resource).subspan(rows.first, rows.count), asked.amount, fits.first(rows.count));
  }
}

}  // namespace ashlar
