#include "sim/scenario/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "text/quantity_text.h"

namespace ashlar::sim {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kAmountMax = 4.5e15;  ///< 2^52: still exact in a double, and sums over a whole trace stay within int64

constexpr double kRatePerHourMin = 1e-6;  ///< once in a hundred years

/// Takes a number without sign or exponent from the front of `text`.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  if (text.empty() || ((text[0] < '0' || text[0] > '9') && text[0] != '.')) return std::nullopt;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (failure != std::errc() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

template <std::size_t N>
std::optional<double> factor_of(std::string_view name, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return std::nullopt;
}

/// A number and a unit, as a whole number of the smallest unit; none when it is not one (within a millionth) or too large.
template <std::size_t N>
std::optional<std::int64_t> parse_amount(std::string_view text, const std::array<Unit, N>& units) {
  const std::optional<double> number = take_number(text);
  const std::optional<double> factor = factor_of(text, units);
  if (!number || !factor) return std::nullopt;
  const double amount = *number * *factor;
  const double whole = std::nearbyint(amount);
  if (amount > kAmountMax || std::abs(amount - whole) > 1e-6) return std::nullopt;
  return static_cast<std::int64_t>(whole);
}

std::optional<Millis> duration_of(double millis) {
  if (millis > static_cast<double>(kDurationMax.value) || std::abs(millis - std::nearbyint(millis)) > 1e-3) return std::nullopt;
  return Millis(std::llround(millis));
}

std::optional<std::int64_t> quantity(std::string_view text, std::int64_t units_per_one) {
  const Result<std::int64_t> amount = parse_quantity(text, units_per_one);
  if (!amount || *amount < 0 || *amount > static_cast<std::int64_t>(kAmountMax)) return std::nullopt;
  return *amount;
}

}  // namespace

std::optional<Millis> parse_duration(std::string_view text) {
  static constexpr std::array<Unit, 7> kUnits = {{{"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"min", 6e4}, {"h", 3.6e6}, {"d", 8.64e7}, {"w", 6.048e8}}};
  if (const auto seconds = parse_amount(text, std::array<Unit, 1>{{{"", 1e3}}})) return duration_of(static_cast<double>(*seconds));
  double total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::optional<double> number = take_number(text);
    std::size_t letters = 0;
    while (letters < text.size() && text[letters] >= 'a' && text[letters] <= 'z') ++letters;
    const std::optional<double> factor = factor_of(text.substr(0, letters), kUnits);
    if (!number || !factor) return std::nullopt;
    total += *number * *factor;
    text.remove_prefix(letters);
  }
  return duration_of(total);
}

std::optional<MilliCores> parse_cores(std::string_view text) {
  const auto milli = quantity(text, 1000);
  return milli ? std::optional(MilliCores(*milli)) : std::nullopt;
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto bytes = quantity(text, 1);
  return bytes ? std::optional(Bytes(*bytes)) : std::nullopt;
}

std::optional<MilliGpu> parse_gpus(std::string_view text) {
  const auto amount = parse_amount(text, std::array<Unit, 1>{{{"", 1e3}}});
  if (!amount || *amount > MilliGpu::max().value) return std::nullopt;
  return MilliGpu(static_cast<std::int32_t>(*amount));
}

std::optional<double> parse_rate_per_hour(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits = {{{"/s", 3600}, {"/m", 60}, {"/h", 1}, {"/d", 1.0 / 24}}};
  const std::optional<double> number = take_number(text);
  const std::optional<double> factor = factor_of(text, kUnits);
  if (!number || !factor || *number * *factor < kRatePerHourMin) return std::nullopt;
  return *number * *factor;
}

}  // namespace ashlar::sim
