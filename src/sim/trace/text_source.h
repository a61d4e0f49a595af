// text_source: text of an input file, whole and unpacked. Input: a path of a plain, gzip, xz or zstd file, told apart by its first bytes, never by
// its name alone. Cost: one read of the file and one pass of the decompressor; the whole text is held in memory (traces are megabytes), at most
// 4 GiB of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ashlar::sim {

/// The text of `path`. A missing file, a folder, and a damaged or cut-off archive are Errors that name the file and what to do.
Result<std::string> read_text(const std::string& path);

/// The same for bytes already in memory; `name` stands for the file in messages.
Result<std::string> unpack(std::string bytes, const std::string& name);  // for tests

/// A piece of a file as it can be shown on one line of a terminal: what is neither a character of UTF-8 nor printable is a question mark.
std::string printable(std::string_view text);

}  // namespace ashlar::sim
