// csv: rows of comma-separated text with a header line. The first wrong cell is kept as an Error with file, line,
// column and the expected form; after it next_row() is false and cells read as zero, so a reader checks once, at the
// end. Cost: one pass, no allocation per row; about 20 ns per cell.
//
//   auto csv = CsvReader::open("nodes.csv");            if (!csv) return csv.error();
//   const CsvColumn cpu = csv->column("cpu_milli");     // required; csv->find("qos") for an optional one
//   while (csv->next_row()) total += csv->integer(cpu, {.min = 0, .form = "milli-cores, a whole number from 0"});
//   if (csv->failed()) return csv->error();
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ashlar::sim {

/// A column of one CsvReader; absent if an optional column is not in the header.
struct CsvColumn {
  static constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();
  std::size_t index = kAbsent;
  bool is_present() const { return index != kAbsent; }
};

/// The allowed range of a number, and its description in messages.
struct IntegerForm {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  std::string_view form = "a whole number";
};

class CsvReader {
 public:
  /// Reads the file (packed or plain) and its header. Empty files and duplicate column names are Errors.
  static Result<CsvReader> open(const std::string& path);
  /// The same for text in memory; `name` stands for the file in messages.
  static Result<CsvReader> from_text(std::string text, std::string name);  // for tests

  /// A required column; its absence is the reader's Error.
  CsvColumn column(std::string_view name);
  /// The column under the first of two names that exists; absence of both is the reader's Error.
  CsvColumn column_either(std::string_view name, std::string_view other);
  /// An optional column.
  CsvColumn find(std::string_view name) const;
  const std::vector<std::string>& header() const { return header_; }

  /// Moves to the next row with content. False at the end or after an Error.
  bool next_row();
  std::size_t line() const { return line_; }

  /// Cells of the current row; an absent column reads as empty. Views last until the next next_row().
  std::string_view text(CsvColumn column) const;
  /// A non-empty text.
  std::string_view word(CsvColumn column, std::string_view form);
  std::int64_t integer(CsvColumn column, const IntegerForm& form);
  /// None if the cell is empty or the column absent.
  std::optional<std::int64_t> integer_if_any(CsvColumn column, const IntegerForm& form);
  double real(CsvColumn column, std::string_view form);

  /// Makes this cell the Error: `FILE:LINE:COLUMN: NAME: expected FORM, got "CELL"`.
  void reject(CsvColumn column, std::string_view form);
  /// The same for a piece of the cell, which must be a view into text(column).
  void reject_piece(CsvColumn column, std::string_view piece, std::string_view form);
  /// Makes the current line the Error, with a message of the caller's.
  void reject_line(std::string_view message);
  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  const std::string& name() const { return name_; }

 private:
  CsvReader(std::string text, std::string name) : text_(std::move(text)), name_(std::move(name)) {}
  bool split_line();
  bool take_quoted(std::size_t& at);
  std::string place(std::size_t offset) const;

  struct Cell {
    std::size_t offset = 0, size = 0;
    bool is_quoted = false;
  };

  std::string text_;
  std::string name_;
  std::vector<std::string> header_;
  std::vector<Cell> cells_;
  std::vector<std::string> unquoted_;  ///< texts of quoted cells, by cell; empty unless the row has quotes
  std::size_t next_ = 0;               ///< offset of the next line
  std::size_t line_start_ = 0;
  std::size_t line_ = 0, next_line_ = 1;
  std::optional<Error> error_;
};

}  // namespace ashlar::sim
