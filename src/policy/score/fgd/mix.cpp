#include "policy/score/fgd/mix.h"

#include <algorithm>
#include <tuple>

namespace ashlar {
namespace {

constexpr double kPopularityPercent = 95.0;  ///< of the pods, held by the classes of the mix

bool goes_first(const FgdSample& a, const FgdSample& b) {
  return std::tie(a.count, a.cpu_milli, a.milli_each, a.devices, a.models_text) >
         std::tie(b.count, b.cpu_milli, b.milli_each, b.devices, b.models_text);
}

auto class_of(const FgdSample& s) { return std::tie(s.cpu_milli, s.milli_each, s.devices, s.models_text); }

/// Samples of one class become one, so that callers may pass a pod list as it is.
std::vector<FgdSample> merged(std::vector<FgdSample> samples) {
  std::ranges::stable_sort(samples, {}, class_of);
  std::vector<FgdSample> out;
  for (FgdSample& s : samples) {
    if (!out.empty() && class_of(out.back()) == class_of(s))
      out.back().count += s.count;
    else
      out.push_back(std::move(s));
  }
  return out;
}

}  // namespace

FgdMix make_mix(std::vector<FgdSample> samples) {
  samples = merged(std::move(samples));
  std::sort(samples.begin(), samples.end(), goes_first);
  double total = 0;
  for (const FgdSample& s : samples) total += static_cast<double>(s.count);
  const double wanted = kPopularityPercent * total / 100.0;
  double held = 0;
  std::size_t taken = 0;
  while (taken < samples.size() && held < wanted) held += static_cast<double>(samples[taken++].count);
  FgdMix mix;
  for (std::size_t i = 0; i < taken; ++i) {
    const FgdSample& s = samples[i];
    mix.classes.push_back(
        {s.cpu_milli, s.devices, s.milli_each, s.models, static_cast<double>(s.count) / total / (held / total)});
  }
  return mix;
}

double fragment_of(const FgdMix& mix, const FgdNode& node) { return mix.evaluator().fragment(node); }

}  // namespace ashlar
