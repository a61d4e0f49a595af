// contenders: jobs in the order in which KAI-Scheduler takes them: by queue at each level of the tree, each queue with
// the job that it would start next; inside a queue by priority, those below their minimum first, the older ones first.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "engine/published/kai/queues.h"

namespace ashlar::kai {

/// Whether the job goes before another one of its queue.
bool is_before(const State& state, JobId a, JobId b);

/// The first job of one queue, or the one there that gives way next.
struct Contender {
  JobId job;
  QueueId queue;
  QuotaVector step{};   ///< what it would start with
  QuotaVector taken{};  ///< see Queues::Standing
};
/// Which of them goes first: one of each queue; there is at least one. Cost: O(contenders x depth).
std::size_t first_of(const Queues& queues, std::span<const Contender> contenders);
/// Which of them goes last.
std::size_t last_of(const Queues& queues, std::span<const Contender> contenders);

/// Jobs that are taken in order, each queue's in its own; a job may come back.
class Line {
 public:
  Line(const State& state, const Queues& queues) : state_(state), queues_(queues) {}
  void add(JobId job);
  bool is_empty() const { return heads_.empty(); }
  JobId take();

 private:
  void list_head(QueueId queue);

  const State& state_;
  const Queues& queues_;
  std::map<QueueId, std::vector<JobId>> jobs_;  ///< of each queue, the last one first
  std::vector<Contender> heads_;                ///< the first of each
};

}  // namespace ashlar::kai
