// RowNames: names and their rows, both ways; a row that is given back is the next one used, the lowest first. Cost: one
// hash per lookup.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <set>
#include <vector>

#include "base/grown.h"
#include "base/id.h"
#include "names/name_hash.h"

namespace ashlar {

/// Rows in use of one table, for keep_only().
class Marks {
 public:
  template <class Tag>
  void set(Id<Tag> id) {
    if (id.is_none()) return;
    if (id.row() >= is_used_.size()) is_used_.resize(id.row() + 1, false);
    is_used_[id.row()] = true;
  }
  bool has(std::size_t row) const { return row < is_used_.size() && is_used_[row]; }

 private:
  std::vector<bool> is_used_;
};

template <class IdType, class Name, class Hash = NameHash<Name>>
class RowNames {
 public:
  IdType of(const Name& name) {
    const IdType known = find(name);
    return known.is_none() ? add(name) : known;
  }
  IdType find(const Name& name) const {
    const auto it = rows_.find(name);
    return it == rows_.end() ? IdType::none() : IdType(it->second);
  }
  IdType add(const Name& name) {
    std::uint32_t row = static_cast<std::uint32_t>(names_.size());
    if (free_.empty()) {
      names_.push_back(name);
    } else {
      row = *free_.begin();
      free_.erase(free_.begin());
      names_[row] = name;
    }
    rows_.emplace(name, row);
    return IdType(row);
  }
  void remove(IdType id) {
    rows_.erase(names_[id.row()]);
    names_[id.row()] = Name();
    free_.insert(id.value);
  }
  /// Gives back all rows without a mark, and the memory of those at the end.
  void keep_only(const Marks& marks) {
    for (std::uint32_t row = 0; row < names_.size(); ++row)
      if (!marks.has(row) && !free_.contains(row)) remove(IdType(row));
    while (!names_.empty() && !marks.has(names_.size() - 1)) {
      names_.pop_back();
      free_.erase(static_cast<std::uint32_t>(names_.size()));
    }
    names_.shrink_to_fit();
    rows_.rehash(0);
  }
  Name name(IdType id) const { return value_at(names_, id.row()); }
  std::size_t rows() const { return names_.size(); }
  std::size_t size() const { return rows_.size(); }

 private:
  boost::unordered_flat_map<Name, std::uint32_t, Hash> rows_;
  std::vector<Name> names_;
  std::set<std::uint32_t> free_;
};

}  // namespace ashlar
