// units: amounts as people write them: "90s", "1h30m", "500m" cores, "64Gi", "120/h". Nothing that cannot be read exactly is guessed at: the answer
// is then none, and the caller says what was expected.
#pragma once

#include <optional>
#include <string_view>

#include "base/quantity.h"

namespace ashlar::sim {

/// Numbers with ms, s, m (or min), h, d or w, put together at will ("1h30m"); a bare number is seconds. At least 0, at most
/// kDurationMax.
inline constexpr Millis kDurationMax{std::int64_t{100} * 365 * 86'400'000};  ///< 100 years: a million such jobs still add up within int64
std::optional<Millis> parse_duration(std::string_view text);
inline constexpr std::string_view kDurationForm = "a time such as 90s, 5m, 1h30m or 2d, at most 100 years";

/// A quantity as Kubernetes writes it: "8", "0.5" or "500m". At least 0.
std::optional<MilliCores> parse_cores(std::string_view text);
inline constexpr std::string_view kCoresForm = "CPU cores such as 8, 0.5 or 500m";

/// A quantity as Kubernetes writes it: bytes, or with Ki .. Ei (powers of 1024) or k .. E (powers of 1000). At least 0.
std::optional<Bytes> parse_bytes(std::string_view text);
inline constexpr std::string_view kBytesForm = "memory such as 64Gi, 512Mi or 1Ti";

/// Devices as thousandths: "8" or "0.5".
std::optional<MilliGpu> parse_gpus(std::string_view text);
inline constexpr std::string_view kGpusForm = "a number of GPUs such as 8 or 0.5";

/// Per hour, from "120/h", "2/s", "30/m" or "500/d".
std::optional<double> parse_rate_per_hour(std::string_view text);
inline constexpr std::string_view kRateForm = "a rate such as 120/h, 2/s, 30/m or 500/d";

}  // namespace ashlar::sim
