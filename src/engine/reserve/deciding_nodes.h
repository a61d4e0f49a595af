// DecidingNodes: the nodes on which a job's place depends once others have ended: elsewhere too few devices are idle
// even then, so a search need not evict there. It counts too many idle devices rather than too few. Cost: O(nodes),
// then O(members) for each job that ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/profile.h"
#include "state/state.h"

namespace ashlar {

class DecidingNodes {
 public:
  /// As of now. It is known of jobs of which nothing is placed, whose needed members request whole devices (of those
  /// that must stay in one domain, some of them), and whose place depends on nodes and domains alone: there are no
  /// limits by device class, no nominations, nothing is held for some jobs, and no pods keep them away.
  DecidingNodes(const State& state, const Profile& profile, JobId job);

  bool are_known() const { return devices_ > 0; }
  /// What that job has is idle from then on.
  void free(JobId ended);
  /// Nothing has ended.
  void start_anew();
  /// By node; 1 = it is one of them.
  std::vector<std::uint8_t> list() const;

 private:
  /// Which nodes decide together: the place of a member by itself depends on sums over the groups of nodes.
  enum class Together : std::uint8_t { kNode, kGroup, kDomain };
  bool is_enough(std::span<const NodeId> nodes) const;
  static void mark(std::span<const NodeId> nodes, std::vector<std::uint8_t>& decides);

  const State& state_;
  Together together_ = Together::kNode;
  LevelId within_;
  std::int32_t devices_ = 0;        ///< of one member
  std::size_t members_ = 1;         ///< that many of them are needed together
  std::vector<std::int32_t> idle_;  ///< by node
};

}  // namespace ashlar
