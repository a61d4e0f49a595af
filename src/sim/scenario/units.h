// units: rates as people write them: "120/h". Nothing that cannot be read exactly is guessed at.
#pragma once

#include <optional>
#include <string_view>

#include "base/quantity.h"

namespace ashlar::sim {

/// Per hour, from "120/h", "2/s", "30/m" or "500/d".
std::optional<double> parse_rate_per_hour(std::string_view text);
inline constexpr std::string_view kRateForm = "a rate such as 120/h, 2/s, 30/m or 500/d";

}  // namespace ashlar::sim
