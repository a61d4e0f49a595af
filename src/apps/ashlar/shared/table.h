// Table: rows of words in columns as wide as their widest cell, two spaces apart, for people. Numbers are
// right-aligned; no line ends in a space, and an empty cell is "-".
//
//   Table table({"NAME", ">GPUS", "REASON"});
//   table.add({"team-a/train", "8", "InsufficientGPU"});
//   text += table.text();
#pragma once

#include <string>
#include <vector>

namespace ashlar {

class Table {
 public:
  /// The header; a column whose name begins with '>' holds numbers.
  explicit Table(std::vector<std::string> columns);
  /// As many cells as there are columns.
  void add(std::vector<std::string> cells);
  /// Whole lines below the row added last, unchanged.
  void add_lines(const std::string& lines) { rows_.back().lines += lines; }
  std::string text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string lines;
  };
  std::vector<bool> is_number_;
  std::vector<Row> rows_;  ///< the header first
};

}  // namespace ashlar
