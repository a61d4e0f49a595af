// output_file: files that are written whole or not at all: the text goes to a temporary file in the same folder, which
// is then renamed. A reader never sees half a file, and a failed run leaves the old one unchanged.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ashlar::sim {

/// Whether `path` is one of these files, by whatever spelling or link. A file that does not exist is none of them.
bool is_one_of_files(const std::string& path, std::span<const std::string> files);
/// On failure nothing is left behind and `path` is unchanged.
Result<void> write_whole_file(const std::string& path, std::string_view text);

}  // namespace ashlar::sim
