#include "base/decay.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace ashlar {
namespace {

constexpr int kBits = 40;  ///< of the fraction of a half-life

/// 2 to the power of -1/2, -1/4, -1/8 and so on.
std::array<double, kBits> roots_of_a_half() {
  std::array<double, kBits> roots{};
  double root = 0.5;
  for (double& r : roots) r = root = std::sqrt(root);
  return roots;
}

}  // namespace

double share_left(Millis elapsed, Millis half_life) {
  static const std::array<double, kBits> kRoots = roots_of_a_half();
  if (elapsed.value <= 0) return 1;
  if (half_life.value <= 0) return 0;
  const std::int64_t halvings = elapsed.value / half_life.value;
  if (halvings > 2000) return 0;
  const auto rest = static_cast<unsigned __int128>(elapsed.value % half_life.value);
  const auto fraction = static_cast<std::uint64_t>((rest << kBits) / static_cast<unsigned __int128>(half_life.value));
  double left = std::ldexp(1.0, -static_cast<int>(halvings));
  for (int bit = 0; bit < kBits; ++bit)
    if ((fraction >> (kBits - 1 - bit) & 1) != 0) left *= kRoots[static_cast<std::size_t>(bit)];
  return left;
}

}  // namespace ashlar
