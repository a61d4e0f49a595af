// Interned: names and their rows, both ways, in order of first appearance; a row is never given back. Cost: one hash
// per lookup.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/grown.h"
#include "names/name_hash.h"

namespace ashlar {

template <class IdType, class Name = std::string>
class Interned {
 public:
  /// The row of the name, the next one if it is new. `Text`: a name, or what its hash accepts.
  template <class Text>
  IdType of(const Text& name) {
    if (const IdType known = find(name); !known.is_none()) return known;
    ids_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    names_.emplace_back(name);
    return IdType(names_.size() - 1);
  }
  /// None if the name is not known.
  template <class Text>
  IdType find(const Text& name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? IdType::none() : IdType(it->second);
  }
  /// Empty for a row that is not known.
  Name name(IdType id) const { return value_at(names_, id.row()); }
  std::size_t size() const { return names_.size(); }
  /// By row.
  const std::vector<Name>& all() const { return names_; }

 private:
  boost::unordered_flat_map<Name, std::uint32_t, NameHash<Name>, std::equal_to<>> ids_;
  std::vector<Name> names_;
};

}  // namespace ashlar
