// ParkedKinds: the first jobs of parked classes of like members, by the devices of one member, then by kind, so that
// nodes without as many devices are compared with no kind, and others once with each. Kinds lie side by side: an event
// that may help many of them walks all.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "engine/pending/waiting.h"

namespace ashlar {

/// What classes of like members are compared with a node by.
struct ParkedKind {
  DemandId demand;
  ConstraintId constraint;
  bool is_single = false;  ///< one member is enough, anywhere: where one fits, the class has room
  friend auto operator<=>(const ParkedKind&, const ParkedKind&) = default;
};

class ParkedKinds {
 public:
  struct Listed {
    ParkedKind kind;
    std::set<ClassHead> heads;  ///< in order, not empty
  };
  struct Level {
    std::vector<Listed> listed;               ///< in no order: it depends on what was listed before
    std::map<ParkedKind, std::size_t> index;  ///< in `listed`
  };

  void insert(std::int64_t devices, const ParkedKind& kind, const ClassHead& head);
  /// Nothing happens if it is not listed.
  void erase(std::int64_t devices, const ParkedKind& kind, const ClassHead& head);
  /// nullptr if none is listed
  const std::set<ClassHead>* heads_of(std::int64_t devices, const ParkedKind& kind) const;
  /// By ascending devices.
  const std::map<std::int64_t, Level>& levels() const { return levels_; }

 private:
  std::map<std::int64_t, Level> levels_;
};

}  // namespace ashlar
