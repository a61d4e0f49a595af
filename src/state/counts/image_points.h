// image_points: what images on a node are worth to a pod, as kube-scheduler's ImageLocality.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ashlar {

/// 0..100, from 23 MiB to 1,000 MiB for each of the pod's images. `bytes`: of those that a node has, each times the
/// share of all nodes that have it.
inline std::uint8_t image_points(std::int64_t bytes, std::size_t images_of_pod) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  constexpr std::int64_t kLeast = 23 * kMiB, kMostOfAnImage = 1000 * kMiB;
  const std::int64_t most = kMostOfAnImage * static_cast<std::int64_t>(std::max<std::size_t>(images_of_pod, 1));
  return static_cast<std::uint8_t>(100 * (std::clamp(bytes, kLeast, most) - kLeast) / (most - kLeast));
}

}  // namespace ashlar
