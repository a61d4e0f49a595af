// queues: the queues as KAI-Scheduler compares them in one decision: what each deserves, may use and is to get, and
// which of two siblings goes first with the job that each would start.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/quota.h"
#include "state/state.h"

namespace ashlar::kai {

/// Of a QuotaVector.
inline constexpr std::size_t kGpu = static_cast<std::size_t>(QuotaDimension::kMilliGpu);

/// Whether others may stop it: its priority is below 100, and it does not say otherwise.
bool is_preemptible(const Job& job);

/// What holds for one queue during a decision; amounts by QuotaDimension.
struct QueueTerms {
  QuotaVector deserved{}, limit{}, share{};
  std::int32_t priority = 0;
  std::uint32_t age = 0;  ///< the older ones have less
  /// The most that it is able to have.
  std::int64_t able(std::size_t d) const {
    return deserved[d] == kUnlimited ? limit[d] : std::min(limit[d], std::max(deserved[d], share[d]));
  }
};

/// Whether all amounts of a are at most those of b.
bool is_within(const QuotaVector& a, const QuotaVector& b);
QuotaVector sum_of(const QuotaVector& a, const QuotaVector& b);
QuotaVector without(const QuotaVector& a, const QuotaVector& b);

class Queues {
 public:
  /// `waiting`: what the waiting members of each queue request, by queue. Cost: O(queues x depth + nodes + foreign
  /// pods).
  Queues(const State& state, std::span<const QuotaVector> waiting);

  const QueueTerms& terms(QueueId queue) const { return terms_[queue.row()]; }
  /// What it uses now, with those below it.
  const QuotaVector& allocated(QueueId queue) const;
  /// The same of all queues, by queue.
  std::vector<QuotaVector> all_allocated() const;
  /// What it uses of jobs that are not preemptible. Cost: O(running jobs below it).
  QuotaVector held_for_good(QueueId queue) const;
  const QuotaVector& total() const { return total_; }
  /// The queue and those above it, but the root; the queue first.
  std::vector<QueueId> path(QueueId queue) const;
  /// A sibling with what it would start next; or, where queues are compared as those that lose, with what has been
  /// taken off it.
  struct Standing {
    QueueId queue;
    QuotaVector step{};
    QuotaVector taken{};
  };
  /// Whether a goes before b.
  bool is_before(const Standing& a, const Standing& b) const;

 private:
  double dominant_share(const Standing& standing, bool with_step) const;
  bool uses_what_it_may_not(const Standing& standing) const;

  const State& state_;
  QuotaVector total_{};
  std::vector<QueueTerms> terms_;  ///< [queue]
};

}  // namespace ashlar::kai
