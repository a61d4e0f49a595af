// Rng: seeded random numbers that are the same on every machine and standard library (std distributions are not). One
// stream per purpose.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/digest.h"

namespace ashlar {

class Rng {
 public:
  explicit Rng(std::uint64_t seed = 0) : state_(seed) {}

  /// splitmix64: 64 uniform bits.
  std::uint64_t next() { return mix64(state_ += 0x9e3779b97f4a7c15ull); }
  /// Uniform in [0, bound); bound > 0. Multiply-shift; its bias is below 2^-32 for bounds below 2^32.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Exponential with the given mean.
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }
  std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace ashlar
