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

/// What a queue is sure to get of something, and what it may use beyond that.
struct ReadGuarantee {
  ReadLimit counted;          ///< what is counted, what is used, and the most that what it borrows allows (kUnlimited)
  std::int64_t stated = 0;    ///< QuotaShare::kNotNamed: it names none
  std::int64_t in_force = 0;  ///< less where the guarantees of all come to more than there is
  std::int64_t borrows = 0;   ///< kUnlimited: as much as its quota allows
  std::int64_t lends = 0;     ///< kUnlimited: all
};
/// In the order in which they were first configured; inner queues that name none have what those below them have.
std::vector<ReadGuarantee> guarantees_of(const State& state, const ObjectNames& names, QueueId queue);

/// The number of live nodes with devices of each class, by its row. Cost: O(nodes).
std::vector<std::int64_t> nodes_by_model(const Cluster& cluster);

/// The same as the member "guarantees" of an object.
void write_guarantees(JsonWriter& w, std::span<const ReadGuarantee> guarantees);

/// The same limits as the member "limits" of an object.
void write_limits(JsonWriter& w, std::span<const ReadLimit> limits, std::span<const std::int64_t> nodes_by_model);
/// The member "gate" of a queue that is not open.
void write_gate(JsonWriter& w, const QueueGate& gate);

}  // namespace ashlar::kube
