#include "state/time/timeline.h"

#include <algorithm>

#include "base/check.h"

namespace ashlar {

std::size_t Timeline::Ends::size() const {
  std::size_t sum = 0;
  for (const Block& block : *blocks_) sum += block.size();
  return sum;
}

std::size_t Timeline::block_for(const End& end) const {
  const auto it =
      std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.back() < end; });
  return static_cast<std::size_t>(it - blocks_.begin());
}

void Timeline::add_end(const End& end) {
  std::size_t at = block_for(end);
  if (at == blocks_.size()) {  // behind all others: in the last block
    if (blocks_.empty()) blocks_.emplace_back();
    at = blocks_.size() - 1;
  }
  Block& block = blocks_[at];
  block.insert(std::lower_bound(block.begin(), block.end(), end), end);
  if (block.size() <= kBlockMax) return;
  const auto middle = block.begin() + kBlockMax / 2;
  Block second(middle, block.end());
  block.erase(middle, block.end());
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(second));
}

void Timeline::remove_end(const End& end) {
  const std::size_t at = block_for(end);
  ASHLAR_CHECK(at < blocks_.size());
  Block& block = blocks_[at];
  const auto it = std::lower_bound(block.begin(), block.end(), end);
  ASHLAR_CHECK(it != block.end() && *it == end);
  block.erase(it);
  const auto after = blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  if (block.empty()) {
    blocks_.erase(after - 1);
  } else if (after != blocks_.end() && block.size() + after->size() <= kBlockMax / 2) {
    block.insert(block.end(), after->begin(), after->end());  // so that many removals do not leave many short blocks
    blocks_.erase(after);
  }
}

}  // namespace ashlar
