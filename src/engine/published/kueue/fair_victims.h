// fair_victims: the same with Kueue's fair sharing: again and again a job of the queue that borrows most for its weight
// is stopped, as long as the waiting one's queue does not come to borrow more than that one.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "engine/published/kueue/victims.h"

namespace ashlar::kueue {

class FairVictims {
 public:
  explicit FairVictims(Victims& victims) : v_(victims), state_(victims.state_), cohorts_(victims.cohorts_) {}
  std::optional<Found> find();

 private:
  /// By what the shares of the two sides must differ: after the stop, or before it.
  enum class Strategy { kAfter, kBefore };
  void list_candidates();
  /// The queue that is next to give, from the root down; none if none is left.
  QueueId next_queue();
  QueueId next_below(QueueId cohort);
  bool may_give(QueueId queue) const;
  /// Takes one of them off, and asks whether that is enough.
  bool take(Trial& trial, JobId job, StopReason reason);
  bool is_enough(Trial& trial);
  bool walk_first(Trial& trial);
  bool walk_second(Trial& trial);
  bool passes(Trial& trial, JobId job, Strategy strategy);
  bool stays_nominal() const;

  Victims& v_;
  State& state_;
  Cohorts& cohorts_;
  std::map<QueueId, std::vector<JobId>> candidates_;  ///< of each queue, the next one last
  std::map<QueueId, std::vector<JobId>> failed_;
  std::vector<Candidate> taken_;
};

}  // namespace ashlar::kueue
