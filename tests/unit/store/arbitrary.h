// Any value of a type that the codec knows, drawn field by field; extremes are likely. For use inside RapidCheck
// properties.
#pragma once

#include <rapidcheck.h>

#include <limits>

#include "alternatives.h"
#include "store/fields.h"

namespace ashlar::store {

template <class T>
void draw(T& value);

template <class T>
T arbitrary_integer() {
  constexpr T greatest = std::numeric_limits<T>::max(), smallest = std::numeric_limits<T>::min();
  constexpr T large = std::signed_integral<T> && sizeof(T) == 8 ? static_cast<T>(kNumberMax) : greatest;
  return *rc::gen::weightedOneOf<T>({{6, rc::gen::inRange<T>(0, 100)},
                                     {2, rc::gen::inRange<T>(0, large)},
                                     {1, rc::gen::just(greatest)},
                                     {1, rc::gen::just(smallest)}});
}

template <class V>
void draw_alternative(V& value, std::size_t index) {
  draw_alternative(value, index, [](auto& alternative) { draw(alternative); });
}

template <class T>
void draw(T& value) {
  if constexpr (std::is_same_v<T, bool>)
    value = *rc::gen::arbitrary<bool>();
  else if constexpr (std::is_enum_v<T>)
    value = static_cast<T>(*rc::gen::inRange(0, static_cast<int>(kLastOf<T>) + 1));
  else if constexpr (std::integral<T>)
    value = arbitrary_integer<T>();
  else if constexpr (IsId<T>::value)
    value = *rc::gen::arbitrary<bool>() ? T(*rc::gen::inRange<std::uint32_t>(0, kRowMax)) : T::none();
  else if constexpr (IsQuantity<T>::value)
    draw(value.value);
  else if constexpr (IsArray<T>::value) {
    for (auto& element : value) draw(element);
  } else if constexpr (IsList<T>::value) {
    value.resize(*rc::gen::inRange<std::size_t>(0, 4));
    for (auto& element : value) draw(element);
  } else if constexpr (IsVariant<T>::value)
    draw_alternative(value, *rc::gen::inRange<std::size_t>(0, std::variant_size_v<T>));
  else
    boost::pfr::for_each_field(value, [](auto& field) { draw(field); });
}

}  // namespace ashlar::store
