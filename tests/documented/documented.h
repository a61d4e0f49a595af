// documented: whether a JSON document has only fields that docs/reference/json.md describes, with the types that it
// gives them.
#pragma once

#include <string>

namespace ashlar {

/// A line for each field of the document that docs/reference/json.md lacks, or gives another type; empty if there is
/// none.
std::string undocumented(const std::string& text);

}  // namespace ashlar
