#include "sim/trace/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "sim/trace/text_source.h"

namespace ashlar::sim {
namespace {

/// Longest piece of a cell that a message quotes.
constexpr std::size_t kQuotedCellMax = 60;

/// A cell in a form that fits one line of a terminal.
std::string shown(std::string_view cell) {
  return '"' + printable(cell.substr(0, kQuotedCellMax)) + (cell.size() > kQuotedCellMax ? "...\"" : "\"");
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

std::string_view trimmed(std::string_view cell) {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
  return cell;
}

std::string expectation(std::string_view form, std::string_view cell) {
  return "expected " + std::string(form) + ", got " + (cell.empty() ? std::string("nothing") : shown(cell));
}

}  // namespace

Result<CsvReader> CsvReader::open(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text) return text.error();
  return from_text(std::move(*text), path);
}

Result<CsvReader> CsvReader::from_text(std::string text, std::string name) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.erase(0, 3);  // byte order mark
  CsvReader reader(std::move(text), std::move(name));
  if (!reader.split_line()) {
    if (reader.failed()) return reader.error();
    return invalid(reader.name_ + ":1:1: expected a header line with column names, got an empty file");
  }
  for (std::size_t i = 0; i < reader.cells_.size(); ++i) {
    std::string column(trimmed(reader.text({i})));
    const auto& known = reader.header_;
    if (!column.empty() && std::find(known.begin(), known.end(), column) != known.end()) {
      reader.reject({i}, "every column name once");
      return reader.error();
    }
    reader.header_.push_back(std::move(column));
  }
  return reader;
}

CsvColumn CsvReader::find(std::string_view name) const {
  const auto at = std::find(header_.begin(), header_.end(), name);
  return at == header_.end() ? CsvColumn{} : CsvColumn{static_cast<std::size_t>(at - header_.begin())};
}

CsvColumn CsvReader::column(std::string_view name) { return column_either(name, name); }

CsvColumn CsvReader::column_either(std::string_view name, std::string_view other) {
  for (std::string_view each : {name, other}) {
    if (const CsvColumn column = find(each); column.is_present()) return column;
  }
  if (!failed()) {
    const std::string wanted = name == other ? shown(name) : shown(name) + " or " + shown(other);
    error_ = invalid(name_ + ":1:1: expected a column " + wanted + ", got the header " + shown(joined(header_)));
  }
  return {};
}

/// Splits the next non-empty line into cells_. False at the end of the text or on a malformed quote.
bool CsvReader::split_line() {
  for (;;) {
    if (next_ >= text_.size()) return false;
    line_ = next_line_;
    line_start_ = next_;
    cells_.clear();
    unquoted_.clear();
    std::size_t at = next_;
    const char* const base = text_.data();
    for (;;) {
      if (at < text_.size() && base[at] == '"') {
        if (!take_quoted(at)) return false;
      } else {
        const std::size_t start = at;
        while (at < text_.size() && base[at] != ',' && base[at] != '\n') ++at;
        std::size_t end = at;
        if (end > start && base[end - 1] == '\r' && (at == text_.size() || base[at] == '\n')) --end;
        cells_.push_back({start, end - start, false});
      }
      if (at >= text_.size() || base[at] == '\n') break;
      ++at;  // the comma
    }
    next_ = at + 1;
    ++next_line_;
    const bool is_blank = cells_.size() == 1 && !cells_[0].is_quoted && trimmed(text({0})).empty();
    if (!is_blank) return true;
  }
}

/// Takes one quoted cell (RFC 4180: a doubled quote stands for one, line ends are allowed inside) and leaves `at`
/// behind it.
bool CsvReader::take_quoted(std::size_t& at) {
  const std::size_t start = at;
  std::string content;
  for (++at;; ++at) {
    if (at >= text_.size()) {
      error_ = invalid(place(start) + ": expected a closing quote \" before the end of the file");
      return false;
    }
    if (text_[at] == '\n') ++next_line_;
    if (text_[at] != '"') {
      content += text_[at];
    } else if (at + 1 < text_.size() && text_[at + 1] == '"') {
      content += text_[++at];
    } else {
      break;
    }
  }
  ++at;
  if (at < text_.size() && text_[at] == '\r') ++at;
  if (at < text_.size() && text_[at] != ',' && text_[at] != '\n') {
    error_ = invalid(place(start) + ": expected a comma or a line end after the closing quote, got " +
                     shown(std::string_view(text_).substr(at, 1)));
    return false;
  }
  unquoted_.resize(cells_.size());
  unquoted_.push_back(std::move(content));
  cells_.push_back({start, 0, true});
  return true;
}

bool CsvReader::next_row() {
  if (failed() || !split_line()) {
    cells_.clear();
    return false;
  }
  if (cells_.size() != header_.size()) {
    const std::size_t offset = cells_.size() > header_.size() ? cells_[header_.size()].offset : cells_.back().offset;
    error_ = invalid(place(offset) + ": expected " + std::to_string(header_.size()) + " cells (" +
                     printable(joined(header_)) + "), got " + std::to_string(cells_.size()));
    cells_.clear();
    return false;
  }
  return true;
}

std::string_view CsvReader::text(CsvColumn column) const {
  if (column.index >= cells_.size()) return {};
  const Cell& cell = cells_[column.index];
  return cell.is_quoted ? std::string_view(unquoted_[column.index])
                        : std::string_view(text_).substr(cell.offset, cell.size);
}

std::string_view CsvReader::word(CsvColumn column, std::string_view form) {
  const std::string_view cell = trimmed(text(column));
  if (cell.empty()) reject(column, form);
  return cell;
}

std::int64_t CsvReader::integer(CsvColumn column, const IntegerForm& form) {
  const std::string_view cell = trimmed(text(column));
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (failure == std::errc() && end == cell.data() + cell.size() && value >= form.min && value <= form.max)
    return value;
  reject(column, form.form);
  return std::clamp<std::int64_t>(0, form.min, form.max);
}

std::optional<std::int64_t> CsvReader::integer_if_any(CsvColumn column, const IntegerForm& form) {
  if (trimmed(text(column)).empty()) return std::nullopt;
  return integer(column, form);
}

double CsvReader::real(CsvColumn column, std::string_view form) {
  const std::string_view cell = trimmed(text(column));
  double value = 0;
  const auto [end, failure] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (failure == std::errc() && end == cell.data() + cell.size() && std::isfinite(value)) return value;
  reject(column, form);
  return 0;
}

/// FILE:LINE:COLUMN of an offset in the current line, counted in bytes from 1.
std::string CsvReader::place(std::size_t offset) const {
  return name_ + ":" + std::to_string(line_) + ":" + std::to_string(offset - line_start_ + 1);
}

void CsvReader::reject(CsvColumn column, std::string_view form) { reject_piece(column, text(column), form); }

void CsvReader::reject_piece(CsvColumn column, std::string_view piece, std::string_view form) {
  if (failed()) return;
  const bool is_cell = column.index < cells_.size();
  std::size_t offset = is_cell ? cells_[column.index].offset : line_start_;
  // A piece of a quoted cell has no position of its own in the file; its cell is near enough.
  if (is_cell && !cells_[column.index].is_quoted) offset = static_cast<std::size_t>(piece.data() - text_.data());
  const std::string title =
      column.index < header_.size() && !header_[column.index].empty() ? printable(header_[column.index]) + ": " : "";
  error_ = invalid(place(offset) + ": " + title + expectation(form, piece));
}

void CsvReader::reject_line(std::string_view message) {
  if (!failed()) error_ = invalid(place(line_start_) + ": " + std::string(message));
}

}  // namespace ashlar::sim
