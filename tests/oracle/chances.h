// Chances: what a drawing of random worlds draws with.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "base/rng.h"

namespace ashlar::oracle {

class Chances {
 protected:
  explicit Chances(Rng& rng) : rng_(rng) {}
  int below(int bound) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(bound))); }
  bool one_in(int n) { return below(n) == 0; }
  template <class T>
  T any_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int>(values.size()))];
  }

  Rng& rng_;
};

}  // namespace ashlar::oracle
