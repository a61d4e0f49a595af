// choice: gangs of unlike members of which some may start without the others: those that find room, the first in rank
// order of these. Cost: O(waiting members); 64 times that for all choices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "state/state.h"

namespace ashlar {

/// Whether more members wait than must be placed together next, and they are not all of one kind.
bool has_choice(const State& state, JobId job);

/// Those that request the fewest devices first, else as they were.
void sort_smallest_first(const State& state, std::vector<MemberId>& members);

/// Members that would be enough together, by numbers of each kind.
struct Choices {
  std::vector<std::vector<MemberId>> all;
  bool are_complete = true;  ///< else there are more than 64, or more than are of 1,024 members together
};

/// What must be placed together next, by the waiting members of the moment at which it is made.
class Minimum {
 public:
  Minimum(const State& state, JobId job);

  std::span<const MemberId> waiting() const { return waiting_; }
  /// The first that are accepted and are enough: the minimum of each group, then of the job. None: they are too few.
  template <class Accept>
  std::optional<std::vector<MemberId>> first(Accept&& is_accepted) const {
    std::vector<std::uint8_t> is_open(waiting_.size());
    for (std::size_t i = 0; i < waiting_.size(); ++i) is_open[i] = is_accepted(waiting_[i]) ? 1 : 0;
    return first_of(is_open);
  }
  /// All ways to make it up by these members, the first of each kind for as many as are taken of it.
  Choices choices(const State& state, std::span<const MemberId> members) const;
  /// Of these, ascending.
  std::optional<std::vector<MemberId>> first_among(std::span<const MemberId> members) const;

 private:
  std::optional<std::vector<MemberId>> first_of(std::vector<std::uint8_t>& is_open) const;

  std::vector<MemberId> waiting_;
  std::vector<std::uint32_t> groups_;   ///< of each of them
  std::vector<std::uint32_t> lacking_;  ///< by group; empty: no group lacks any
  std::uint32_t needed_;
};

}  // namespace ashlar
