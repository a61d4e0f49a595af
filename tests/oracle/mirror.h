// Mirror: the plain world that an engine has been told of, kept up to date event by event and plan by plan, to judge
// what it decides and what it says.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.h"
#include "plain.h"
#include "state/state.h"

namespace ashlar::oracle {

/// How waiting jobs are ordered; among equals none is said to be first.
enum class PlainOrder : std::uint8_t { kPriorityAge, kFifo, kSjf };

/// From when on a waiting job is to run.
struct PlainReservation {
  int job = 0;
  std::int64_t at_ms = 0;
};

/// What reasons are judged by besides the world.
struct Judging {
  bool has_true_reasons = true;  ///< false where the profile stops jobs: its reasons are not judged
  PlainOrder order = PlainOrder::kPriorityAge;
  std::vector<PlainReservation> reservations;  ///< held before or after the decision
  std::vector<MemberId> nominated;             ///< after it
};

/// Reasons looked at, and those that nobody judged.
struct Heard {
  std::map<ReasonCode, long> judged;
  long not_new = 0;                   ///< verdicts reached, and judged, when another job of the kind was looked at
  long of_stoppers = 0;               ///< verdicts of profiles that stop jobs
  std::map<ReasonCode, long> passed;  ///< of codes for which there is no judge
};

class Mirror {
 public:
  /// Definitions are those of `drawn`; nodes and jobs come by events. Jobs and nodes are rows of the world.
  explicit Mirror(const PlainWorld& drawn);

  void tell(const Event& event);
  /// Carries the plan out. Empty, or the first rule that it breaks or the first reason that was not true at any moment
  /// of the decision.
  std::string carry_out(const Plan& plan, const Judging& judging);
  const Heard& heard() const { return heard_; }
  /// Empty, or where the state is not as it was reported.
  std::string difference(const State& state) const;
  /// Jobs that could still place something: enough members are there, and not all have a node.
  std::vector<int> waiting() const;
  /// Of a plan that was carried out, where nobody is held for others: empty, or a job ahead of one that was started
  /// that could have run in its place. Order is by priority, then submission; `is_strict`: nobody passes the first of
  /// its queue.
  std::string passed_over(const Plan& plan, bool is_strict) const;
  /// Nothing runs, so nothing more will come free.
  bool is_idle() const;
  const PlainWorld& world() const { return world_; }
  long falls() const { return falls_; }

 private:
  friend struct MirrorNews;
  std::pair<int, int> find(MemberId member) const;  ///< job and rank; kNowhere where it is not there
  void take_off(int job);
  std::string start(const std::vector<Bind>& binds, const std::vector<MemberId>& nominated_after);
  bool fall_to(int job, const std::vector<Bind>& binds, const std::vector<MemberId>& nominated_after);

  PlainWorld world_;
  std::vector<std::vector<MemberId>> ids_;  ///< by job and rank
  std::vector<std::uint8_t> is_live_;       ///< by job
  std::vector<std::vector<std::uint8_t>> is_bound_;
  std::vector<std::uint8_t> has_run_;  ///< by job
  std::map<MemberId, int> job_of_;
  std::map<GangSpecId, std::vector<PlainGroup>> specs_;
  Heard heard_;
  long falls_ = 0;  ///< of nominations, to jobs that outranked them
};

/// Does `one` wait for members that it needs, and at least as far ahead as `other`?
bool waits_ahead(const PlainWorld& world, PlainOrder order, int one, int other);
/// Empty, or what is not true about a reason for which the job is said to wait. `heard`, if given, counts them.
std::string untrue(const PlainWorld& world, int job, const Verdict& verdict, const Judging& judging,
                   Heard* heard = nullptr);

}  // namespace ashlar::oracle
