// RowJournal: the rows of a table that have changed since they were last taken, each once, for a copy of the table
// elsewhere. JournaledRows: plain rows with such a journal. Cost: a byte per row and a few nanoseconds per change, and
// nothing before start().
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ashlar::kube {

/// A row and its new value.
template <class T>
using RowChanges = std::vector<std::pair<std::uint32_t, T>>;

class RowJournal {
 public:
  void start() { is_kept_ = true; }
  void stop() { *this = {}; }
  void note(std::uint32_t row) {
    if (!is_kept_) return;
    if (row >= is_noted_.size()) is_noted_.resize(row + 1);
    if (is_noted_[row] != 0) return;
    is_noted_[row] = 1;
    rows_.push_back(row);
  }
  bool is_empty() const { return rows_.empty(); }
  /// The changed rows with their present values, in the order of their first change; forgets them.
  template <class Row>
  void take(RowChanges<Row>& out, const std::vector<Row>& rows) {
    out.reserve(out.size() + rows_.size());
    for (const std::uint32_t row : rows_) {
      is_noted_[row] = 0;
      out.emplace_back(row, row < rows.size() ? rows[row] : Row());
    }
    rows_.clear();
    if (rows_.capacity() > kRowsKept) rows_.shrink_to_fit();
  }

 private:
  static constexpr std::size_t kRowsKept = 1024;  ///< the memory of a longer list is not kept
  bool is_kept_ = false;
  std::vector<std::uint8_t> is_noted_;  ///< by row
  std::vector<std::uint32_t> rows_;
};

template <class T>
class JournaledRows {
 public:
  void start_journal() { journal_.start(); }
  void stop_journal() { journal_.stop(); }
  std::size_t size() const { return rows_.size(); }
  const T& operator[](std::size_t row) const { return rows_[row]; }
  /// The default value for a row that was never written.
  T value(std::size_t row) const { return row < rows_.size() ? rows_[row] : T(); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  /// To change the row; the table grows to it. The reference holds until the table grows again.
  T& edit(std::size_t row) {
    if (row >= rows_.size()) rows_.resize(row + 1);
    journal_.note(static_cast<std::uint32_t>(row));
    return rows_[row];
  }
  bool has_changes() const { return !journal_.is_empty(); }
  void take_changes(RowChanges<T>& out) { journal_.take(out, rows_); }
  void put(RowChanges<T>&& changes) {
    for (auto& [row, value] : changes) edit(row) = std::move(value);
  }

 private:
  std::vector<T> rows_;
  RowJournal journal_;
};

}  // namespace ashlar::kube
