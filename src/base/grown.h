// grown: columns that grow when they are written and may be shorter than the rows that are read. grown(column, row):
// the element at a row, to which the column is extended first; new elements are default values. Amortised O(1). The
// reference holds until the column grows again. value_at(column, row): the element at a row, or the default (which may
// be given) if the column is shorter.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace ashlar {

template <class T>
T& grown(std::vector<T>& column, std::size_t row) {
  if (row >= column.size()) column.resize(row + 1);
  return column[row];
}

template <class T>
T value_at(const std::vector<T>& column, std::size_t row, T otherwise = {}) {
  return row < column.size() ? column[row] : std::move(otherwise);
}

}  // namespace ashlar
