// amount_text: amounts for people: "8 GPUs", "1.5 cores", "64 GiB", "3 nodes"; and in one word, "64GiB", as in cases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/quantity.h"
#include "base/result.h"

namespace ashlar {

/// "3 nodes", "1 node".
std::string node_count_text(std::int64_t count);
/// An amount of what a quota counts (quota_number): "8 GPUs", "1.5 cores", "64 GiB", pieces as a number.
std::string quota_text(std::int64_t dimension, std::int64_t amount);
/// The same without the unit, where the unit follows: "4 of its 8 GPUs".
std::string bare_quota_text(std::int64_t dimension, std::int64_t amount);
/// An amount of a resource: "2 cores", "16 GiB", pieces as a number.
std::string amount_text(ResourceId resource, std::int64_t amount);

/// Thousandths in one word: 2000 is "2", 500 is "0.5".
std::string milli_word(std::int64_t milli);
/// An amount of a resource in one word: "1.5" cores, "64GiB".
std::string amount_word(ResourceId resource, std::int64_t amount);
/// Bytes in one word of few digits, rounded down: "503.4GiB", "1.9TiB", "512MiB".
std::string rounded_bytes_word(std::int64_t bytes);
/// An amount of a quota's dimension in one word, "unlimited" if there is no limit.
std::string quota_word(std::int64_t dimension, std::int64_t amount);

/// A quantity as Kubernetes writes it: "8", "0.5" or "500m". At least 0; none if it cannot be read exactly.
std::optional<MilliCores> parse_cores(std::string_view text);
inline constexpr std::string_view kCoresForm = "CPU cores such as 8, 0.5 or 500m";
/// A quantity as Kubernetes writes it: bytes, or with Ki .. Ei (powers of 1024, "KiB" too) or k .. E (powers of 1000).
/// From 0 to 4Pi; none as above.
std::optional<Bytes> parse_bytes(std::string_view text);
inline constexpr std::string_view kBytesForm = "memory such as 64Gi, 512Mi or 1Ti";
inline constexpr std::int64_t kDeviceMemoryMaxMib = std::int64_t{1} << 30;  ///< of one GPU; more is a typing error
/// GPU memory that is requested: as above, at least 1Mi or 0, rounded up to whole MiB. kInvalid says what is wrong with
/// `text`.
Result<MiB> parse_gpu_memory(std::string_view text);
/// A limit of a queue in the unit of what it counts (quota_number): thousandths of a GPU, thousandths of a core,
/// bytes. A quantity as above, of any size: "8", "0.5", "500m" or "1k" GPUs. kInvalid says what is wrong with `text`.
Result<std::int64_t> parse_quota(std::int64_t dimension, std::string_view text);

}  // namespace ashlar
