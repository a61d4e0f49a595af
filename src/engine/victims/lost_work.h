// LostWork: what the stop of a running job loses: the run time since its last checkpoint and that of its restart, times
// what its placed members hold. Devices count in thousandths; a job without any counts as holding as much of all
// devices as it holds of all cores, or of all memory if that is more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/victims/victim.h"
#include "state/state.h"

namespace ashlar {

class LostWork {
 public:
  LostWork(const State& state, Millis now) : state_(state), now_(now) {}
  /// In milliseconds times thousandths of a device; INT64_MAX: more than that. Cost: O(members), and O(nodes) for the
  /// first job without devices.
  std::int64_t of(const Victim& victim) const;
  std::int64_t of(std::span<const Victim> victims) const;

 private:
  /// Of all nodes; where there are no devices each node counts as one.
  struct Capacity {
    std::int64_t milli_devices, milli_cores, memory;
  };
  std::int64_t held_by(const Victim& victim) const;
  const Capacity& capacity() const;

  const State& state_;
  Millis now_;
  mutable std::optional<Capacity> capacity_;
};

}  // namespace ashlar
