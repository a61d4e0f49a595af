// queue_limits: the limits of a queue with what they count and what is used of it, for the read API and the metrics.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubeclient/json_writer.h"
#include "live/track/names.h"
#include "model/quota.h"
#include "state/state.h"

namespace ashlar::kube {

/// One limit that a queue has.
struct ReadLimit {
  QuotaKey of;
  std::string resource;  ///< "nvidia.com/gpu", "cpu"
  std::string model;     ///< empty: on all nodes
  std::int64_t used = 0, limit = 0;
  /// "milliGpu", "milliCores", "bytes" or "count"
  std::string_view unit() const;
  /// An amount in GPUs, cores, bytes or pieces.
  double in_whole_units(std::int64_t amount) const;
};

/// GPUs, CPU and memory first, then the others in the order in which they were first configured. Cost: O(keys).
std::vector<ReadLimit> limits_of(const State& state, const ObjectNames& names, QueueId queue);

/// The number of live nodes with devices of each class, by its row. Cost: O(nodes).
std::vector<std::int64_t> nodes_by_model(const Cluster& cluster);

/// The same limits as the member "limits" of an object.
void write_limits(JsonWriter& w, std::span<const ReadLimit> limits, std::span<const std::int64_t> nodes_by_model);

}  // namespace ashlar::kube
