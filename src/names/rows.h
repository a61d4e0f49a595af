// Rows: rows without names (jobs, members). A row given back is reused only after the next settle(), so that the
// engine's answers about a row are never about its successor.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace ashlar {

template <class IdType>
class Rows {
 public:
  IdType add() {
    if (free_.empty()) return IdType(next_++);
    const auto first = free_.begin();
    const IdType id(*first);
    free_.erase(first);
    return id;
  }
  void remove(IdType id) { leaving_.push_back(id.value); }
  void settle() {
    free_.insert(leaving_.begin(), leaving_.end());
    leaving_.clear();
  }
  std::size_t size() const { return next_ - free_.size() - leaving_.size(); }

 private:
  std::uint32_t next_ = 0;
  std::set<std::uint32_t> free_;
  std::vector<std::uint32_t> leaving_;
};

}  // namespace ashlar
