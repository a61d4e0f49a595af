#include "engine/reserve/quota_taken.h"

#include <algorithm>

#include "engine/quota.h"

namespace ashlar {

QuotaTaken quota_taken(const State& state, std::span<const Trial::Step> steps) {
  QuotaTaken taken;
  each_placement(steps, [&](const Trial::Placement& step) {
    const Member& m = state.member(step.member);
    taken.job = m.job;
    taken.queue = state.job(m.job).queue;
    add_saturated(taken.amounts, state.quota_of_demand(m.demand));
    add_by_key(state, step.member, step.node, step.devices, taken.by_key);
  });
  return taken;
}

bool has_by_key(const State& state, const Reservation& reservation, const Reservation::QuotaSpare& spare,
                std::size_t key, const KeyTaken& taken) {
  std::int64_t left = spare.left_by_key[key];
  for (const Reservation::QuotaClaim& claim : reservation.quota_claims)
    if (key < claim.by_key.size() && claim.job != taken.job && state.queues().is_within(claim.queue, spare.queue))
      left -= claim.by_key[key];
  return taken.amount == 0 || taken.amount <= left;
}

bool has_quota_for(const State& state, const Reservation& reservation, const QuotaTaken& taken) {
  return std::all_of(reservation.quota_spares.begin(), reservation.quota_spares.end(),
                     [&](const Reservation::QuotaSpare& spare) {
                       if (taken.queue.is_none() || !state.queues().is_within(taken.queue, spare.queue)) return true;
                       QuotaVector left = spare.left;
                       for (const Reservation::QuotaClaim& claim : reservation.quota_claims)
                         if (claim.job != taken.job && state.queues().is_within(claim.queue, spare.queue))
                           for (std::size_t d = 0; d < kQuotaDimensions; ++d) left[d] -= claim.amounts[d];
                       for (std::size_t d = 0; d < kQuotaDimensions; ++d)
                         if (taken.amounts[d] > 0 && taken.amounts[d] > left[d]) return false;
                       for (std::size_t k = 0; k < std::min(taken.by_key.size(), spare.left_by_key.size()); ++k)
                         if (!has_by_key(state, reservation, spare, k, {taken.job, taken.by_key[k]})) return false;
                       return true;
                     });
}

}  // namespace ashlar
