// documented: whether JSON documents have the fields that docs/reference/json.md describes, with the types that it gives
// them, and no others.
#pragma once

#include <string>
#include <vector>

namespace ashlar {

/// A line for each field of the document that docs/reference/json.md lacks, or gives another type; empty if there is
/// none.
std::string undocumented(const std::string& text);

/// A line for each field of the kind that none of these documents of it has; empty if there is none.
std::string unprinted(const std::string& kind, const std::vector<std::string>& texts);

}  // namespace ashlar
