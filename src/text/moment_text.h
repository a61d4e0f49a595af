// parse_moment: a moment of the calendar, from its text.
#pragma once

#include <string_view>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar {

/// RFC 3339 (with optional fraction and zone), such as "2026-01-31T12:00:00Z", to milliseconds since the epoch;
/// kInvalid otherwise.
Result<Millis> parse_moment(std::string_view text);

}  // namespace ashlar
