#include "policy/score/fgd/mix_limit.h"

namespace ashlar {

std::string mix_problem(const FgdMix& mix) {
  if (mix.classes.size() <= kMixClassesMax) return {};
  return std::to_string(mix.classes.size()) + " classes of pods make up 95 % of the mix, and at most " +
         std::to_string(kMixClassesMax) + " are compared; round what they request, so that more pods are alike";
}

}  // namespace ashlar
