// nearest_name: which known name was probably meant by an unknown one? For error messages. Cost: O(names x length^2).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ashlar {

/// Insertions, deletions and substitutions that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// "; did you mean \"X\"?" with the nearest name if it is near, else "; known: A, B, C".
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace ashlar
