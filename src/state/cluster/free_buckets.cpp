#include "state/cluster/free_buckets.h"

#include <algorithm>

#include "base/grown.h"
#include "state/cluster/topology.h"

namespace ashlar {
namespace {

std::uint64_t members(const FreeBuckets::Counts& counts, std::int32_t devices_each) {
  if (counts[FreeBuckets::kFreeMax] != 0) return UINT64_MAX;  // the last bucket stands for "this many or more"
  std::uint64_t n = 0;
  for (int f = devices_each; f < FreeBuckets::kFreeMax; ++f)
    n += static_cast<std::uint64_t>(counts[static_cast<std::size_t>(f)]) * static_cast<std::uint64_t>(f / devices_each);
  return n;
}

}  // namespace

void FreeBuckets::move(const Topology& topology, NodeId node, DeviceClassId model, std::int32_t before, std::int32_t after) {
  const std::int32_t from = std::min(before, kFreeMax);
  const std::int32_t to = std::min(after, kFreeMax);
  if (from == to || (from < 0 && to < 0)) return;
  const auto shift = [&](Counts& counts) {
    if (from >= 0) --counts[static_cast<std::size_t>(from)];
    if (to >= 0) ++counts[static_cast<std::size_t>(to)];
  };
  const std::size_t s = slot(model);
  if (s >= total_.size()) {
    total_.resize(s + 1);
    by_domain_.resize(s + 1);
  }
  shift(total_[s]);
  auto& levels = by_domain_[s];
  if (levels.size() < topology.level_count()) levels.resize(topology.level_count());
  for (std::uint32_t l = 0; l < topology.level_count(); ++l) {
    const DomainId domain = topology.domain_of(LevelId(l), node);
    if (!domain.is_none()) shift(grown(levels[l], domain.row()));
  }
}

bool FreeBuckets::matches(const FreeBuckets& other) const {
  const auto covers = [](const FreeBuckets& a, const FreeBuckets& b) {
    for (std::size_t s = 0; s < a.total_.size(); ++s) {
      if (a.total_[s] != (s < b.total_.size() ? b.total_[s] : Counts{})) return false;
      for (std::size_t l = 0; l < a.by_domain_[s].size(); ++l)
        for (std::size_t d = 0; d < a.by_domain_[s][l].size(); ++d) {
          const bool is_there = s < b.by_domain_.size() && l < b.by_domain_[s].size() && d < b.by_domain_[s][l].size();
          if (a.by_domain_[s][l][d] != (is_there ? b.by_domain_[s][l][d] : Counts{})) return false;
        }
    }
    return true;
  };
  return covers(*this, other) && covers(other, *this);
}

FreeBuckets::Counts FreeBuckets::in_domain(LevelId level, DomainId domain) const {
  Counts sum{};
  for (const auto& levels : by_domain_) {
    if (level.row() >= levels.size() || domain.row() >= levels[level.row()].size()) continue;
    const Counts& counts = levels[level.row()][domain.row()];
    for (std::size_t f = 0; f < sum.size(); ++f) sum[f] += counts[f];
  }
  return sum;
}

std::uint64_t FreeBuckets::members_at_most(LevelId level, DomainId domain, std::int32_t devices_each) const {
  return members(in_domain(level, domain), devices_each);
}

std::uint64_t FreeBuckets::members_at_most(std::int32_t devices_each) const {
  std::uint64_t n = 0;
  for (const Counts& counts : total_) {
    const std::uint64_t m = members(counts, devices_each);
    if (m == UINT64_MAX) return m;
    n += m;
  }
  return n;
}

}  // namespace ashlar
