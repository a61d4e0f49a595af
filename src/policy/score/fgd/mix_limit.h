// mix_limit: how many classes of pods a mix may have. A mix from a file is checked before an engine uses it.
#pragma once

#include <cstddef>
#include <string>

#include "policy/score/fgd/mix.h"

namespace ashlar {

inline constexpr std::size_t kMixClassesMax = 1024;  ///< published ones have up to 100

/// The message where there are more; empty if there are not.
std::string mix_problem(const FgdMix& mix);

}  // namespace ashlar
