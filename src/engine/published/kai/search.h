// search: the jobs that KAI-Scheduler stops for a waiting one: it adds running jobs in the order in which they give
// way, and tries each set of them, first of one node, then of several: all of it leaves, and the waiting job and those
// jobs are placed again, in the order of queues.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "engine/cycle.h"
#include "engine/data.h"
#include "engine/published/kai/stops.h"
#include "state/trial.h"

namespace ashlar::kai {

class Search {
 public:
  Search(EngineData& e, State& state, const Queues& queues, const Cycle& cycle, Action action, JobId job);

  struct Found {
    std::vector<Victim> lost;              ///< not placed again
    std::vector<Victim> moved;             ///< placed again elsewhere
    std::vector<Trial::Placement> places;  ///< of the waiting job
  };
  /// None: nobody is stopped. Nothing of the state has changed after it. Cost: a placement of each job of a set, for up
  /// to kTriesMax sets.
  std::optional<Found> run();
  /// When a job may be stopped that is protected now; Millis::max(): there is none.
  Millis more_at() const { return more_at_; }

 private:
  static constexpr std::size_t kTriesMax = 4096;

  /// Running jobs that may be stopped, unit by unit, in the order in which they give way.
  std::vector<Unit> units_in_order();
  std::vector<Unit> units_of(JobId job);
  std::optional<Found> on_one_node(std::span<const Unit> units);
  std::optional<Found> on_several_nodes(std::span<const Unit> units);
  std::vector<Unit> with_their_surplus(std::vector<Unit> units);
  std::optional<Found> try_without(std::vector<Unit> units);
  /// Leaves out the jobs that could stay on their nodes, if not on their devices: whether they can stay on these too.
  std::optional<Found> try_without_moving(const std::vector<Unit>& units, const std::set<JobId>& staying);
  bool place(Trial& trial, JobId job) const;

  EngineData& e_;
  State& state_;
  const Queues& queues_;
  const std::set<JobId>& started_;
  JobId job_;
  Millis now_;
  Stops stops_;
  std::vector<QuotaVector> before_;
  std::int64_t needed_ = 0, smallest_ = 0;  ///< thousandths of GPUs: all that it needs next, the least of a member
  std::size_t tries_ = 0;
  Millis more_at_ = Millis::max();
};

}  // namespace ashlar::kai
