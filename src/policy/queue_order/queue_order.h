// queue_order: which queue goes first, by a key, smaller first.
//   by-job       queues are not compared: the order of jobs decides between all
//   least-share  by the largest share of what the queue may use, over GPUs, CPU, memory and every further limit
//   drf          those inside their guarantees first; then by the largest share of what the parent has that is used
//                beyond the guarantee, over the weight; then by the priority of the queue
// Example (least-share): limits of 8 and 16 GPUs, 4 used of each: shares 0.5 and 0.25, so the second goes first. Cost:
// one division for each resource.
#pragma once

#include "policy/queue_order_policy.h"

namespace ashlar {

/// Shares are compared in billionths.
inline constexpr std::int64_t kWholeShare = 1'000'000'000;

/// The dominant share, after DRF (Ghodsi et al., NSDI'11), with limits in place of capacity.
OrderKey least_share(const QueueStanding& standing);

/// The same of what is used beyond guarantees, by the capacity of the parent, over the weight.
OrderKey drf(const QueueStanding& standing);

}  // namespace ashlar
