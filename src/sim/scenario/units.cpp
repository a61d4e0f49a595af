#include "sim/scenario/units.h"

#include <array>
#include <charconv>
#include <cmath>

namespace ashlar::sim {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

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

}  // namespace

std::optional<double> parse_rate_per_hour(std::string_view text) {
  static constexpr std::array<Unit, 4> kUnits = {{{"/s", 3600}, {"/m", 60}, {"/h", 1}, {"/d", 1.0 / 24}}};
  const std::optional<double> number = take_number(text);
  const std::optional<double> factor = factor_of(text, kUnits);
  if (!number || !factor || *number * *factor < kRatePerHourMin) return std::nullopt;
  return *number * *factor;
}

}  // namespace ashlar::sim
