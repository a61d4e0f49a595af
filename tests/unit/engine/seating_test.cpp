// Claims on a node with devices of several kinds, compared with trying every assignment.
#include "engine/reserve/seating.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/rng.h"
#include "state/cluster/cluster.h"

namespace ashlar {
namespace {

constexpr NodeId kNode{0u};

/// Some idle devices of some kinds, and whole requests that each accept some of the kinds.
struct Instance {
  Cluster cluster;
  ReservedRoom room;
  std::vector<ReservedClaim> claims;
  int kinds = 0;
  std::vector<int> kind_of, idle;

  explicit Instance(Rng& rng) {
    const auto below = [&](int bound) { return static_cast<int>(rng.below(static_cast<std::uint64_t>(bound))); };
    kinds = 1 + below(3);
    DeviceLayout layout;
    for (int i = 0; i < 1 + below(7); ++i) {
      kind_of.push_back(below(kinds));
      layout.devices.push_back({.device_class = DeviceClassId(kind_of.back())});
    }
    cluster.define(DeviceLayoutId(0u), layout);
    NodeFacts facts;
    facts.allocatable = {1000, 0, 0, 100};
    facts.devices = devices_with(DeviceLayoutId(0u), layout);
    cluster.upsert_node(kNode, facts);
    room.owed = below(4) == 0 ? 1 : 0;
    idle.assign(3, 0);
    for (const int kind : kind_of) {
      const bool is_idle = below(4) > 0;
      room.devices.push_back({is_idle ? kWholeDevice : 300, 0});
      idle[static_cast<std::size_t>(kind)] += is_idle ? 1 : 0;
    }
    for (int c = below(4); c > 0; --c) {
      const int accepted = 1 + below((1 << kinds) - 1);
      claims.push_back({JobId(0u), {.amounts = {}, .devices = {1 + below(3)}, .ports = {}}, usable(accepted)});
    }
  }
  DeviceMask usable(int accepted) const {
    DeviceMask mask;
    for (std::size_t i = 0; i < kind_of.size(); ++i) mask.set(static_cast<int>(i), (accepted >> kind_of[i] & 1) != 0);
    return mask;
  }
  bool accepts(const ReservedClaim& claim, int kind) const {
    for (std::size_t i = 0; i < kind_of.size(); ++i)
      if (kind_of[i] == kind) return claim.usable.test(static_cast<int>(i));
    return false;
  }
  /// Device for device in every way.
  bool fits(std::vector<int> left, std::size_t claim, int placed, const std::vector<ReservedClaim>& all) const {
    if (claim == all.size()) return true;
    if (placed == all[claim].demand.devices.count) return fits(left, claim + 1, 0, all);
    for (int kind = 0; kind < kinds; ++kind) {
      if (!accepts(all[claim], kind) || left[static_cast<std::size_t>(kind)] <= 0) continue;
      --left[static_cast<std::size_t>(kind)];
      if (fits(left, claim, placed + 1, all)) return true;
      ++left[static_cast<std::size_t>(kind)];
    }
    return false;
  }
  /// Those that are owed may be of any kind.
  std::vector<int> left() const {
    std::vector<int> kept = idle;
    for (int& count : kept) count = std::max(count - static_cast<int>(room.owed), 0);
    return kept;
  }
  bool is_overdrawn() const {
    int all = 0;
    for (const int count : idle) all += count;
    return all < room.owed;
  }
};

TEST(Seating, OfWholeDevicesOfSeveralKindsIsExact) {
  int fitting = 0, not_fitting = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Rng rng(seed);
    const Instance of(rng);
    if (of.is_overdrawn() || of.cluster.device_kinds(kNode).empty()) continue;
    const Seating seating = seat_claims(of.cluster, kNode, of.room, {of.claims, JobId::none()});
    const bool does_fit = of.fits(of.left(), 0, 0, of.claims);
    ASSERT_EQ(seating.fits, does_fit) << "seed " << seed;
    ++(does_fit ? fitting : not_fitting);
    if (!does_fit) continue;
    for (int accepted = 1; accepted < 1 << of.kinds; ++accepted) {
      const DeviceMask usable = of.usable(accepted);
      if (usable.is_empty()) continue;
      std::vector<ReservedClaim> more = of.claims;
      more.push_back({JobId(1u), {.amounts = {}, .devices = {0}, .ports = {}}, usable});
      while (of.fits(of.left(), 0, 0, more)) ++more.back().demand.devices.count;
      ASSERT_EQ(seating.idle.spare(usable), more.back().demand.devices.count - 1) << "seed " << seed;
    }
  }
  EXPECT_GT(fitting, 2000);
  EXPECT_GT(not_fitting, 2000);
}

/// What is kept for the claims is as much as they need, they fit into it, and as much as possible is of other kinds
/// than those spared.
TEST(Seating, KeepsKindsThatAreSpared) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Rng rng(seed);
    const Instance of(rng);
    if (of.is_overdrawn() || of.cluster.device_kinds(kNode).empty()) continue;
    const Seating seating = seat_claims(of.cluster, kNode, of.room, {of.claims, JobId::none()});
    if (!seating.fits) continue;
    std::int64_t asked = 0;
    for (const ReservedClaim& claim : of.claims) asked += claim.demand.devices.count;
    for (int spared = 0; spared < 1 << of.kinds; ++spared) {
      const IdleByKind::Counts kept = seating.idle.needed_sparing(of.usable(spared));
      std::vector<int> only(3, 0);
      std::int64_t sum = 0, outside = 0, most = 0;
      for (std::size_t k = 0; k < seating.idle.kinds(); ++k) {
        int kind = 0;  // kinds of a layout are in the order of their first devices
        for (std::size_t i = 0; i < of.kind_of.size(); ++i)
          if (seating.idle.is_of(k, static_cast<int>(i))) kind = of.kind_of[i];
        only[static_cast<std::size_t>(kind)] = static_cast<int>(kept[k]);
        sum += kept[k];
        outside += (spared >> kind & 1) == 0 ? kept[k] : 0;
      }
      ASSERT_EQ(sum, asked) << "seed " << seed;
      ASSERT_TRUE(of.fits(only, 0, 0, of.claims)) << "seed " << seed;
      // The most that may be of other kinds: as few as possible are left to those spared.
      std::vector<int> left = of.left();
      for (int of_spared = 0;; ++of_spared) {
        std::function<bool(int, int)> with = [&](int kind, int rest) -> bool {
          if (kind == of.kinds) return of.fits(left, 0, 0, of.claims);
          if ((spared >> kind & 1) == 0) return with(kind + 1, rest);
          const int all = of.left()[static_cast<std::size_t>(kind)];
          for (int count = 0; count <= std::min(all, rest); ++count) {
            left[static_cast<std::size_t>(kind)] = count;
            if (with(kind + 1, rest - count)) return true;
          }
          return false;
        };
        if (!with(0, of_spared)) continue;
        most = asked - of_spared;
        break;
      }
      ASSERT_EQ(outside, most) << "seed " << seed << " spared " << spared;
      ++checked;
    }
  }
  EXPECT_GT(checked, 10'000);
}

}  // namespace
}  // namespace ashlar
