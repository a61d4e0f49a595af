// The alternatives of a variant, by number, each filled by whatever draws its fields.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>

namespace ashlar::store {

/// Sets the alternative of that number; `draw(alternative&)` fills it.
template <class V, class Draw, std::size_t I = 0>
void draw_alternative(V& value, std::size_t index, Draw&& draw) {
  if constexpr (I < std::variant_size_v<V>) {
    if (index != I) return draw_alternative<V, Draw, I + 1>(value, index, std::forward<Draw>(draw));
    std::variant_alternative_t<I, V> alternative{};
    draw(alternative);
    value = std::move(alternative);
  }
}

}  // namespace ashlar::store
