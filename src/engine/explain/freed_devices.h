// FreedDevices: devices of a copied state that other jobs have in use, made free to try what that would help, and taken
// again at the end. Cost: O(devices of the nodes).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/demand.h"
#include "state/state.h"

namespace ashlar {

class FreedDevices {
 public:
  /// Of these nodes. Those of the job itself stay, and the unhealthy or held ones: no end of a job makes them usable.
  FreedDevices(State& state, const std::vector<NodeId>& nodes, JobId own);
  FreedDevices(const FreedDevices&) = delete;
  ~FreedDevices();

  struct Wanted {
    DeviceMask among;
    std::int64_t devices = 0, counted = 0;
    ResourceId counts_devices;
  };
  /// Frees this many of those devices that are in use, and as much of the resource that counts them; false if fewer are
  /// in use.
  bool free(NodeId n, const Wanted& wanted);
  std::int64_t count() const { return count_; }
  /// Those of the node's devices that are in use by other jobs.
  std::int64_t in_use(NodeId n, const DeviceMask& among) const;

 private:
  struct Freed {
    NodeId node;
    Demand demand;
    DeviceMask devices;
  };
  void give(Freed freed);

  State& state_;
  std::map<NodeId, std::vector<int>> in_use_;  ///< by other jobs, and not freed yet
  std::vector<Freed> freed_;
  std::int64_t count_ = 0;
};

}  // namespace ashlar
