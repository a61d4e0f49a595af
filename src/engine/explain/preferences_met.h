// preferences_met: what each preference of a placed member comes to on its node, and what a node with more of it would
// have cost, as of now: nodes are compared with the member taken off. For readers; no decision depends on it. Cost:
// O(nodes x terms), and one pass of the profile's rules and points.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/reason.h"
#include "policy/profile.h"
#include "state/state.h"

namespace ashlar {

enum class PreferenceKind : std::uint8_t {
  kNodeAffinity,  ///< amount: its weight, or 0
  kSoftTaints,    ///< taints that are not tolerated, less than 0; all of them together
  kPods,          ///< weight x pods in the node's domain
  kDrawn,         ///< the same of terms of placed pods, and of required affinity; all of them together
  kSpread,        ///< pods in the node's domain, less than 0; a node that does not count has kNoDomain
  kImages,        ///< 0..100, see Images::score
};

/// One preference. Amounts are such that more is better.
struct PreferenceMet {
  static constexpr std::int64_t kNoDomain = INT64_MIN;
  PreferenceKind kind = PreferenceKind::kNodeAffinity;
  std::uint32_t index = 0;  ///< among the constraint's own terms of that kind
  std::int64_t here = 0, most = 0;
  std::uint32_t better = 0;        ///< nodes with more of it
  std::uint32_t outside = 0;       ///< those of them that are not in the domain of the member's gang or group
  std::vector<Reason> refused_by;  ///< what refuses the member on others of them, by number of nodes
  NodeId best;                     ///< of the rest the one that ranks highest; none: there is none
  std::int64_t there = 0;          ///< its amount
  /// The first tier in which that one ranks otherwise than the member's node, and its points there and here. None: they
  /// rank alike.
  struct Tier {
    std::size_t number = 0;
    Points there = 0, here = 0;
  };
  std::optional<Tier> decided_by;
};

struct PreferencesMet {
  NodeId node;
  /// The member would fit there now; if not, its node is compared with no other.
  bool is_open = true;
  std::size_t tier = 0;              ///< of the profile's policy `prefer`
  Points here = 0, most = 0;         ///< its points, of the node and of the best one on which the member fits
  std::vector<PreferenceMet> terms;  ///< those on which nodes differ, or that are the member's own
};

/// None if the member has no node, or the profile no policy `prefer`. The state is as before afterwards.
std::optional<PreferencesMet> preferences_met(State& state, const Profile& profile, MemberId member);

}  // namespace ashlar
