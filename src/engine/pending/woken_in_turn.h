// WokenInTurn: parked classes that the nodes freed before a decision may help. Each stays parked until its turn comes,
// so that those whose room others take meanwhile cost nothing: whole kinds of them, of one list, are a single entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/pending/pending_queue.h"

namespace ashlar {

class WokenInTurn {
 public:
  /// The first of a kind's classes that has not had its turn, or a class by itself.
  struct Next {
    ClassHead head;
    std::optional<ParkedKind> kind;
  };

  /// All classes of a kind that waits for capacity, with as many devices for each member: those with these heads.
  void list(std::int64_t devices, const ParkedKind& kind, const std::set<ClassHead>& heads);
  /// One class.
  void list(std::int64_t devices, const ClassHead& head);
  std::size_t size() const { return size_; }  ///< classes listed
  /// All are listed: what follows may be called.
  void order();

  /// The first in order; nullptr if there is none. Cost: O(different numbers of devices).
  const Next* first() const;
  /// Of one of its members.
  std::int64_t devices_of_first() const { return level_of_first()->first; }
  /// It has had its turn. Cost: O(log classes).
  void pass(const PendingQueue& pending);
  /// It has no room any more, nor have others of its kind.
  void drop_kind();
  /// Nor has any with as many devices for each member.
  void drop_devices();
  /// All classes that have not had their turn; ascending. None is left here.
  std::vector<ClassId> take_all(const PendingQueue& pending);

 private:
  using Levels = std::map<std::int64_t, std::vector<Next>>;  ///< heaps, none empty

  Levels::const_iterator level_of_first() const;
  /// Takes the first out of its heap.
  Next take(Levels::iterator level);

  Levels levels_;
  std::size_t size_ = 0;
};

}  // namespace ashlar
