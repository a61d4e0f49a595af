// duration_text: durations as people read and write them, in one grammar for configuration, labels, scenarios and
// cases.
#pragma once

#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar {

/// 100 years: a million such jobs still add up within int64, and the decision log takes no number beyond 2^60.
inline constexpr Millis kDurationMax{std::int64_t{36'500} * 86'400'000};  // for tests
/// What parse_duration() accepts, for error messages.
inline constexpr std::string_view kDurationForm = "a time such as 90s, 5m, 1h30m or 2d, at most 100 years";

/// Numbers with units put together: "8s", "500ms", "1h30m", "1.5h"; units ns, us, ms, s, m (or min), h, d, w. A bare
/// number is seconds. Whole milliseconds from 0 to kDurationMax; kInvalid otherwise.
Result<Millis> parse_duration(std::string_view text);

/// "90s", "1.5s": exact, as cases write times.
std::string seconds_text(Millis duration);
/// "1h12m", "3.2s": as much as a reader needs.
std::string duration_text(Millis duration);

}  // namespace ashlar
