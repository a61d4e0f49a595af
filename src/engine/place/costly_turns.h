// CostlyTurns: gangs whose search finds no place, again and again, while others wait. Each tenant may spend a little at
// any time; beyond that first searches and further ones have a share of the time each, of which each tenant has its
// part, and each of its gangs its turn. Gangs that are put off stay active.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/quantity.h"
#include "state/state.h"

namespace ashlar {

/// What may be spent in one decision, in looks: each of one kind of members at one node, about 65 ns.
struct CostlyLimits {
  std::size_t at_once_max = 640'000;  ///< by first searches, and by further ones; one that exceeds it is made whole
  std::size_t own_max = 80'000;       ///< by each tenant, whatever others spend
};

class CostlyTurns {
 public:
  /// Adds what has become due since the last decision.
  void refill(Millis now, const CostlyLimits& limits);
  /// Whether it is the job's turn; it is put off else.
  bool take_turn(const State& state, JobId job);
  /// A job has found a place: those that were put off in this decision, are of other tenants and have a higher
  /// priority, of each tenant the first. They have their turn before it starts, as if they were not searched for yet; a
  /// few in a decision, as long as something of that share is left.
  std::vector<JobId> take_ahead_of(const State& state, JobId job);
  /// The search that followed found no place, at that cost.
  void note_failed(const State& state, JobId job, std::uint64_t looks);
  /// The job does not wait any more.
  void forget(JobId job) { searched_at_.erase(job); }
  /// The decision has gone through all that it was to look at. When to look at those that were put off in it; max() if
  /// none was.
  Millis next_turn();
  /// In the last decision.
  std::size_t put_off_count() const { return put_off_count_; }

 private:
  friend struct EngineFields;
  /// Who pays for a search: the job's tenant; its queue where that is not known.
  struct Payer {
    std::uint32_t tenant = 0;
    QueueId queue;
    friend auto operator<=>(const Payer&, const Payer&) = default;
  };
  /// What may be spent, in looks; below 0: more was than was due.
  struct Share {
    std::int64_t left = std::int64_t{1} << 48;
    void refill(Millis passed, std::int64_t per_milli, std::int64_t most);
    Millis wait(std::int64_t per_milli) const { return left > 0 ? Millis(0) : Millis(-left / per_milli + 1); }
  };
  struct OfPayer {
    std::int64_t spent = 0;    ///< more than the payer that has spent least of those with jobs that were put off
    bool is_behind = false;    ///< it had spent more before this decision: others have their part first
    std::set<JobId> had_turn;  ///< in this round
  };
  struct PutOff {
    bool has_new = false, has_others = false, has_one_without_turn = false;
    JobId first;  ///< in the order of the decision; none: it has its turn after all
  };
  static Payer payer_of(const State& state, JobId job);
  bool is_new(const State& state, JobId job) const;
  bool has_own_left(const Payer& payer) const;
  bool is_first_due() const { return first_.left > 0 && at_once_left_ > 0; }

  Share first_, further_;
  Millis at_;                            ///< of the last refill
  bool is_short_ = false;                ///< something was put off in the last decision
  std::map<JobId, Millis> searched_at_;  ///< last; a job that was submitted later has its row now
  std::map<Payer, OfPayer> payers_;
  std::map<Payer, Share> own_;  ///< of those that have not got all of theirs
  // of this decision
  std::int64_t at_once_left_ = 0;  ///< for first searches
  std::int64_t own_max_ = 0, own_per_milli_ = 1;
  std::map<Payer, PutOff> put_off_;
  std::size_t put_off_count_ = 0;
  std::vector<JobId> ahead_;  ///< see take_ahead_of; those that were searched for are gone from it
  std::size_t ahead_left_ = 0;
};

}  // namespace ashlar
