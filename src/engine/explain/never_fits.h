// NeverFits: whether the members that a job needs together could run on an otherwise empty cluster, by allocatable
// amounts, models, labels and domains alone. Exact for like members, and for unlike ones in domains of up to
// kPackingNodesMax nodes within a counted budget, also of groups with domains of their own; beyond that a "no" rests on
// conditions that every placement must meet. Cost: O(nodes x kinds of members).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state/state.h"

namespace ashlar {

/// Like members of a job that are needed together.
struct MemberNeed {
  DemandId demand;
  ConstraintId constraint;
  std::uint64_t members = 0;
  std::uint32_t group = 0;
};
/// The waiting members for which the job is judged where it finds no place: those that must be placed together next; of
/// those with a choice, the first that the nodes could take if they were empty, and that the queue admits now.
std::vector<MemberId> members_judged(const State& state, JobId job);
/// The same kind by kind, in the order of their first ranks. O(members log kinds).
std::vector<MemberNeed> needs_of(const State& state, std::span<const MemberId> members);

/// members put on a node while a proof is searched: about 2 ms
inline constexpr std::uint32_t kProofStepsMax = 10'000;

enum class EverFits : std::uint8_t {
  kYes,
  kNo,
  kUnproven,  ///< nothing forbids it, but no place was found either
};
EverFits ever_fits(const State& state, JobId job);
/// Whether the live node, if it were empty, could take one such member.
bool could_ever_take(const State& state, DemandId demand, ConstraintId constraint, NodeId n);

}  // namespace ashlar
