// heads: the first waiting job of each queue, and the order in which Kueue settles them in one turn.
#pragma once

#include <set>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "engine/published/kueue/cohorts.h"
#include "policy/queue_order_policy.h"

namespace ashlar::kueue {

struct Head {
  JobId job;
  Amounts requested;
  std::vector<std::size_t> contested;  ///< columns of which its queue has too little left
  int height = 0;                      ///< how far up the tree it borrows
  bool may_stop_others = false;
  bool has_victims = false;  ///< some were found for it
};

/// By priority, then by the time since when they wait. Without those laid aside.
std::vector<Head> first_jobs(const State& state, const PendingQueue& pending, const std::set<JobId>& laid_aside);

/// Classic: those that borrow least far up, then by priority and time. Fair: as a tournament of shares with the jobs
/// added, at each level of the tree.
void sort(const State& state, Cohorts& cohorts, Turns turns, std::vector<Head>& heads);

}  // namespace ashlar::kueue
