// nearest_name: the known name that an unknown one was probably meant to be, for error messages. Cost: O(names x
// length^2).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);
/// "A, B or C"
std::string or_list(std::span<const std::string_view> words);
/// "; did you mean \"X\"?"
std::string meant_text(std::string_view meant);
/// The same with the known name nearest to `name`; empty if none is near.
std::string suggestion(std::string_view name, std::span<const std::string_view> known);
std::string suggestion(std::string_view name, const std::vector<std::string>& known);
/// "; did you mean \"X\"?" with the nearest name if it is near, else "; known: A, B, C" with the first of them; nothing
/// if none is known.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace ashlar
