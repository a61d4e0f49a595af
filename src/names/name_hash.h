// NameHash: the hash of a name, for tables of names; a text may be looked up without making a string of it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ashlar {

template <class Name>
struct NameHash : std::hash<Name> {};

template <>
struct NameHash<std::string> {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};

}  // namespace ashlar
