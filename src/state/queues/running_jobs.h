// RunningJobs: the jobs of queues that run and could be stopped for others, by queue, with the lowest priority of each,
// so that a search for some of them passes queues that have none. Cost of a start or an end: O(log priorities).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/grown.h"
#include "base/id.h"

namespace ashlar {

class RunningJobs {
 public:
  void add(JobId job, QueueId queue, std::int32_t priority) {
    Queue& of = grown(queues_, queue.row());
    grown(places_, job.row()) = of.jobs.size();
    of.jobs.push_back(job);
    ++of.priorities[priority];
  }
  void remove(JobId job, QueueId queue, std::int32_t priority) {
    Queue& of = queues_[queue.row()];
    const std::size_t place = places_[job.row()];
    ASHLAR_CHECK(place < of.jobs.size() && of.jobs[place] == job);
    of.jobs[place] = of.jobs.back();
    places_[of.jobs[place].row()] = place;
    of.jobs.pop_back();
    const auto count = of.priorities.find(priority);
    if (--count->second == 0) of.priorities.erase(count);
  }
  void clear() { queues_.clear(), places_.clear(); }

  /// Rows of queues that have had any.
  std::size_t rows() const { return queues_.size(); }
  /// In no order.
  std::span<const JobId> in(QueueId queue) const {
    return queue.row() < queues_.size() ? std::span<const JobId>(queues_[queue.row()].jobs) : std::span<const JobId>();
  }
  /// Of those in the queue, which has some.
  std::int32_t lowest_priority(QueueId queue) const { return queues_[queue.row()].priorities.begin()->first; }

 private:
  struct Queue {
    std::vector<JobId> jobs;
    std::map<std::int32_t, std::size_t> priorities;  ///< how many jobs have each
  };
  std::vector<Queue> queues_;
  std::vector<std::size_t> places_;  ///< by job: where it stands in its queue
};

}  // namespace ashlar
