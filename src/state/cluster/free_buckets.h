// FreeBuckets: how many ready nodes have exactly f idle devices, per accelerator model and topology domain. Answers "can this domain hold 64 members
// of 8 devices at all?" by reading a few counters, and gives the numbers for explanations. An update costs O(levels).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/id.h"

namespace ashlar {

class Topology;

class FreeBuckets {
 public:
  static constexpr int kFreeMax = 16;  ///< nodes with more idle devices are counted in the last bucket
  using Counts = std::array<std::uint32_t, kFreeMax + 1>;

  /// Moves one node from `before` to `after` idle devices; negative = not counted.
  void move(const Topology& topology, NodeId node, DeviceClassId model, std::int32_t before, std::int32_t after);

  /// Counts over the whole cluster for one model (none = nodes without a known model).
  const Counts& everywhere(DeviceClassId model) const { return total_[slot(model)]; }
  std::size_t model_slots() const { return total_.size(); }
  /// Counts of one domain, summed over the models, an upper bound for every demand of whole devices.
  Counts in_domain(LevelId level, DomainId domain) const;
  /// At most so many members of `cards_each` idle devices fit (exact for up to kFreeMax devices a node); UINT64_MAX where nodes are larger.
  std::uint64_t members_at_most(LevelId level, DomainId domain, std::int32_t devices_each) const;
  std::uint64_t members_at_most(std::int32_t devices_each) const;

  /// Equal counts everywhere; rows that exist on one side only must be zero.
  bool matches(const FreeBuckets& other) const;

 private:
  friend struct StateFields;
  std::size_t slot(DeviceClassId model) const { return model.is_none() ? 0 : model.row() + 1; }

  std::vector<Counts> total_;                                ///< [model slot]
  std::vector<std::vector<std::vector<Counts>>> by_domain_;  ///< [model slot][level][domain]
};

}  // namespace ashlar
