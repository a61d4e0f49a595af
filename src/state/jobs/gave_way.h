// GaveWay: which jobs have stopped for which. None stops a job for which it gave way itself, or for which that one
// gave way, and so on, as long as both are there: so no two stop each other in turn, and evictions end. Cost: O(log
// jobs) for a job that never gave way.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "base/id.h"

namespace ashlar {

class GaveWay {
 public:
  void note(JobId job, JobId for_job) {
    std::vector<JobId>& of_job = to_[job];
    if (std::ranges::find(of_job, for_job) != of_job.end()) return;
    of_job.push_back(for_job);
    from_[for_job].push_back(job);
  }
  /// Those for which the job has given way, and those for which they have, ascending; without itself.
  std::vector<JobId> ahead_of(JobId job) const { return reached(to_, job); }
  /// Those that have given way for the job, and those that have for them, likewise.
  std::vector<JobId> behind(JobId job) const { return reached(from_, job); }
  /// It is over: what it gave way for, and what gave way for it, counts no more.
  void forget(JobId job) {
    if (to_.empty()) return;
    drop(to_, from_, job);
    drop(from_, to_, job);
  }

 private:
  friend struct StateFields;
  using Lists = std::map<JobId, std::vector<JobId>>;
  static std::vector<JobId> reached(const Lists& lists, JobId job) {
    std::vector<JobId> found, next{job};
    while (!next.empty()) {
      const auto of_job = lists.find(next.back());
      next.pop_back();
      if (of_job == lists.end()) continue;
      for (const JobId other : of_job->second) {
        const auto at = std::ranges::lower_bound(found, other);
        if (at != found.end() && *at == other) continue;
        found.insert(at, other);
        next.push_back(other);
      }
    }
    return found;
  }
  static void drop(Lists& of, Lists& others, JobId job) {
    const auto its = of.find(job);
    if (its == of.end()) return;
    for (const JobId other : its->second) {
      const auto list = others.find(other);
      std::erase(list->second, job);
      if (list->second.empty()) others.erase(list);
    }
    of.erase(its);
  }
  void rebuild() {
    from_.clear();
    for (const auto& [job, for_jobs] : to_)
      for (const JobId other : for_jobs) from_[other].push_back(job);
  }

  Lists to_;
  Lists from_;  ///< the other way round; not kept in a snapshot
};

}  // namespace ashlar
