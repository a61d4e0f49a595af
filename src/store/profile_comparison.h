// ProfileComparison: what another profile would have decided, step by step, in the recorded situations. It has its own
// state, takes the same events, decides, is compared, and is then reset to the recorded placements, so that every
// comparison starts from what really happened. Cost: one more engine, and O(members) of the jobs that either one moved.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "model/plan.h"
#include "state/state.h"

namespace ashlar::store {

/// What one engine did with a job in one step.
struct JobDecision {
  std::vector<Bind> binds;  ///< by member
  bool is_evicted = false;
  Verdict verdict;  ///< the last one reported, for jobs that were not placed
};

struct JobComparison {
  JobId job;
  bool is_same = true;
  bool is_first = true;  ///< the job was not compared before
  JobDecision recorded, other;
};

class ProfileComparison {
 public:
  ProfileComparison(Profile profile, EngineOptions options, const State& start);

  void apply(const Event& event);
  /// After the recorded engine has decided: `recorded` is its state, `plan` its plan. Jobs already reported as
  /// different are not reported again.
  void decide(const State& recorded, const Plan& plan);
  std::vector<JobComparison> take_comparisons() { return std::exchange(comparisons_, {}); }
  const State& state() const { return state_; }

 private:
  enum class Judged : std::uint8_t { kNo, kSame, kDifferent };
  void compare(const Plan& recorded, const Plan& other);
  void align(const State& recorded, JobId job, Millis now);
  void align_nominations(const State& recorded, Millis now);

  State state_;
  Engine engine_;
  std::vector<Judged> judged_;                         ///< by job
  std::vector<Verdict> recorded_verdicts_, verdicts_;  ///< by job: last reported
  std::vector<JobComparison> comparisons_;
};

}  // namespace ashlar::store
