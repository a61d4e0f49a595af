// victims: the jobs that Kueue stops for a waiting one whose queue lacks quota: candidates are taken off in their order
// until it fits, and put back, the last ones first, as far as it still does.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "engine/cycle.h"
#include "engine/data.h"
#include "engine/published/kueue/candidates.h"
#include "state/trial.h"

namespace ashlar::kueue {

/// What is found: those that are stopped, and the place for which they are.
struct Found {
  std::vector<Candidate> victims;
  std::vector<Trial::Placement> places;
};

/// Asks about one waiting job. Nothing of the state has changed after a call.
class Victims {
 public:
  /// `by_quota_alone`: places on nodes are not asked for.
  Victims(EngineData& e, State& state, Cohorts& cohorts, const Cycle& cycle, JobId job, bool by_quota_alone);
  /// For what the job lacks of these columns. None: nobody is stopped.
  std::optional<Found> find(const std::vector<std::size_t>& contested);

  /// Whether the queue admits what the job requests; without borrowing for it.
  bool is_admitted(bool may_borrow) const;

 private:
  friend class FairVictims;
  std::optional<Found> find_classic();
  /// Those of other queues, in the order in which Kueue asks for them.
  struct Reclaimable {
    Candidate candidate;
    QueueId cohort;                     ///< the lowest one that is above both
    bool is_without_borrowing = false;  ///< it does not stop for a job with which its queue borrows
  };
  void list_reclaimable();
  void add_below(QueueId cohort, QueueId but, QueueId top, bool has_advantage);
  void list_own();
  bool may_be_stopped(JobId job) const;
  std::optional<Found> walk(std::span<const Reclaimable> order, bool may_borrow);
  bool is_left_in_peace(const Reclaimable& one, bool may_borrow) const;
  /// Takes them off and asks for a place; the places of the job are noted.
  std::optional<Found> with_place(std::vector<Candidate> victims, bool may_borrow);
  std::optional<Found> filled_back(std::vector<Candidate> victims, bool may_borrow);
  bool fits(Trial& trial, bool may_borrow) const;

  EngineData& e_;
  State& state_;
  Cohorts& cohorts_;
  const std::set<JobId>& started_;
  JobId job_;
  QueueId queue_;
  Millis now_;
  bool by_quota_alone_;
  Amounts requested_;
  std::vector<std::size_t> contested_;
  std::vector<Reclaimable> hierarchical_, by_priority_, own_;
};

}  // namespace ashlar::kueue
