// Engine: decide(state, now) -> Plan with reasons, a pure function of the profile and of the events seen so far. A
// decision is the profile's list of stages, run over plain EngineData. Cost: O(changes since the last call + jobs that
// can be helped), not O(waiting jobs).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/data.h"
#include "engine/stage.h"
#include "model/plan.h"
#include "state/state.h"
#include "state/trial.h"

namespace ashlar {

class Engine {
 public:
  explicit Engine(Profile profile, EngineOptions options = {});
  Engine(Engine&&) noexcept;
  /// For what-if: with a copy of the state it decides like the original.
  Engine(const Engine&);
  ~Engine();

  /// One decision. `now` must not run backwards. The plan is assumed in the state, so that the next decision builds on
  /// it; its actual outcome comes back as events.
  Plan decide(State& state, Millis now);

  const Profile& profile() const { return *data_.profile; }
  EngineOptions& options() { return data_.options; }
  const EngineOptions& options() const { return data_.options; }
  std::span<const Stage> stages() const { return stages_; }
  /// What to do, with the job that was being decided, when a decision breaks the one inviolable rule (`within`): a bug,
  /// for which the process stops right afterwards. Changes no decision.
  void before_stop(std::function<void(JobId)> call) { data_.before_stop = std::move(call); }
  /// The last verdict on a waiting job (with has_verdicts), as reported in plans and with its numbers as of the last
  /// look; kPending if it was not looked at yet. Plans, conditions, `why` and cases all report this one.
  Verdict verdict_of(JobId job) const;
  /// The same with the numbers of this moment, for `why`: what is short is recounted, O(nodes x rules). No decision
  /// depends on it.
  Verdict verdict_with_numbers_of_now(State& state, JobId job);
  /// Number of times it was not settled whether a waiting job could run on the empty cluster.
  std::uint64_t unproven_count() const { return data_.unproven; }
  std::size_t put_off_count() const { return data_.costly.put_off_count(); }
  /// Number of decisions that ended at the limit of rounds in which held jobs are woken, and went on a second later.
  std::uint64_t cut_short_count() const { return data_.cut_short; }
  void limit_wake_rounds(std::uint32_t rounds_max) { data_.wake_rounds_max = rounds_max; }      // for tests
  void limit_woken_at_once(std::size_t classes_max) { data_.woken_at_once_max = classes_max; }  // for tests
  void limit_costly(const CostlyLimits& limits) { data_.costly_limits = limits; }               // for tests
  void limit_explained(std::size_t nodes_max) { data_.nodes_explained_max = nodes_max; }        // for tests
  const PendingQueue& pending() const { return data_.pending; }
  /// Reservations made so far (blocking: easy).
  std::span<const Reservation> reservations() const { return data_.reservations.all(); }
  const Reservations& reservation_book() const { return data_.reservations; }

  /// Tries to place the waiting members of a job by the profile's rules inside the trial; false leaves the trial
  /// unchanged. For tests; ignores order, quota and reservations.
  bool try_place(Trial& trial, JobId job);
  FitTables& fit_tables() { return data_.fit_tables; }

 private:
  friend struct EngineFields;

  EngineData data_;
  std::vector<Stage> stages_;
};

}  // namespace ashlar
