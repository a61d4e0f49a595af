// grown(column, row): the element of a column at a row, which the column is first extended to hold; new elements are default values.
// Amortised O(1). The reference holds until the column grows again.
#pragma once

#include <cstddef>
#include <vector>

namespace ashlar {

template <class T>
T& grown(std::vector<T>& column, std::size_t row) {
  if (row >= column.size()) column.resize(row + 1);
  return column[row];
}

}  // namespace ashlar
