// published: numbers that the published packing policies share: they measure every node against the largest one of
// their trace, in doubles.
#pragma once

#include "model/demand.h"
#include "policy/node_view.h"

namespace ashlar {

inline constexpr double kPublishedCpuMilliMax = 128000.0;  ///< milli-cores of the largest node
inline constexpr double kPublishedGpuMilliMax = 8000.0;    ///< milli-GPU of the largest node
inline constexpr double kPublishedScoreMax = 100.0;

/// Scores are within 0..100 where they are meaningful; elsewhere (rows that do not fit) the conversion must still be
/// defined.
inline Points truncated(double score) { return static_cast<Points>(score > 1e6 ? 1e6 : score < -1e6 ? -1e6 : score); }

}  // namespace ashlar
