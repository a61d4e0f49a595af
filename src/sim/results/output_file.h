// output_file: files that are written whole or not at all: the text goes to a temporary file in the same folder, which then takes the name. A reader
// never sees half a file, and a failed run leaves the old one as it was.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ashlar::sim {

/// On failure nothing is left behind and `path` is unchanged.
Result<void> write_whole_file(const std::string& path, std::string_view text);

}  // namespace ashlar::sim
