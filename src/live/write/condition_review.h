// condition_review: keeps the conditions of pods that wait for long as things are. A verdict is reached anew only when
// something could help its jobs, so its numbers, and the rules that exclude nodes, grow old; here classes of waiting
// jobs are counted anew in turn, and a pod whose condition would read otherwise is named. Cost: a look at all nodes for
// one class, and kLooksMax texts, at a time; nothing while the cluster is as it was when all were seen last.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/engine.h"
#include "live/track/tables.h"
#include "state/state.h"

namespace ashlar::kube {

class ConditionReview {
 public:
  static constexpr Millis kEvery{100};  ///< between two times
  static constexpr std::size_t kLooksMax = 16;

  /// Looks at the next pods if it is time, by the monotonic clock: `tell` has their condition written, and returns
  /// whether it would be another one than the server has. At most one each time.
  void step(Engine& engine, State& state, const Tables& tables, Millis now, const std::function<bool(PodSlot)>& tell);
  /// When to be called again; Millis::max(): not before something changes.
  Millis due_in(const State& state, Millis now) const;
  /// The engine's verdict on a waiting job, counted as late as it has been here.
  Verdict verdict_of(const Engine& engine, JobId job) const;

 private:
  struct Counted {
    EquivalenceClass key;
    std::uint64_t as_of = 0;  ///< seen_of the cluster
    Verdict kept, now;
  };
  /// What the numbers of reasons depend on: what is placed, the facts of nodes, and the limits of queues.
  static std::uint64_t seen_of(const State& state);
  /// The class of a job whose verdict has numbers of the nodes, or of its queue; none of any other.
  static ClassId counted_class(const Engine& engine, JobId job);
  bool is_current(const Engine& engine, ClassId id, std::uint64_t seen) const;

  Millis next_{0};
  PodSlot cursor_ = 0;
  std::size_t unchanged_ = 0;     ///< pods in a row that read as before, since the cluster was as it is
  std::uint64_t seen_ = 0;        ///< then
  std::vector<Counted> counted_;  ///< by class
};

}  // namespace ashlar::kube
