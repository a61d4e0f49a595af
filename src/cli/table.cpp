#include "cli/table.h"

#include <algorithm>
#include <string_view>

namespace ashlar::cli {
namespace {

/// Code points: bytes that do not continue one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "12,345.6", "-3", "95.4 %", "—" and empty cells do not make a column one of words.
bool looks_like_a_number(std::string_view cell) {
  if (cell.empty() || cell == "-" || cell == "–" || cell == "—") return true;
  if (cell.front() == '-' || cell.front() == '+') cell.remove_prefix(1);
  if (cell.empty() || !is_digit(cell.front())) return false;
  return std::all_of(cell.begin(), cell.end(),
                     [](char c) { return is_digit(c) || c == ',' || c == '.' || c == ' ' || c == '%'; });
}

struct Column {
  std::size_t width = 0;
  bool is_number = true;
};

}  // namespace

std::string render_table(const std::vector<std::vector<std::string>>& rows) {
  constexpr std::string_view kGap = "  ";
  std::vector<Column> columns;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (columns.size() < rows[r].size()) columns.resize(rows[r].size());
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      columns[c].width = std::max(columns[c].width, width_of(rows[r][c]));
      if (r > 0 && !looks_like_a_number(rows[r][c])) columns[c].is_number = false;
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string cell = c < row.size() ? row[c] : std::string();
      const std::string fill(columns[c].width - width_of(cell), ' ');
      if (c > 0) line += kGap;
      line += columns[c].is_number ? fill + cell : cell + fill;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace ashlar::cli
