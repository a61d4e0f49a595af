// ExactSums: what columns of sums cannot show. A column shows at most kShownMax either way, so that whatever reads it
// may add to it without overflow; the value of a cell beyond that is kept here, so that taking amounts back undoes
// adding them exactly, in any order. Cost: two comparisons per change while no cell is beyond, else O(log cells).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/digest.h"

namespace ashlar {

struct ExactSums {
  using Wide = __int128;
  static constexpr std::int64_t kShownMax = std::int64_t{1} << 60;

  /// times * kShownMax + rest, with 0 <= rest < kShownMax: both are numbers that a column could show.
  struct Beyond {
    std::uint64_t cell = 0;
    std::int64_t times = 0, rest = 0;
    Wide value() const { return Wide{times} * kShownMax + rest; }
    friend bool operator==(const Beyond&, const Beyond&) = default;
  };
  std::vector<Beyond> beyond;  ///< ascending by cell; no values that can be shown

  /// What the cell is to show from now on, where it showed `shown` and `by` is added.
  std::int64_t add(std::uint64_t cell, std::int64_t shown, std::int64_t by) {
    std::int64_t sum = 0;
    if (beyond.empty() && !__builtin_add_overflow(shown, by, &sum) && sum >= -kShownMax && sum <= kShownMax) return sum;
    return set(cell, value(cell, shown) + by);
  }
  /// The exact value of a cell that shows this.
  Wide value(std::uint64_t cell, std::int64_t shown) const {
    const auto at = std::ranges::lower_bound(beyond, cell, {}, &Beyond::cell);
    return at != beyond.end() && at->cell == cell ? at->value() : Wide{shown};
  }
  /// What the cell is to show, whose exact value is this from now on.
  std::int64_t set(std::uint64_t cell, Wide value) {
    auto at = std::ranges::lower_bound(beyond, cell, {}, &Beyond::cell);
    const bool is_known = at != beyond.end() && at->cell == cell;
    if (can_be_shown(value)) {
      if (is_known) beyond.erase(at);
      return static_cast<std::int64_t>(value);
    }
    if (!is_known) at = beyond.insert(at, {cell, 0, 0});
    const auto rest = static_cast<std::int64_t>(value & (kShownMax - 1));
    at->times = static_cast<std::int64_t>((value - rest) / kShownMax);
    at->rest = rest;
    return value < 0 ? -kShownMax : kShownMax;
  }
  std::uint64_t digest() const {
    std::uint64_t sum = 0;
    for (const Beyond& b : beyond)
      sum += mix64(
          hash_combine(hash_combine(b.cell, static_cast<std::uint64_t>(b.times)), static_cast<std::uint64_t>(b.rest)));
    return sum;
  }
  /// Whether the list is in order and each of its cells, by `shown_of(cell)`, shows the limit on its side.
  template <class ShownOf>
  bool is_sound(ShownOf&& shown_of) const {
    const auto is_before = [](const Beyond& a, const Beyond& b) { return a.cell < b.cell; };
    return std::ranges::adjacent_find(beyond, std::not_fn(is_before)) == beyond.end() &&
           std::ranges::all_of(beyond, [&](const Beyond& b) {
             const std::int64_t shown = b.value() < 0 ? -kShownMax : kShownMax;
             return b.rest >= 0 && b.rest < kShownMax && !can_be_shown(b.value()) && shown_of(b.cell) == shown;
           });
  }

 private:
  static bool can_be_shown(Wide value) { return value >= -kShownMax && value <= kShownMax; }
};

}  // namespace ashlar
