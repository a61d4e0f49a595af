#include "engine/reserve/quota_taken.h"

#include <algorithm>

#include "engine/quota.h"

namespace ashlar {
namespace {

using KeptQuota = std::vector<Reservation::QuotaKept>;

std::int64_t* kept_of(KeptQuota& kept, QueueId queue, std::int64_t number) {
  const auto it = std::ranges::find_if(kept, [&](const auto& k) { return k.queue == queue && k.number == number; });
  return it == kept.end() ? nullptr : &it->amount;
}

/// How much of the amount counts at that queue: the rest is what queues on the way there keep for themselves, and what
/// is taken of that is no longer kept.
std::int64_t take_kept(const State& state, KeptQuota& kept, QueueId from, QueueId to, std::int64_t number,
                       std::int64_t amount) {
  for (QueueId q = from; !q.is_none() && q != to; q = state.queues().parent(q))
    if (std::int64_t* left = kept_of(kept, q, number); left != nullptr) {
      const std::int64_t own = std::min(*left, amount);
      *left -= own;
      amount -= own;
    }
  return amount;
}

/// What counts at that queue of the amount, beside the claims of others; and what is left for it.
struct AtQueue {
  std::int64_t counts = 0, left = 0;
};

template <class AmountOf>
AtQueue beside_claims(const State& state, const Reservation& reservation, const Reservation::QuotaSpare& spare,
                      std::int64_t number, std::int64_t left, const KeyTaken& taken, AmountOf&& amount_of_claim) {
  if (reservation.quota_kept.empty()) {
    for (const Reservation::QuotaClaim& claim : reservation.quota_claims)
      if (claim.job != taken.job && state.queues().is_within(claim.queue, spare.queue)) left -= amount_of_claim(claim);
    return {taken.amount, left};
  }
  KeptQuota kept = reservation.quota_kept;
  for (const Reservation::QuotaClaim& claim : reservation.quota_claims)
    if (claim.job != taken.job && state.queues().is_within(claim.queue, spare.queue))
      left -= take_kept(state, kept, claim.queue, spare.queue, number, amount_of_claim(claim));
  return {take_kept(state, kept, taken.queue, spare.queue, number, taken.amount), left};
}

}  // namespace

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
  if (taken.amount == 0) return true;
  const AtQueue at = beside_claims(
      state, reservation, spare, quota_number(state.queues().keys()[key]), spare.left_by_key[key], taken,
      [&](const Reservation::QuotaClaim& claim) { return key < claim.by_key.size() ? claim.by_key[key] : 0; });
  return at.counts == 0 || at.counts <= at.left;
}

bool has_quota_for(const State& state, const Reservation& reservation, const QuotaTaken& taken) {
  const auto has_dimension = [&](const Reservation::QuotaSpare& spare, std::size_t d) {
    if (taken.amounts[d] <= 0) return true;
    const AtQueue at = beside_claims(state, reservation, spare, static_cast<std::int64_t>(d), spare.left[d],
                                     {taken.job, taken.queue, taken.amounts[d]},
                                     [&](const Reservation::QuotaClaim& claim) { return claim.amounts[d]; });
    return at.counts == 0 || at.counts <= at.left;
  };
  return std::ranges::all_of(reservation.quota_spares, [&](const Reservation::QuotaSpare& spare) {
    if (taken.queue.is_none() || !state.queues().is_within(taken.queue, spare.queue)) return true;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      if (!has_dimension(spare, d)) return false;
    for (std::size_t k = 0; k < std::min(taken.by_key.size(), spare.left_by_key.size()); ++k)
      if (!has_by_key(state, reservation, spare, k, {taken.job, taken.queue, taken.by_key[k]})) return false;
    return true;
  });
}

void charge_quota(const State& state, Reservation& reservation, const QuotaTaken& taken) {
  const auto take = [&](std::int64_t number, std::int64_t amount, auto&& left_of) {
    std::int64_t counts = amount;
    for (QueueId q = taken.queue; !q.is_none() && q.row() < state.queues().rows(); q = state.queues().parent(q)) {
      for (Reservation::QuotaSpare& spare : reservation.quota_spares)
        if (spare.queue == q)
          if (std::int64_t* left = left_of(spare); left != nullptr && *left < Reservation::kPlenty / 2) *left -= counts;
      counts = take_kept(state, reservation.quota_kept, q, state.queues().parent(q), number, counts);
    }
  };
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    take(static_cast<std::int64_t>(d), taken.amounts[d], [&](Reservation::QuotaSpare& s) { return &s.left[d]; });
  for (std::size_t k = 0; k < taken.by_key.size(); ++k)
    take(quota_number(state.queues().keys()[k]), taken.by_key[k],
         [&](Reservation::QuotaSpare& s) { return k < s.left_by_key.size() ? &s.left_by_key[k] : nullptr; });
}

}  // namespace ashlar
