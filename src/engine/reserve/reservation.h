// Reservation: the time and nodes reserved for a job that cannot start yet, and what is left over beside it for jobs
// behind (EASY backfill). It changes only when something unforeseen happens, so it holds as long as running jobs end by
// their late ends (p90).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "engine/place/placement.h"
#include "engine/reserve/seating.h"
#include "policy/node_view.h"

namespace ashlar {

/// How far other jobs are kept off a reservation.
enum class Beside : std::uint8_t {
  kItsDevices,  ///< off the devices where reserved shares are expected, whatever else fits on them
  kItsNeeds,    ///< so that the reservation's job still fits
};

/// How a job is placed that would break a reservation where it fits best. The last try blocks nothing: reserved shares
/// may find other devices than those where they are expected.
struct TryBesideReservations {
  Beside beside;
  bool blocks;
};
inline constexpr TryBesideReservations kTriesBesideReservations[] = {
    {Beside::kItsDevices, true}, {Beside::kItsNeeds, true}, {Beside::kItsNeeds, false}};

/// What the member takes of the node if it is placed there.
ReservedClaim claim_of(const State& state, MemberId member, NodeId node);

struct Reservation {
  using Claim = ReservedClaim;
  using Room = ReservedRoom;  ///< unlimited (kPlenty) for amounts that the job does not request
  /// A node reserved for the job.
  struct Spare {
    NodeId node;
    Room room;
    std::vector<Claim> claims;  ///< of this job, and of other jobs with reservations that run there at that time
    friend bool operator==(const Spare&, const Spare&) = default;
  };
  /// What a queue above the job has left at the reserved time, with the reservation's job counted; kPlenty if it has no
  /// limit.
  struct QuotaSpare {
    QueueId queue;
    QuotaVector left{};
    std::vector<std::int64_t> left_by_key = {};  ///< by QueueTree::keys(); plenty of those not listed
    friend bool operator==(const QuotaSpare&, const QuotaSpare&) = default;
  };
  /// What a queue keeps for itself at the reserved time: as much of what it takes does not count against its ancestors.
  struct QuotaKept {
    QueueId queue;
    std::int64_t number = 0;  ///< of what, see quota_number
    std::int64_t amount = 0;
    friend bool operator==(const QuotaKept&, const QuotaKept&) = default;
  };
  /// Another job with a reservation that will have started by then and counts against the same queues.
  struct QuotaClaim {
    JobId job;
    QueueId queue;  ///< its own
    QuotaVector amounts{};
    std::vector<std::int64_t> by_key = {};
    friend bool operator==(const QuotaClaim&, const QuotaClaim&) = default;
  };
  struct Place {
    MemberId member;
    NodeId node;
    DeviceMask devices = {};  ///< where those of the node are not all alike
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// Jobs that end earlier or later than expected and new nodes change when there is capacity; a reservation is
  /// recomputed at most this often.
  static constexpr Millis kRenewedAfter{1000};
  /// freed amounts may be added; the decision log takes up to 2^60
  static constexpr std::int64_t kPlenty = std::int64_t{1} << 59;

  PendingQueue::Entry entry;  ///< of the job, when it was made
  EquivalenceClass job_class;
  /// the job waits for quota of this one, and its reservation binds only jobs below it; none: binds all
  QueueId limiting;
  Millis made_at;
  Millis at = Millis::max();     ///< max(): no expected end allows it, so no job need wait for it
  Millis ends = Millis::max();   ///< when the job, started then, ends, by the same ends as those before it
  Millis lasts = Millis::max();  ///< by when it will have ended in nine of ten cases
  /// From when on the job has waited so long that it holds nodes although nobody knows when they are free.
  Millis holds_from = Millis::max();
  bool is_draining = false;  ///< it does: `at` says since when, and nothing is brief enough to start on its nodes
  std::uint64_t unforeseen_frees_seen = 0;  ///< State::unforeseen_frees() then
  std::uint64_t queue_changes_seen = 0;     ///< QueueTree::change_count() then
  std::vector<Place> places;                ///< where its members will be placed
  std::vector<Spare> spares;                ///< by NodeId: those nodes
  std::vector<QuotaSpare> quota_spares;     ///< its queue and those above that have a limit
  std::vector<QuotaKept> quota_kept;        ///< of all queues
  std::vector<QuotaClaim> quota_claims;
  bool may_be_earlier = false;  ///< a job ahead has started since, perhaps on other nodes than those kept for it
  std::uint64_t edition = 0;    ///< another number when anything but a placement changes what it leaves to others

  /// Whether something has happened since that might change it. What drains waits for ends of which none is foreseen.
  bool has_news(const State& state, Millis now) const {
    return unforeseen_frees_seen != state.unforeseen_frees() || (at <= now && !is_draining);
  }
  bool is_due(const State& state, Millis now) const;
  /// When it is worth another look, if nothing else happens until then.
  Millis next_look(const State& state, Millis now) const;
  /// The reserved time for reports: never a time that has passed; max() if it is not known.
  Millis reserved_at(Millis now) const;
  /// Whether it would be useless for a job of that queue to keep off. A job that waits for quota is delayed only by
  /// jobs under the same limit.
  bool concerns(const State& state, QueueId queue) const {
    return limiting.is_none() || state.queues().is_within(queue, limiting);
  }

  /// Whether it makes room for that job, reserved behind it.
  bool has_claims_of(JobId job) const {
    return std::any_of(quota_claims.begin(), quota_claims.end(), [&](const QuotaClaim& c) { return c.job == job; });
  }
  /// Whether it leaves to others what that one leaves.
  bool is_like(const Reservation& other) const {
    return limiting == other.limiting && at == other.at && is_draining == other.is_draining && ends == other.ends &&
           lasts == other.lasts && places == other.places && spares == other.spares &&
           quota_spares == other.quota_spares && quota_kept == other.quota_kept && quota_claims == other.quota_claims;
  }
  /// Lowers, for each of these nodes, the count of members of that demand to what fits there beside it, were they to
  /// last beyond it: never too low, and exact but for shares of devices. Claims of the member's own job are counted.
  void lower_by_claims(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) const;

  /// Whether it holds if these placements, all of one job, last beyond it.
  bool allows(const State& state, std::span<const Trial::Step> steps, Beside beside) const;
  /// Whether the queues above the reservation's job have quota for another one's minimum needs beyond the reservation.
  bool spares_quota_for(const State& state, JobId job) const;
  /// Keeps from the job that is placed in the trial next what the reservation needs of the capacity that is free there.
  void block(Trial& trial, JobId from, Beside beside) const;
  /// These placements last beyond it: less is left over.
  void charge(const State& state, std::span<const Trial::Step> steps);
  /// Whether it has claims of shares, which need a specific device.
  bool has_shares() const;
  /// Whether the reservation's job takes exactly the nodes that were reserved for it.
  bool has_places_of(std::span<const Trial::Step> steps) const;
  /// What its nodes and the queues above the job have left over, with the job and those reserved beside it placed in
  /// the trial.
  void note_spares(const State& state, std::span<const Trial::Step> steps);
  void note_quota_spares(const State& state);
  /// The reserved node; nullptr if it is another.
  Spare* find(NodeId node);
  const Spare* find(NodeId node) const;
};

}  // namespace ashlar
