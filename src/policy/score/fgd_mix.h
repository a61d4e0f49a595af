// FgdMix: the target workload of the fragmentation-gradient policy (FGD, USENIX ATC'23): the classes of pods that the cluster is expected to see,
// with their frequencies, and F(node): the milli-GPU of a node that such a pod, drawn at random, could not use. Arithmetic order is part of the
// definition (ties between nodes depend on the last bit): see docs/explanation/fgd.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"

namespace ashlar {

struct FgdClass {
  std::int64_t cpu_milli = 0;
  std::int32_t cards = 0;
  std::int32_t milli_each = 0;
  std::vector<ModelId> models;  ///< empty = any
  double frequency = 0;         ///< of this class among all classes of the mix
};

struct FgdMix {
  std::vector<FgdClass> classes;  ///< in decreasing frequency
  bool is_empty() const { return classes.empty(); }
};

/// One pod kind of a workload sample, with its count.
struct FgdSample {
  std::int64_t cpu_milli = 0;
  std::int32_t cards = 0;
  std::int32_t milli_each = 0;
  std::string models_text;      ///< as in the trace ("A|B"); the last tie key of the published order, descending
  std::vector<ModelId> models;
  std::int64_t count = 0;
};

/// The published rule: classes in decreasing count (ties: larger cpu, milli, cards, models text first) until they hold 95 % of the pods, the crossing
/// class included; frequency = (count / total) / (cumulative count / total) in doubles.
FgdMix make_mix(std::vector<FgdSample> samples);

/// What F looks at on one node.
struct FgdNode {
  std::int64_t free_cpu_milli = 0;
  ModelId model;
  std::span<const std::int32_t> free_milli;  ///< by card
};

/// F(node) in milli-GPU.
double fragment_of(const FgdMix& mix, const FgdNode& node);

}  // namespace ashlar
