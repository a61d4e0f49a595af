// Promises: reservations for jobs that cannot start yet (EASY backfill). The first waiting job of a queue is promised the earliest time at which, by the
// ends known now, it can be placed: within its quota, on named nodes, with its constraints and topology wishes, not by a count of cards. A job behind
// it that would still run then may start only on what the promise leaves over. A promise stays as made until something unforeseen happens, so one that was made
// is kept as long as running jobs end by their known ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/agenda.h"
#include "engine/placement.h"

namespace ashlar {

struct Promise {
  /// What a node has left at the promised time, with the promised job on it; out of reach (kPlenty) for what that job does not ask.
  struct Spare {
    NodeId node;
    std::int64_t cards = 0;
    std::vector<std::int64_t> amounts;  ///< by ResourceId
  };
  /// What a queue above the job has left at the promised time, with the promised job counted; kPlenty where it has no limit.
  struct QuotaSpare {
    QueueId queue;
    QuotaVector left{};
  };
  static constexpr std::int64_t kPlenty = std::int64_t{1} << 60;

  Agenda::Entry entry;  ///< of the job, when it was made
  ShapeKey shape;
  Millis made_at;
  Millis at = Millis::max();             ///< max(): no known end brings it, so nobody need wait for it
  std::uint64_t gains_seen = 0;          ///< State::gains() then
  std::uint64_t queue_changes_seen = 0;  ///< QueueTree::change_count() then
  std::vector<Spare> spares;             ///< by NodeId: the nodes where the job will sit
  std::vector<QuotaSpare> quota_spares;  ///< its queue and those above that have a limit

  /// Does it hold if these placements last beyond it?
  bool allows(const State& state, std::span<const Trial::Step> steps) const;
  /// Have the queues above the promised job quota enough for what another one needs at least, beyond the promise?
  bool spares_quota_for(const State& state, JobId job) const;
  /// Keeps from whoever is placed in the trial what the promised job needs of the capacity that is free now.
  void withhold(Trial& trial) const;
  /// These placements last beyond it: less is left over.
  void charge(const State& state, std::span<const Trial::Step> steps);
};

class Promises {
 public:
  /// So many jobs hold a promise at a time, the first in order; later ones wait unprotected. Bounds the work of a decision.
  static constexpr std::size_t kMax = 8;
  /// Jobs that end early and new nodes make room for an earlier promise; it is worked out again at most this often.
  static constexpr Millis kRenewedAfter{1000};

  /// Forgets promises whose nodes changed, and those to jobs that no longer wait. `losses` are the nodes that something unforeseen took from.
  void refresh(const State& state, const Agenda& agenda, std::span<const NodeId> losses);
  /// The promise to a blocked job, made now if there is none. `context.trial` is empty and stays so.
  const Promise& to(const PlacementContext& context, const Agenda::Head& blocked, const ShapeKey& shape, Millis now);
  /// These placements were decided and last until `end`: promises to jobs ahead of `entry` have less left over, later ones must be worked out again.
  void account(const State& state, const Agenda::Entry& entry, Millis end, std::span<const Trial::Step> steps);

  /// nullptr if the job holds none.
  const Promise* find(JobId job) const;
  std::span<const Promise> all() const { return promises_; }

 private:
  friend struct EngineMemory;
  std::vector<Promise> promises_;
};

}  // namespace ashlar
