// units: rates in the usual notation: "120/h". What cannot be read exactly is an error, never a guess.
#pragma once

#include <optional>
#include <string_view>

#include "base/quantity.h"

namespace ashlar::sim {

/// Per hour, from "120/h", "2/s", "30/m" or "500/d".
std::optional<double> parse_rate_per_hour(std::string_view text);
inline constexpr std::string_view kRateForm = "a rate such as 120/h, 2/s, 30/m or 500/d";

}  // namespace ashlar::sim
