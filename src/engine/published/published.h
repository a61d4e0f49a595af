// Published: a flat copy of what readers need (node, device and queue columns), made once per cycle into a reused buffer, so that extender, UI and
// what-if never touch the state that the engine is changing. 5,000 nodes of 8 devices are about 1.3 MB.
#pragma once

#include <cstdint>
#include <vector>

#include "state/state.h"

namespace ashlar {

struct Published {
  Revision revision = 0;
  Millis at;
  std::uint64_t digest = 0;
  std::vector<std::vector<std::int64_t>> free, allocatable;  ///< [resource][node]
  std::vector<std::int32_t> idle_devices, free_milli, devices;
  std::vector<std::uint32_t> first_device;
  std::vector<std::int32_t> device_free_milli;
  std::vector<QuotaVector> queue_used, queue_quota;
};

/// Copies the columns into `spare`, whose memory is reused. Cost: one pass over the columns.
void publish(const State& state, Published& spare);

}  // namespace ashlar
