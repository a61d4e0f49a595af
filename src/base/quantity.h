// Quantity<Tag>: amounts with a unit in the type (milliseconds, milli-GPU, bytes). Adding milli-cores to bytes does not
// compile. Integers only: the same log gives the same plan on every machine.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace ashlar {

template <class Tag, class Rep = std::int64_t>
struct Quantity {
  Rep value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep v) : value(v) {}

  static constexpr Quantity max() { return Quantity(std::numeric_limits<Rep>::max()); }
  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
  friend constexpr Quantity operator*(Quantity a, Rep k) { return Quantity(a.value * k); }
  friend constexpr Quantity operator*(Rep k, Quantity a) { return Quantity(a.value * k); }
  constexpr Quantity& operator+=(Quantity b) {
    value += b.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity b) {
    value -= b.value;
    return *this;
  }
};

/// time point (since the epoch of the Clock) or duration, milliseconds
using Millis = Quantity<struct MillisTag>;
using MilliGpu = Quantity<struct MilliGpuTag, std::int32_t>;  ///< thousandths of one device
using MilliCores = Quantity<struct MilliCoresTag>;            ///< thousandths of one CPU
using Bytes = Quantity<struct BytesTag>;                      ///< memory and storage
using MiB = Quantity<struct MiBTag>;                          ///< device memory

inline namespace literals {
constexpr Millis operator""_ms(unsigned long long v) { return Millis(static_cast<std::int64_t>(v)); }
constexpr Millis operator""_s(unsigned long long v) { return Millis(static_cast<std::int64_t>(v) * 1000); }
}  // namespace literals

}  // namespace ashlar
