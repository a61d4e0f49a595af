#include "engine/victims/lost_work.h"

#include <algorithm>

#include "state/cluster/capacity.h"

namespace ashlar {
namespace {

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

}  // namespace

std::int64_t LostWork::of(const Victim& victim) const {
  std::int64_t product = 0;
  const std::int64_t run = state_.job(victim.job).lost_if_stopped(now_).value;
  return __builtin_mul_overflow(run, held_by(victim), &product) ? INT64_MAX : product;
}

std::int64_t LostWork::of(std::span<const Victim> victims) const {
  std::int64_t sum = 0;
  for (const Victim& victim : victims) sum = sum_of(sum, of(victim));
  return sum;
}

std::int64_t LostWork::held_by(const Victim& victim) const {
  QuotaVector held{};
  each_placed(state_, victim, [&](MemberId, const Member& m) {
    const QuotaVector of_member = state_.quota_of_member(m);
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) held[d] = sum_of(held[d], of_member[d]);
  });
  const auto [milli_devices, milli_cores, memory] = held;
  if (milli_devices > 0) return milli_devices;
  const Capacity& all = capacity();
  const auto part = [&](std::int64_t amount, std::int64_t of_all) -> std::int64_t {
    if (amount <= 0 || of_all <= 0) return 0;
    return static_cast<std::int64_t>(static_cast<__int128>(std::min(amount, of_all)) * all.milli_devices / of_all);
  };
  return std::max({part(milli_cores, all.milli_cores), part(memory, all.memory), std::int64_t{1}});
}

const LostWork::Capacity& LostWork::capacity() const {
  if (capacity_) return *capacity_;
  const Cluster& cluster = state_.cluster();
  const std::int64_t devices = capacity_of(cluster, QuotaKey{});
  const auto nodes = static_cast<std::int64_t>(cluster.live_count());
  capacity_ = Capacity{devices > 0 ? devices : nodes * kWholeDevice, capacity_of(cluster, {resource::kCpu, {}}),
                       capacity_of(cluster, {resource::kMemory, {}})};
  return *capacity_;
}

}  // namespace ashlar
