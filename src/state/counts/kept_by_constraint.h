// KeptByConstraint: what was made for constraints, within a bound in bytes. Beyond, those that are dropped are drawn:
// where constraints are asked for in turn, the one used longest ago would always be the next. Cost: O(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/id.h"

namespace ashlar {

/// `Of` has `std::size_t bytes() const`.
template <class Of>
class KeptByConstraint {
 public:
  explicit KeptByConstraint(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// nullptr: it is not kept, or was made for another value of the row.
  Of* find(ConstraintId id, std::uint64_t definition) {
    const auto it = kept_.find(id.value);
    return it == kept_.end() || it->second.definition != definition ? nullptr : &it->second.of;
  }
  /// Instead of one that is there.
  Of& put(ConstraintId id, std::uint64_t definition, Of of) {
    forget(id.value);
    const auto it = kept_.emplace(id.value, Kept{definition, std::move(of), ids_.size(), 0}).first;
    ids_.push_back(id.value);
    return it->second.of;
  }
  /// Its size may be another now. Drops others if that is too much; this one stays.
  void settle(ConstraintId id) {
    Kept& its = kept_.at(id.value);
    const std::size_t before = std::exchange(its.bytes, its.of.bytes());
    bytes_ += its.bytes - before;
    while (bytes_ > bytes_max_ && ids_.size() > kLeast) {
      const std::size_t drawn = hash_combine(++draws_, id.value) % ids_.size();
      forget(ids_[ids_[drawn] == id.value ? (drawn + 1) % ids_.size() : drawn]);
    }
  }
  std::size_t size() const { return ids_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kLeast = 8;  ///< that many are kept, however large they are
  struct Kept {
    std::uint64_t definition = 0;
    Of of;
    std::size_t place = 0;  ///< in ids_
    std::size_t bytes = 0;  ///< when it was settled last
  };
  void forget(std::uint32_t id) {
    const auto it = kept_.find(id);
    if (it == kept_.end()) return;
    bytes_ -= it->second.bytes;
    const std::size_t place = it->second.place;
    ids_[place] = ids_.back();
    kept_.at(ids_[place]).place = place;
    ids_.pop_back();
    kept_.erase(it);
  }

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::uint64_t draws_ = 0;
  std::unordered_map<std::uint32_t, Kept> kept_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace ashlar
