// Cycle: what one call of decide carries along.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "model/plan.h"

namespace ashlar {

struct Cycle {
  /// By count: the latest time at which the blocked head of a queue can start by known ends, and the devices left over
  /// then.
  struct ShadowTime {
    JobId job;
    Millis shadow = Millis::max();
    std::int64_t extra = 0;
  };

  /// Jobs of a class that last until `end` or longer would break a reservation.
  struct Held {
    Millis end, promised;
    /// of the plan when a job of the class was last looked at: its quota was enough for that one
    std::size_t actions = 0;
    std::optional<std::set<PendingQueue::Entry>::const_iterator> next = {};  ///< the entry to look at after it
  };

  Plan plan;
  bool may_start_jobs = true;  ///< false between two beats
  /// next job of every class still to be looked at: a heap with the first in order on top
  std::vector<PendingQueue::Head> work;
  bool is_top_taken = false;     ///< the top is being looked at; the next job of its class may take its place
  bool is_listed_whole = false;  ///< work holds every job, not only the first of each class
  std::map<ClassId, Held> held;
  std::set<ClassId> impossible;  ///< found in this round to fit no empty cluster, whatever else they wait for
  std::vector<JobId> binding;    ///< jobs with a reservation that the current job might break
  std::vector<ShadowTime> shadow_times;

  void add_work(const PendingQueue::Head& head);
  bool has_work() const { return work.size() > (is_top_taken ? 1 : 0); }
  PendingQueue::Head take_work();
  /// For a job with this many devices, from the ends known now; computed once per cycle and job.
  const ShadowTime& shadow_time_for(const State& state, JobId job, std::int64_t devices);
  /// A job was started: it uses part of what the reservations leave over.
  void account(const State& state, JobId started);
};

}  // namespace ashlar
