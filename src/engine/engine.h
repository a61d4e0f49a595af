// Engine: decide(state, now) -> Plan with reasons. A pure function of the profile and of the events seen so far: no clock, no I/O, no lock. It keeps
// only what can be rebuilt from the state: the pending queue (who waits, in order, grouped by class) and the fit tables (scores and fits per demand).
// decide assumes its own plan in the state, so that the next call builds on it; the world's answer comes back as events.
// Cost: O(changes since the last call + jobs that can be helped), not O(waiting jobs).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "engine/place/fit_table.h"
#include "engine/reserve/reservation.h"
#include "model/plan.h"
#include "policy/profile.h"
#include "state/state.h"
#include "state/trial.h"

namespace ashlar {

struct Cycle;

struct EngineOptions {
  /// A step stops after this many binds (a gang is never cut), so that newcomers of higher priority get their turn. The rest is decided next time.
  std::uint32_t binds_per_step_max = UINT32_MAX;
  /// Work out and report reasons for waiting jobs. Simulations that only count turn it off.
  bool has_verdicts = true;
};

class Engine {
 public:
  explicit Engine(Profile profile, EngineOptions options = {});
  Engine(Engine&&) = default;

  /// One decision. `now` must not run backwards.
  Plan decide(State& state, Millis now);

  const Profile& profile() const { return *profile_; }
  EngineOptions& options() { return options_; }
  const EngineOptions& options() const { return options_; }
  /// What to do, with the job it was decided for, when a decision breaks the rule that none may break (`within`): a bug, for which the process stops
  /// right afterwards. Changes no decision.
  void before_stop(std::function<void(JobId)> call) { before_stop_ = std::move(call); }
  /// The last verdict on a waiting job (with has_verdicts), as the plans told it and with its numbers as of the last look; kPending where it was not
  /// looked at yet. Plans, conditions, `why` and cases all say this.
  Verdict verdict_of(JobId job) const;
  /// The same with the numbers of this moment, for who asks why: what is short is counted anew, O(nodes x rules). Nothing is decided by it.
  Verdict verdict_with_numbers_of_now(State& state, JobId job);
  /// How often it was not settled whether a job that waits could run on the empty cluster.
  std::uint64_t unproven_count() const { return unproven_; }
  const PendingQueue& pending() const { return pending_; }
  /// Reservations made so far (blocking: easy).
  std::span<const Reservation> reservations() const { return reservations_.all(); }
  const Reservations& reservation_book() const { return reservations_; }

  /// Tries to place the waiting members of a job by the profile's rules inside the trial; false leaves the trial unchanged.
  /// For what-if and tests; ignores order, quota and reservations.
  bool try_place(Trial& trial, JobId job);
  FitTables& fit_tables() { return fit_tables_; }

 private:
  friend struct EngineFields;
  static constexpr std::size_t kProofsMax = 16;  ///< of one decision, of what was found never to fit
  void absorb_changes(State& state);
  void requeue(State& state, Cycle& cycle);
  /// Adds the classes that were found never to fit, and might on the present nodes. Cost: kProofsMax proofs; the rest has its turn in the next decisions.
  void find_possible(const State& state, Cycle& cycle, std::vector<ClassId>& found);
  /// Was the blocked head judged on nodes that have come, gone or changed since?
  bool is_outdated(const State& state, const PendingQueue::Head& head) const;
  /// Activates the first blocked head of the queue if it is outdated and can never run any more, so that it blocks nobody and is told so; then the next.
  /// Has it activated any? Cost: a proof for each head looked at, O(1) where it is not outdated.
  bool activate_impossible_heads(const State& state, Cycle& cycle, QueueId queue);
  /// The same for each queue.
  bool activate_impossible_heads(const State& state, Cycle& cycle);
  bool has_room(const State& state, FitTable& view, const EquivalenceClass& key) const;
  void advance(State& state, Cycle& cycle);
  /// Its queue does not take the class's first job: it waits, or never runs, and the verdict says why. False if the queue takes it.
  bool close_for_quota(State& state, Cycle& cycle, const PendingQueue::Head& head);
  /// No place was found for the class's first job: it waits, or never fits, and the verdict says why.
  void park_for_shortage(State& state, Cycle& cycle, const PendingQueue::Head& head, bool is_limit_reached);
  bool all_waiting_came(const State& state, Millis now) const;
  void advance_job(State& state, Cycle& cycle, const PendingQueue::Head& head);
  bool may_backfill_by_count(const State& state, Cycle& cycle, const PendingQueue::Head& head);
  /// Other schedulers' nominations hold their nodes against jobs of their priority and below only: tries without those that the job outranks.
  /// The trial then says whose claims fall, and where the job goes; it is empty if that does not help.
  bool place_over_nominations(State& state, Trial& trial, JobId job);
  static bool outranks_a_nomination(const State& state, JobId job);
  /// Jobs of a class are alike but for their priority, which may not be what orders them: the first behind `than` before which more nominations fall.
  /// None where `than` is not to be passed, that is unless who does not fit blocks nobody.
  std::optional<PendingQueue::Entry> first_that_outranks_more(const State& state, const PendingQueue::Class& job_class,
                                                              const PendingQueue::Entry& than) const;
  /// Lists in cycle.binding whose promises the job could break; false if it is clear already that it would.
  bool find_binding_reservations(State& state, Cycle& cycle, const PendingQueue::Head& head);
  /// The first of them that does not hold with what the trial has placed; nullptr if all do.
  const Reservation* broken_reservation(const State& state, const Cycle& cycle, const Trial& trial, Beside beside) const;
  /// Do they hold with the job where the trial has placed it, or else where it is placed with what was promised blocked? If not, the trial is empty
  /// and the job told until when it is held.
  bool place_beside_reservations(State& state, Cycle& cycle, const PendingQueue::Head& head, Trial& trial);
  /// Tells the job until when it is held by this reservation, and looks again when one of those that bind it may change.
  void hold(const State& state, Cycle& cycle, const PendingQueue::Head& head, const Reservation& reservation);
  void commit(State& state, Cycle& cycle, Trial& trial, const PendingQueue::Entry& entry);
  void preempt_by_count(State& state, Cycle& cycle);
  void park(const State& state, Cycle& cycle, ClassId job_class, const Verdict& verdict);
  /// Keeps the verdict, and adds it to the plan unless the job's last one was of the same kind and reason.
  void report(Cycle& cycle, JobId job, const Verdict& verdict);
  void report_newcomers(const State& state, Plan& plan);

  std::unique_ptr<Profile> profile_;  ///< pending queue and views refer to it
  EngineOptions options_;
  PendingQueue pending_;
  FitTables fit_tables_;
  Reservations reservations_;
  Rng draws_;
  std::uint64_t queue_changes_seen_ = 0;
  std::uint64_t redefinitions_seen_ = 0;
  /// Cluster::facts_change_count() at the last decision, and by class when its first job was last judged.
  std::uint64_t facts_seen_ = 0;
  std::vector<std::uint64_t> judged_on_;
  std::uint64_t heads_walked_on_ = 0;  ///< the same when all blocked heads were last looked at; not kept in a snapshot, only costs a walk
  /// Classes found never to fit, of which a node that came or changed could take a member.
  std::set<ClassId> to_prove_;
  std::function<void(JobId)> before_stop_;
  std::uint64_t unproven_ = 0;
  /// The last verdict on a job in short. In full it is kept by the parked class; one on a job of an active class has one number at most.
  struct Told {
    std::uint16_t mark = 0;  ///< kind and first reason; 0 = none
    Millis at;
    std::int64_t number = 0;
  };
  static std::uint16_t mark_of(const Verdict& verdict);
  std::vector<Told> told_;  ///< by job
};

}  // namespace ashlar
