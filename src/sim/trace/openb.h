// openb: readers of the openb packing traces (Alibaba's 2023 GPU trace as published with FGD) and of arrival-order
// files (docs/reference/traces.md). Every malformed cell is an Error with file, line, column and the expected form.
// Cost: one pass; 8,000 pods in about 3 ms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::sim {

struct OpenbNode {
  std::string name;  ///< column sn
  MilliCores cpu;
  MiB memory;
  std::int32_t gpus = 0;
  std::string model;  ///< empty on nodes without devices
};

struct OpenbPod {
  std::string name;
  MilliCores cpu;
  MiB memory;
  std::int32_t gpus = 0;
  MilliGpu milli_each;              ///< of each device; 1000 = whole. Above 1000 in the file reads as 1000
  std::string gpu_spec;             ///< as written: "" or "A|B"
  std::vector<std::string> models;  ///< gpu_spec split; empty = any model
  std::string qos;
  std::string phase;
  /// since the start of the trace; none if the file does not have it
  std::optional<Millis> created, deleted, scheduled;
  MilliGpu milli_total() const { return MilliGpu(milli_each.value * gpus); }
};

/// One arrival order: which pods arrive, and in which order equal nodes are tried.
struct ArrivalOrder {
  std::uint64_t seed = 0;
  /// indices into the pod list sorted by name, in order of arrival; pods may repeat
  std::vector<std::uint32_t> arrivals;
  /// [node sorted by name] -> rank, a permutation of 0..nodes-1; smallest wins ties
  std::vector<std::uint32_t> node_ranks;
};

/// The node list, in file order. More than 128 devices on a node is an Error.
Result<std::vector<OpenbNode>> read_openb_nodes(const std::string& path);

/// The pod list, in file order. A model of gpu_spec that no node has is an Error; pass no nodes to skip that check.
Result<std::vector<OpenbPod>> read_openb_pods(const std::string& path, const std::vector<OpenbNode>& nodes);

/// All orders of the file, by seed in file order. Every index must lie below pod_count, every node_ranks be a
/// permutation of node_count.
Result<std::vector<ArrivalOrder>> read_arrivals(const std::string& path, std::size_t pod_count, std::size_t node_count);

/// Indices of `items` in ascending order of name (bytes), ties in file order: the meaning of ArrivalOrder's indices.
std::vector<std::uint32_t> sorted_by_name(const std::vector<OpenbPod>& items);
std::vector<std::uint32_t> sorted_by_name(const std::vector<OpenbNode>& items);

}  // namespace ashlar::sim
