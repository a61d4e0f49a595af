// name_pattern: names with a place for a number: "rack-{i/8}". Inside braces stands i (number within its group) or n
// (number among all nodes), then any of /K, %K, +K with whole numbers K, worked from left to right, then optionally :W
// for at least W digits. "{i/8%4:2}" of 13 is "01".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ashlar::sim {

/// None if a brace is not closed or its content cannot be read.
std::optional<std::string> expand_pattern(std::string_view pattern, std::int64_t i, std::int64_t n);
inline constexpr std::string_view kPatternForm = "a name that may hold {i}, {n}, {i/8}, {i%8}, {i+1} or {i:3}";

}  // namespace ashlar::sim
