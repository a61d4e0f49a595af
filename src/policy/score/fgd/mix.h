// FgdMix: the target workload of the fragmentation-gradient policy (FGD, USENIX ATC'23): the classes of pods that the
// cluster is expected to see, with their frequencies, and F(node): the milli-GPU of a node that such a pod, drawn at
// random, could not use. Arithmetic order is part of the definition (ties between nodes depend on the last bit): see
// docs/explanation/fgd.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"
#include "policy/score/fgd/evaluator.h"

namespace ashlar {

struct FgdClass {
  std::int64_t cpu_milli = 0;
  std::int32_t devices = 0;
  std::int32_t milli_each = 0;
  std::vector<DeviceClassId> models;  ///< empty = any
  double frequency = 0;               ///< of this class among all classes of the mix
};

/// Keeps the evaluator of a mix while it is used. A copy of a mix starts without one: the cache is not part of the
/// value.
class FgdMemo {
 public:
  FgdMemo() = default;
  FgdMemo(const FgdMemo&) {}
  FgdMemo(FgdMemo&&) noexcept = default;
  FgdMemo& operator=(const FgdMemo&) {
    evaluator_.reset();
    return *this;
  }
  FgdMemo& operator=(FgdMemo&&) noexcept = default;

  /// The evaluator of these classes, made on first use.
  FgdEvaluator& of(const std::vector<FgdClass>& classes) {
    if (evaluator_ == nullptr || !evaluator_->is_of(classes)) evaluator_ = std::make_unique<FgdEvaluator>(classes);
    return *evaluator_;
  }

 private:
  std::unique_ptr<FgdEvaluator> evaluator_;
};

/// Replace a mix as a whole; its classes are not changed in place once it has been used. Used by one thread at a time.
struct FgdMix {
  std::vector<FgdClass> classes;  ///< in decreasing frequency
  mutable FgdMemo memo;
  bool is_empty() const { return classes.empty(); }
  FgdEvaluator& evaluator() const { return memo.of(classes); }
};

/// One pod kind of a workload sample, with its count.
struct FgdSample {
  std::int64_t cpu_milli = 0;
  std::int32_t devices = 0;
  std::int32_t milli_each = 0;
  std::string models_text;  ///< as in the trace ("A|B"); the last tie key of the published order, descending
  std::vector<DeviceClassId> models;
  std::int64_t count = 0;
};

/// The published rule: classes in decreasing count (ties: larger cpu, milli, devices, models text first) until they
/// hold 95 % of the pods, the crossing class included; frequency = (count / total) / (cumulative count / total) in
/// doubles.
FgdMix make_mix(std::vector<FgdSample> samples);

/// The inputs of F on one node.
struct FgdNode {
  std::int64_t free_cpu_milli = 0;
  DeviceClassId model;
  std::span<const std::int32_t> free_milli;  ///< by device
};

/// F(node) in milli-GPU.
double fragment_of(const FgdMix& mix, const FgdNode& node);

}  // namespace ashlar
