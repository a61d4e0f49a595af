// Reservations: reservations for jobs that cannot start yet (EASY backfill). The first waiting job of a queue is promised the earliest time at which
// it can be placed on named nodes, by the expected ends, its quota, constraints and topology; a job behind it that may still run then starts only on
// what is left over. A reservation changes only when something unforeseen happens, so it holds as long as running jobs end by their expected ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "engine/place/placement.h"

namespace ashlar {

/// How far other jobs are kept off a reservation.
enum class Beside : std::uint8_t {
  kItsDevices,  ///< off the devices where promised shares are expected, whatever else fits on them
  kItsNeeds,    ///< so that the promised job still fits
};

/// How a job is placed that would break a reservation where it fits best. The last try blocks nothing: promised shares may find other devices than
/// those where they are expected.
struct TryBesideReservations {
  Beside beside;
  bool blocks;
};
inline constexpr TryBesideReservations kTriesBesideReservations[] = {
    {Beside::kItsDevices, true}, {Beside::kItsNeeds, true}, {Beside::kItsNeeds, false}};

struct Reservation {
  /// Free compute and memory of one device.
  struct DeviceRoom {
    std::int32_t milli = 0;
    std::int64_t mib = 0;
  };
  /// What a member of a promised job will take of a node.
  struct Claim {
    JobId job;
    Demand demand;
  };
  /// What a node has free at the promised time, without the claims; unlimited (kPlenty) for amounts that the job does not request.
  struct Room {
    std::int64_t owed = 0;              ///< idle devices that belong to pods whose devices are not known
    std::vector<DeviceRoom> devices;    ///< by device; none if the job requests no devices
    std::vector<std::int64_t> amounts;  ///< by ResourceId
  };
  /// A node reserved for the job.
  struct Spare {
    NodeId node;
    Room room;
    std::vector<Claim> claims;  ///< of this job, and of other promised jobs that run there at that time
  };
  /// What a queue above the job has left at the promised time, with the promised job counted; kPlenty if it has no limit.
  struct QuotaSpare {
    QueueId queue;
    QuotaVector left{};
  };
  /// Another promised job that will have started by then and counts against the same queues.
  struct QuotaClaim {
    JobId job;
    QueueId queue;  ///< its own
    QuotaVector amounts{};
  };
  struct Place {
    MemberId member;
    NodeId node;
  };
  static constexpr std::int64_t kPlenty = std::int64_t{1} << 59;  ///< freed amounts may be added; the decision log takes up to 2^60

  PendingQueue::Entry entry;  ///< of the job, when it was made
  EquivalenceClass job_class;
  QueueId limiting;  ///< the job waits for quota of this one, and its reservation binds only jobs below it; none: binds all
  Millis made_at;
  Millis at = Millis::max();                ///< max(): no expected end allows it, so no job need wait for it
  Millis ends = Millis::max();              ///< when the job, started then, is expected to end, by the median
  Millis lasts = Millis::max();             ///< by when it will have ended in nine of ten cases
  std::uint64_t unforeseen_frees_seen = 0;  ///< State::unforeseen_frees() then
  std::uint64_t queue_changes_seen = 0;     ///< QueueTree::change_count() then
  std::vector<Place> places;                ///< where its members will be placed
  std::vector<Spare> spares;                ///< by NodeId: those nodes
  std::vector<QuotaSpare> quota_spares;     ///< its queue and those above that have a limit
  std::vector<QuotaClaim> quota_claims;
  bool may_be_earlier = false;  ///< a job ahead has started since, perhaps on other nodes than those kept for it

  /// Whether something has happened since that might change it.
  bool has_news(const State& state, Millis now) const { return unforeseen_frees_seen != state.unforeseen_frees() || at <= now; }
  bool is_due(const State& state, Millis now) const;
  /// When it is worth another look, if nothing else happens until then.
  Millis next_look(const State& state, Millis now) const;
  /// The promised time for reports: never a time that has passed.
  Millis told_at(Millis now) const;
  /// Whether it would be useless for a job of that queue to keep off. A job that waits for quota is delayed only by jobs under the same limit.
  bool concerns(const State& state, QueueId queue) const { return limiting.is_none() || state.queues().is_within(queue, limiting); }

  /// Whether it holds if these placements, all of one job, last beyond it.
  bool allows(const State& state, std::span<const Trial::Step> steps, Beside beside) const;
  /// Whether the queues above the promised job have quota for another one's minimum needs beyond the reservation.
  bool spares_quota_for(const State& state, JobId job) const;
  /// Keeps from the job that is placed in the trial next what the reservation needs of the capacity that is free there.
  void block(Trial& trial, JobId from, Beside beside) const;
  /// These placements last beyond it: less is left over.
  void charge(const State& state, std::span<const Trial::Step> steps);
  /// Whether it has claims of shares, which need a specific device.
  bool has_shares() const;
};

class Reservations {
 public:
  /// At most this many jobs hold a reservation at a time, the first in order; later ones wait unprotected. Bounds the work of a decision.
  static constexpr std::size_t kMax = 8;
  /// Jobs that end earlier or later than expected and new nodes change when there is capacity; a reservation is recomputed at most this often.
  static constexpr Millis kRenewedAfter{1000};

  /// Drops reservations whose nodes changed, and those of jobs that no longer wait. `changed_nodes` are the nodes whose capacity something unforeseen
  /// reduced.
  void refresh(const State& state, const PendingQueue& pending, std::span<const NodeId> changed_nodes);
  /// The first waiting jobs of queues, in order, that come before a job of that queue and have a reservation against it, or are to get one.
  std::vector<PendingQueue::Head> heads_ahead(const State& state, const PendingQueue& pending, const PendingQueue::Entry& entry, QueueId queue) const;
  /// The reservation of such a job, made now if there is none, beside those of jobs ahead of it. `context.trial` is empty and stays so.
  const Reservation& to(const PlacementContext& context, const PendingQueue& pending, const PendingQueue::Head& blocked, Millis now);
  /// These placements were decided and last until `end` at most: reservations of jobs ahead of `entry` have less left over, later ones must be
  /// recomputed.
  void account(const State& state, const PendingQueue::Entry& entry, Millis end, std::span<const Trial::Step> steps);

  /// nullptr if the job holds none.
  const Reservation* find(JobId job) const;
  std::span<const Reservation> all() const { return reservations_; }

 private:
  friend struct EngineFields;
  /// Drops those selected by the predicate and all behind the first of them, which were made beside it.
  template <class Predicate>
  void drop(Predicate&& is_dropped);
  /// Drops those selected by the predicate and no others.
  template <class Predicate>
  void forget(Predicate&& is_forgotten);
  /// Whether the promised job can start before the promised time at present. `context.trial` is empty and stays so.
  bool can_be_earlier(const PlacementContext& context, const Reservation& reservation, Millis now) const;
  /// The queue whose quota that head waits for: its reservation binds only jobs of that queue; none: it binds all. A reservation against all stays
  /// so. `made`: the reservation it has, if the caller has it at hand.
  QueueId limiting(const PendingQueue& pending, const PendingQueue::Head& blocked, const Reservation* made) const;
  /// Those beside which a reservation of this job must be made.
  std::vector<const Reservation*> ahead_of(const State& state, const PendingQueue::Entry& entry, QueueId queue) const;

  std::vector<Reservation> reservations_;
};

}  // namespace ashlar
