// JournaledNames: a table of names and rows that notes what is done to it, so that a copy elsewhere comes to have the
// same names in the same rows. Nothing is noted before start_journal(), which is called while the table is empty. Cost:
// a copy of each name added.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"

namespace ashlar::kube {

/// `Table` gives back rows and uses them again in an order that depends on nothing else than what is done to it.
template <class Table, class IdType, class Name, class Marks>
class JournaledNames : public Table {
 public:
  struct Change {
    IdType row;                 ///< of the name added or removed
    std::optional<Name> added;  ///< may be empty, as the value of a label may; absent: removed
    std::optional<Marks> kept;  ///< all others were given back
  };
  using Changes = std::vector<Change>;

  IdType of(const Name& name) {
    const IdType known = Table::find(name);
    return known.is_none() ? add(name) : known;
  }
  IdType add(const Name& name) {
    const IdType row = Table::add(name);
    if (is_kept_) changes_.push_back({row, name, std::nullopt});
    return row;
  }
  void remove(IdType row) {
    Table::remove(row);
    if (is_kept_) changes_.push_back({row, std::nullopt, std::nullopt});
  }
  void keep_only(const Marks& marks) {
    Table::keep_only(marks);
    if (is_kept_) changes_.push_back({IdType::none(), std::nullopt, marks});
  }

  void start_journal() { is_kept_ = true; }
  void stop_journal() {
    is_kept_ = false;
    changes_.clear();
  }
  bool has_changes() const { return !changes_.empty(); }
  Changes take_changes() { return std::exchange(changes_, {}); }
  /// Does the same to a copy.
  void put(Changes&& changes) {
    for (Change& change : changes) {
      if (change.kept)
        keep_only(*change.kept);
      else if (change.added)
        ASHLAR_CHECK(add(*change.added) == change.row);
      else
        remove(change.row);
    }
  }

 private:
  bool is_kept_ = false;
  Changes changes_;
};

}  // namespace ashlar::kube
