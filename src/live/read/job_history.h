// JobHistory: what became of the jobs of a leadership, for metrics: how long they waited for what they ran, how well
// their run times were stated, which were backfilled, which started when a reservation said, how long gangs that lost
// members took to be whole again, and GPU time by queue. It watches the events of the readers' state. Cost: a few
// nanoseconds an event, O(reservations) a placement, O(queues) a second, O(members) for a node that goes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "engine/engine.h"
#include "live/track/names.h"
#include "model/event.h"
#include "state/state.h"

namespace prometheus {
struct MetricFamily;
}

namespace ashlar::kube {

class JobHistory {
 public:
  JobHistory();
  ~JobHistory();

  /// Before the event is applied, and after it.
  void note(const State& state, const ObjectNames& names, const Event& event);
  void note_applied(const State& state);
  /// After a decision: what it placed although a job ahead waits.
  void note_placed(const State& state, const Engine& engine, const Plan& plan);
  /// After a decision at this time, and before the metrics are read. Time never decreases.
  void settle(const State& state, Millis now);

  /// Its series; without the names of queues, unless they are wanted.
  void add_to(std::vector<prometheus::MetricFamily>& families, const ObjectNames& names, bool has_queues) const;

 private:
  struct Series;
  /// A started gang that is short of members since then.
  struct Loss {
    Millis since;
    bool is_by_node = false;
  };
  void note_end(const Job& job, const std::string& queue, Millis now);
  void note_loss(const State& state, JobId job, Millis at, bool is_by_node);
  /// Of a job for which that time was reserved first.
  void note_start(Millis reserved, Millis now);

  std::unique_ptr<Series> series_;
  std::map<JobId, Loss> losses_;
  std::map<JobId, Millis> promised_;      ///< of waiting jobs that have had a reservation: its first time
  std::vector<JobId> fresh_losses_;       ///< of the event that is being applied
  Millis began_ = Millis::max();          ///< of the leadership: what started before it is not known
  Millis counted_to_{0};                  ///< GPU time
  std::vector<std::int64_t> held_milli_;  ///< [queue] at that time
  std::vector<double> gpu_seconds_;       ///< [queue]
};

}  // namespace ashlar::kube
