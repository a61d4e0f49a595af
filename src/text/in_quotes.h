// in_quotes: the begin of a text of any length, in quotes, for a sentence that says what is wrong with it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ashlar {

/// At most that many bytes of it, so that what follows is not cut off with its end.
inline std::string in_quotes(std::string_view text, std::size_t bytes_max = 80) {
  return "\"" + std::string(text.substr(0, bytes_max)) + "\"";
}

}  // namespace ashlar
