// IdleRoom: whether the idle devices are enough for a job's largest members, each on one node, all in one domain of the
// level that the job must stay within, as others end. It counts too many rather than too few, so a time at which it is
// not enough needs no trial. Cost: O(nodes), then O(members) for each job that ends.
#pragma once

#include <cstdint>
#include <vector>

#include "state/state.h"

namespace ashlar {

class IdleRoom {
 public:
  /// As of now. Shares of devices and single devices that may be anywhere are not counted: a sum over all nodes says as
  /// much of those. Nor is anything where capacity is held or nominated, which the job may perhaps use.
  IdleRoom(const State& state, JobId job);

  bool is_enough() const { return most_ >= needed_; }
  /// What the job has is idle from then on.
  void free(JobId ended);

 private:
  std::int64_t members_on(NodeId node) const {
    const std::int32_t idle = idle_[node.row()];
    return idle < devices_ ? 0 : idle / devices_;
  }
  void add_room(NodeId node, std::int64_t members);

  const State& state_;
  LevelId within_;
  DomainId joined_;                  ///< where the job has members already; none = any domain
  std::int32_t devices_ = 0;         ///< of each of the largest members
  std::int64_t needed_ = 0;          ///< how many of those there are
  std::int64_t most_ = 0;            ///< in one domain
  std::vector<std::int32_t> idle_;   ///< by node
  std::vector<std::int64_t> rooms_;  ///< by domain; one for all nodes if the job may be anywhere
};

}  // namespace ashlar
