// ValueRows: one row for each distinct value in use, the lowest free one for a new value. A row whose last user is gone
// keeps its value until the next settle(), so that events the engine has not taken yet never refer to its successor.
// Cost: one hash lookup per value.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"

namespace ashlar {

template <class IdType, class Value>
class ValueRows {
 public:
  /// The row of the value, and whether it is new. A row that gets no user is given back by the next settle().
  std::pair<IdType, bool> of(Value value, std::uint64_t hash) {
    const auto [head, is_first] = first_.try_emplace(hash, kNone);
    for (std::uint32_t row = head->second; row != kNone; row = rows_[row].next)
      if (rows_[row].value == value) return {IdType(row), false};
    std::uint32_t row = static_cast<std::uint32_t>(rows_.size());
    if (free_.empty()) {
      rows_.emplace_back();
    } else {
      row = *free_.begin();
      free_.erase(free_.begin());
    }
    rows_[row] = {std::move(value), hash, head->second, 0, true};
    head->second = row;
    unused_.push_back(row);
    return {IdType(row), true};
  }
  void use(IdType id) { ++rows_[id.row()].users; }
  void leave(IdType id) {
    ASHLAR_CHECK(rows_[id.row()].users > 0);
    if (--rows_[id.row()].users == 0) unused_.push_back(id.value);
  }
  /// Gives back the rows without users: calls `gone(IdType)` for each while its value still exists.
  template <class Gone>
  void settle(Gone&& gone) {
    for (const std::uint32_t row : unused_) {
      if (!rows_[row].is_known || rows_[row].users > 0) continue;
      gone(IdType(row));
      unlink(row);
      rows_[row] = Row();
      free_.insert(row);
    }
    unused_.clear();
    const std::size_t had = rows_.size();
    for (; !rows_.empty() && !rows_.back().is_known; rows_.pop_back())
      free_.erase(static_cast<std::uint32_t>(rows_.size() - 1));
    if (rows_.size() >= had) return;
    if (rows_.capacity() > 2 * rows_.size() + kSpareMax) rows_.shrink_to_fit();
    if (unused_.capacity() > kSpareMax) unused_.shrink_to_fit();
    if (first_.bucket_count() > 4 * first_.size() + kSpareMax) first_.rehash(0);
  }
  const Value& operator[](IdType id) const { return rows_[id.row()].value; }
  std::size_t size() const { return rows_.size() - free_.size(); }
  /// In ascending order of rows.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::size_t row = 0; row < rows_.size(); ++row)
      if (rows_[row].is_known) visit(IdType(row), rows_[row].value);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::size_t kSpareMax = 256;
  struct Row {
    Value value;
    std::uint64_t hash = 0;
    std::uint32_t next = kNone;  ///< of the same hash
    std::uint32_t users = 0;
    bool is_known = false;
  };
  void unlink(std::uint32_t row) {
    const auto head = first_.find(rows_[row].hash);
    if (head->second == row && rows_[row].next == kNone) {
      first_.erase(head);
      return;
    }
    std::uint32_t* at = &head->second;
    while (*at != row) at = &rows_[*at].next;
    *at = rows_[row].next;
  }
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> first_;
  std::vector<Row> rows_;
  std::set<std::uint32_t> free_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace ashlar
