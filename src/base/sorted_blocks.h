// sorted_blocks: an ascending list in short blocks, none of them empty, so that an element comes or goes at O(log n)
// plus a move within one block, wherever it lies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace ashlar {

template <class T>
using Blocks = std::vector<std::vector<T>>;

/// Over all elements, from the first block on; void after a change.
template <class T>
class BlockIterator {
 public:
  explicit BlockIterator(const std::vector<T>* block, std::size_t at = 0) : block_(block), at_(at) {}
  const T& operator*() const { return (*block_)[at_]; }
  const T* operator->() const { return &(*block_)[at_]; }
  void operator++() {
    if (++at_ == block_->size()) ++block_, at_ = 0;
  }
  friend bool operator==(const BlockIterator&, const BlockIterator&) = default;

 private:
  const std::vector<T>* block_;
  std::size_t at_ = 0;
};
template <class T>
BlockIterator<T> begin_of(const Blocks<T>& blocks) {
  return BlockIterator<T>(blocks.data());
}
template <class T>
BlockIterator<T> end_of(const Blocks<T>& blocks) {
  return BlockIterator<T>(blocks.data() + blocks.size());
}

/// The first block whose last element is not before that one; the number of blocks if there is none.
template <class T>
std::size_t block_for(const Blocks<T>& blocks, const T& value) {
  const auto it = std::partition_point(blocks.begin(), blocks.end(),
                                       [&](const std::vector<T>& block) { return block.back() < value; });
  return static_cast<std::size_t>(it - blocks.begin());
}

/// A block with more than `block_max` elements is divided.
template <class T>
void insert_into(Blocks<T>& blocks, const T& value, std::size_t block_max) {
  std::size_t at = block_for(blocks, value);
  if (at == blocks.size()) {  // behind all others: in the last block
    if (blocks.empty()) blocks.emplace_back();
    at = blocks.size() - 1;
  }
  std::vector<T>& block = blocks[at];
  block.insert(std::lower_bound(block.begin(), block.end(), value), value);
  if (block.size() <= block_max) return;
  const auto middle = block.begin() + static_cast<std::ptrdiff_t>(block_max / 2);
  std::vector<T> second(middle, block.end());
  block.erase(middle, block.end());
  blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(second));
}

/// The element must be there. Short neighbours become one, so that many removals do not leave many short blocks.
template <class T>
void erase_from(Blocks<T>& blocks, const T& value, std::size_t block_max) {
  const std::size_t at = block_for(blocks, value);
  ASHLAR_CHECK(at < blocks.size());
  std::vector<T>& block = blocks[at];
  const auto it = std::lower_bound(block.begin(), block.end(), value);
  ASHLAR_CHECK(it != block.end() && *it == value);
  block.erase(it);
  const auto after = blocks.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  if (block.empty()) {
    blocks.erase(after - 1);
  } else if (after != blocks.end() && block.size() + after->size() <= block_max / 2) {
    block.insert(block.end(), after->begin(), after->end());
    blocks.erase(after);
  }
}

/// Takes out those at the begin for which `is_taken`, which is true of no other ones.
template <class T, class Predicate>
std::vector<T> take_front(Blocks<T>& blocks, Predicate&& is_taken) {
  std::vector<T> taken;
  while (!blocks.empty()) {
    std::vector<T>& block = blocks.front();
    const auto end = std::find_if_not(block.begin(), block.end(), is_taken);
    taken.insert(taken.end(), block.begin(), end);
    if (end != block.end()) {
      block.erase(block.begin(), end);
      break;
    }
    blocks.erase(blocks.begin());
  }
  return taken;
}

}  // namespace ashlar
