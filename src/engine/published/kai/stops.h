// stops: for which jobs KAI-Scheduler stops others, which ones, and whether what a search has found is allowed: to move
// others together, to take back what a queue deserves, and for a higher priority in the same queue.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/published/kai/queues.h"
#include "engine/victims/victim.h"
#include "model/plan.h"

namespace ashlar::kai {

/// What gives way at once, with what it has then.
struct Unit {
  Victim victim;
  QueueId queue;
  QuotaVector amounts{};
  std::vector<NodeId> nodes;  ///< ascending
};

enum class Action { kConsolidate, kReclaim, kPreempt };

/// The rule by which that action stops a job for good.
StopReason reason_of(Action action);

/// Where a queue would have more for good than it deserves, or one above it, with that step of the job; none if not, or
/// if others may stop the job.
std::optional<Reason> beyond_deserved(const State& state, const Queues& queues, JobId job, const QuotaVector& step);

/// One action for one waiting job.
class Stops {
 public:
  Stops(const State& state, const Queues& queues, Action action, JobId job);
  /// Whether anybody may be stopped for it.
  bool are_allowed() const;
  /// Whether the running job may be taken off, as far as its queue and priority are concerned. Nothing is tried then.
  bool may_stop(const Job& running) const;
  /// Until when only its members beyond the minimum may be, since it has not run for long enough.
  Millis protected_until(const Job& running) const;
  /// Whether what a search has found is allowed: `lost` are those that are not placed again, in the order in which they
  /// were taken off. `before`: what each queue used before the search, by queue.
  bool allow(std::span<const Unit> lost, bool are_all_placed, std::span<const QuotaVector> before) const;

 private:
  bool may_reclaim_from(QueueId other) const;
  bool is_claim_met(std::span<const Unit> lost, std::span<const QuotaVector> before) const;

  const State& state_;
  const Queues& queues_;
  Action action_;
  JobId job_;
  QuotaVector step_;
};

}  // namespace ashlar::kai
