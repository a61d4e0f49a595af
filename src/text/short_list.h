// short_list: the first few of many names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace ashlar {

/// "a, b, c and 2 more": the first three of `count` names, of which `name(i)` is the i-th.
template <class Name>
std::string short_list(std::size_t count, Name&& name) {
  constexpr std::size_t kNamed = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(kNamed, count); ++i) (list += i == 0 ? "" : ", ") += name(i);
  return count <= kNamed ? list : list + " and " + std::to_string(count - kNamed) + " more";
}

}  // namespace ashlar
