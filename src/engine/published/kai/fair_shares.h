// fair_shares: what each of some siblings is to get of one resource, as KAI-Scheduler divides it: what it deserves
// first, then the rest by weight, the queues of the highest priority before all others.
// Example: 10 GPUs; A and B deserve 2 and want 10 each, with weights 1 and 2; C deserves nothing and wants 1, weight 1:
// 2, 2 and 0 first; of the other 6 by weight 1 (of 1.5), 3 and 1; the last one to B, which lacks most of one: 3, 6, 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/quota.h"

namespace ashlar::kai {

/// One queue and one resource, in thousandths of GPUs, thousandths of cores or bytes. The older queues come first.
struct Claim {
  std::int64_t deserved = 0;  ///< kUnlimited: whatever it requests
  std::int64_t limit = kUnlimited;
  std::int64_t request = 0;  ///< what it uses and what waits
  std::int64_t weight = QueueRank::kWeightOne;
  std::int32_t priority = 0;
  double usage = 0;  ///< of what there was, over some time past; 0 without a history
};

/// What each gets of `total`: at least what it deserves and requests, also beyond `total`. `unit` is what is not
/// divided: a GPU, a thousandth of a core, a byte. Cost: O(n log n) for each round, of which there are at most n.
std::vector<std::int64_t> fair_shares(std::span<const Claim> claims, std::int64_t total, std::int64_t unit);

}  // namespace ashlar::kai
