// text_file: a whole file as text. Only regular files and pipes (as shells make of <(command)) are read; a device may
// never end.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace ashlar {

/// Nothing, or the Error of read_text_file() for a file that cannot be opened.
Result<void> check_readable(const std::string& path);
/// "PATH: cannot be read: CAUSE" on failure: kNotFound, kDenied, kUnavailable, or kInvalid for a folder, a device or
/// more than `bytes_max`.
Result<std::string> read_text_file(const std::string& path, std::size_t bytes_max);

}  // namespace ashlar
