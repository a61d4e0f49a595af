// table: plain tables for the terminal: columns as wide as their widest cell, numbers right-aligned, words
// left-aligned.
#pragma once

#include <string>
#include <vector>

namespace ashlar::cli {

/// Rows of cells, the header first. Ends with a newline. Width counts Unicode code points. Short rows are filled with
/// empty cells.
std::string render_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace ashlar::cli
