// packing: replays as published with FGD (USENIX ATC'23): pods arrive one by one and stay; one that fits nowhere is
// refused and never retried. Nodes become rows in the order of their rank, so that the engine's tie rule (lowest row)
// is the published one. Cost: about 0.1 s for 11,000 pods on 1,213 nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "policy/profile.h"
#include "sim/results/results.h"
#include "sim/trace/openb.h"
#include "sim/world/catalog.h"

namespace ashlar::sim {

/// A prepared trace: rows, definitions and the target mix, the same for all seeds and policies.
class PackingTrace {
 public:
  static constexpr std::int64_t kPodsPerNode = 1001;  ///< of the published clusters

  /// Errors: a model that no node has.
  static Result<PackingTrace> make(std::vector<OpenbNode> nodes, std::vector<OpenbPod> pods);

  const Catalog& catalog() const { return catalog_; }
  const std::vector<OpenbNode>& nodes() const { return nodes_; }
  /// What the pod at this place of the name-sorted list needs.
  struct Pod {
    MemberNeed need;
    std::int32_t milli_total = 0;
    KindId kind;
  };
  const Pod& pod(std::size_t sorted_index) const { return pods_[sorted_index]; }
  const std::vector<std::uint32_t>& nodes_by_name() const { return nodes_by_name_; }
  NodeFacts facts_of(const OpenbNode& node) const;
  std::int64_t total_milli() const;
  /// The target workload of FGD: the classes of the list before any pod is repeated.
  const FgdMix& mix() const { return mix_; }

 private:
  std::vector<OpenbNode> nodes_;
  std::vector<std::uint32_t> nodes_by_name_;
  Catalog catalog_;
  std::vector<Pod> pods_;  ///< by name
  FgdMix mix_;
};

/// Observers of a running replay; each may be empty.
struct PackingListeners {
  /// called occasionally, with the number of pods that have arrived
  std::function<void(std::int64_t pods)> progress;
  /// for every pod: its node (by rank) and devices; none if it was refused
  std::function<void(NodeId node, const DeviceMask& devices)> arrived;
};

/// One policy on one arrival order. `profile` gets the order's seed and, unless it has a mix of its own, the trace's.
PackingRun run_packing(const PackingTrace& trace, const ArrivalOrder& order, Profile profile,
                       const PackingListeners& listeners = {});

}  // namespace ashlar::sim
