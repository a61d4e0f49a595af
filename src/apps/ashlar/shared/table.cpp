#include "apps/ashlar/shared/table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ashlar {
namespace {

/// In UTF-8, continuation bytes take no column.
std::size_t columns_of(const std::string& cell) {
  return static_cast<std::size_t>(
      std::count_if(cell.begin(), cell.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

Table::Table(std::vector<std::string> columns) {
  for (std::string& name : columns) {
    is_number_.push_back(name.starts_with('>'));
    if (is_number_.back()) name.erase(0, 1);
  }
  add(std::move(columns));
}

void Table::add(std::vector<std::string> cells) {
  ASHLAR_CHECK(cells.size() == is_number_.size());
  for (std::string& cell : cells)
    if (cell.empty()) cell = "-";
  rows_.push_back({std::move(cells), {}});
}

std::string Table::text() const {
  std::vector<std::size_t> widths(is_number_.size(), 0);
  for (const Row& row : rows_)
    for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], columns_of(row.cells[c]));
  std::string text;
  for (const Row& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string gap(widths[c] - columns_of(row.cells[c]), ' ');
      line += (c == 0 ? "" : "  ") + (is_number_[c] ? gap + row.cells[c] : row.cells[c] + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n' + row.lines;
  }
  return text;
}

}  // namespace ashlar
