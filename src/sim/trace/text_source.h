// text_source: text of an input file, whole and unpacked. Input: a path of a plain, gzip, xz or zstd file,
// distinguished by its first bytes, never by its name alone. Cost: one read of the file and one pass of the
// decompressor; the whole text is held in memory (traces are megabytes), at most 4 GiB of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ashlar::sim {

/// The text of `path`. A file that cannot be read and a corrupt or truncated archive are Errors that name the file and
/// the cause.
Result<std::string> read_text(const std::string& path);

/// The same for bytes already in memory; `name` stands for the file in messages.
Result<std::string> unpack(std::string bytes, const std::string& name);  // for tests

/// A piece of a file in a form that fits one line of a terminal: bytes that are not UTF-8 or not printable become
/// question marks.
std::string printable(std::string_view text);

}  // namespace ashlar::sim
