// Draw: random choices of a generator of objects, all from one seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/rng.h"

namespace ashlar::filters {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : rng_(seed) {}
  bool chance(unsigned percent) { return rng_.below(100) < percent; }
  /// Uniform in [least, most].
  std::size_t between(std::size_t least, std::size_t most) { return least + rng_.below(most - least + 1); }
  template <class List>
  const auto& one_of(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(rng_.below(std::size(list))));
  }
  std::string one_of(std::initializer_list<std::string_view> list) {
    return std::string(*(list.begin() + static_cast<std::ptrdiff_t>(rng_.below(list.size()))));
  }

 private:
  Rng rng_;
};

}  // namespace ashlar::filters
