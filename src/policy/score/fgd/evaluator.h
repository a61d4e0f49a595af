// FgdEvaluator: a mix prepared for fast evaluation, for one thread at a time. F depends on a node's free CPU only by
// the number of the mix's CPU sizes that it covers, and on its model only by the classes that accept it, so most nodes
// look alike: answers are kept in a table of fixed size (1 MiB), which never changes an answer. Cost (EPYC, -O3, best
// of 5): 19 ns for a cached answer, 190-350 ns for a new one, 76 ns for one F of 31 classes on 8 devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "model/demand.h"

namespace ashlar {

struct FgdClass;
struct FgdNode;

class FgdEvaluator {
 public:
  /// 32 bytes each; twice as many gain nothing on the published traces
  static constexpr std::size_t kMemoSlots = 1 << 15;
  static constexpr std::size_t kMemoDevicesMax = 8;  ///< nodes with more devices are computed each time

  explicit FgdEvaluator(std::span<const FgdClass> classes);
  bool is_of(std::span<const FgdClass> classes) const {
    return classes.data() == source_ && classes.size() == source_size_;
  }

  /// The integer score 0..100 of the published policy and the device that a share takes (-1: whole devices, or nothing
  /// fits). The node must fit the request.
  struct Answer {
    std::int32_t score = 0;
    std::int32_t device = -1;
  };
  Answer best(const FgdNode& node, std::int64_t cpu_asked, const DeviceRequest& request);

  /// F in milli-GPU.
  double fragment(const FgdNode& node) const;

 private:
  /// The mix's classes as columns, padded to whole vectors with classes of frequency 0.
  struct StateFields {
    std::vector<std::int16_t> milli, devices, cpu_rank;
    std::vector<double> frequency;
  };
  struct alignas(32) Slot {  ///< never across two cache lines
    std::uint64_t key[3] = {~0ull, ~0ull, ~0ull};
    std::uint64_t value = 0;
  };

  std::int32_t rank_of(std::int64_t cpu_milli) const;
  std::size_t slot_of(DeviceClassId model) const;
  double fragment(std::span<const std::int32_t> free, std::int32_t rank, std::size_t model_slot) const;
  Answer compute(std::span<std::int32_t> free, const std::int32_t ranks[2], std::size_t model_slot,
                 const DeviceRequest& request);
  double remembered_fragment(std::span<const std::int32_t> free, std::int32_t rank, std::size_t model_slot);
  Slot& find(const std::uint64_t key[3]);

  const FgdClass* source_;
  std::size_t source_size_;
  std::size_t count_ = 0;  ///< classes
  StateFields columns_;
  std::vector<std::int32_t> cpu_sizes_;           ///< distinct, ascending, padded with INT32_MAX
  std::vector<std::vector<std::int16_t>> kinds_;  ///< [model slot][class]; slot 0 = models that no class names
  std::vector<std::uint16_t> slot_by_model_;
  std::vector<Slot> memo_;
  bool has_memo_ = true;
};

}  // namespace ashlar
