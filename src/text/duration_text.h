// duration_text: "8s", "500ms", "1m30s": the words of Go and of Kubernetes configuration files, exactly, as whole milliseconds.
#pragma once

#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar {

/// A duration as Go writes it: numbers with units, "8s", "500ms", "1m30s", "1.5h"; or 0. Whole milliseconds; kInvalid otherwise.
Result<Millis> parse_duration(std::string_view text);

/// "1h12m", "3.2s": as much as a reader needs.
std::string duration_text(Millis duration);

}  // namespace ashlar
