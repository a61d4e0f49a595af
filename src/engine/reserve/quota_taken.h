// QuotaTaken: what placements take of their queue's limits, and whether a reservation leaves that much.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/reserve/reservation.h"

namespace ashlar {

/// The usage of placements, all of one job, in its queue; none if there are none.
struct QuotaTaken {
  JobId job;
  QueueId queue;
  QuotaVector amounts{};
  std::vector<std::int64_t> by_key = {};
};
QuotaTaken quota_taken(const State& state, std::span<const Trial::Step> steps);

/// Whether the queue has an amount of one key left for the taker.
struct KeyTaken {
  JobId job;
  QueueId queue;  ///< its own
  std::int64_t amount = 0;
};
bool has_by_key(const State& state, const Reservation& reservation, const Reservation::QuotaSpare& spare,
                std::size_t key, const KeyTaken& taken);

/// What was taken lasts beyond the reservation: less is left over, and kept.
void charge_quota(const State& state, Reservation& reservation, const QuotaTaken& taken);

/// Whether every queue above the reservation's job has this much left for the taker, beyond what others reserved.
bool has_quota_for(const State& state, const Reservation& reservation, const QuotaTaken& taken);

}  // namespace ashlar
