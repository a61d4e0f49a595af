// amounts: how much is "4Ti", "1500m", "640", and how long "1m30s"? The words of Kubernetes configuration files, exactly, as integers.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::config {

/// An amount times `units_per_one` (1 for bytes, 1000 for milli): digits with an optional fraction and one of the suffixes n u m k M G T P E or
/// Ki Mi Gi Ti Pi Ei. A fraction of the unit is rounded up. kInvalid for anything else, for negative amounts and beyond int64.
Result<std::int64_t> parse_amount(std::string_view text, std::int64_t units_per_one);

/// A duration as Go writes it: numbers with units, "8s", "500ms", "1m30s", "1.5h"; or 0. Whole milliseconds; kInvalid otherwise.
Result<Millis> parse_duration(std::string_view text);

}  // namespace ashlar::config
