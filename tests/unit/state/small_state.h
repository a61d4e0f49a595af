// A small cluster for tests of the state: nodes of 8 devices, a few demands, jobs by one call.
#pragma once

#include <utility>
#include <vector>

#include "state/ledger.h"

namespace ashlar {

inline constexpr DemandId kOneDevice{0u}, kFourDevices{1u}, kHalfADevice{2u}, kNoDevices{3u}, kOnePort{4u};
inline constexpr ConstraintId kAnywhere{0u};

inline NodeFacts eight_devices() {
  NodeFacts f;
  f.allocatable = {64'000, std::int64_t{1} << 40, 0, 100};
  f.devices.count = 8;
  f.devices.device_class = DeviceClassId(0u);
  return f;
}

inline void tell(State& state, EventBody body, Millis at = Millis(0)) { apply(state, {at, std::move(body)}); }

inline State small_state(std::uint32_t nodes = 2) {
  State state;
  const auto pods = ResourceAmount{resource::kPods, 1};
  tell(state, DemandDefined{kOneDevice, {.amounts = {pods}, .devices = {1, MilliGpu(1000), MiB(0)}}});
  tell(state, DemandDefined{kFourDevices,
                            {.amounts = {{resource::kCpu, 4000}, pods}, .devices = {4, MilliGpu(1000), MiB(0)}}});
  tell(state, DemandDefined{kHalfADevice, {.amounts = {pods}, .devices = {1, MilliGpu(500), MiB(0)}}});
  tell(state, DemandDefined{kNoDevices, {.amounts = {{resource::kCpu, 1000}, pods}}});
  tell(state, DemandDefined{kOnePort, {.amounts = {pods}, .ports = {{6, 0, 80}}}});
  tell(state, ConstraintDefined{kAnywhere, {}});
  for (std::uint32_t n = 0; n < nodes; ++n) tell(state, NodeSeen{NodeId(n), eight_devices()});
  return state;
}

/// A job of `members` like members whose rows are `first_member` and following.
inline Workload workload(std::uint32_t job, std::uint32_t first_member, std::uint32_t members, DemandId demand) {
  Workload w;
  w.job = JobId(job);
  w.members_min = members;
  for (std::uint32_t m = 0; m < members; ++m) w.members.push_back({MemberId(first_member + m), demand, kAnywhere});
  return w;
}

inline DeviceMask devices(std::uint64_t low) { return {low, 0}; }

}  // namespace ashlar
