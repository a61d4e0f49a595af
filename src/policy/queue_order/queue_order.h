// queue_order: which queue goes first, by a key, smaller first.
//   by-job       queues are not compared: the order of jobs decides between all
//   least-share  by the largest share of what the queue may use, over GPUs, CPU, memory and every further limit
//   drf          those inside their guarantees first; then by the largest share of what the parent has that was used
//                beyond the guarantee, as an average that forgets, over the weight; then by the priority of the queue
//   fair-tree    at each level the queue that has used less GPU time for its weight (then CPU time); children of queues
//                that have used alike are compared as if they were siblings
//   strict-priority  the queue of higher priority
//   kai, kueue-classic, kueue-fair  as KAI-Scheduler and Kueue do, in turns of their own (engine/published)
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

/// The inverse of Slurm's level fair share (Fair Tree), (shares / siblings' shares) / (usage / siblings' usage). GPUs
/// and CPU are the first of QueueStanding::uses, in that order.
OrderKey fair_tree(const QueueStanding& standing);

OrderKey strict_priority(const QueueStanding& standing);

}  // namespace ashlar
