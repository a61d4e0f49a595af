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

Timeline::Ends::Iterator Timeline::Ends::after(Millis at) const {
  const auto block =
      std::partition_point(blocks_->begin(), blocks_->end(), [&](const Block& b) { return b.back().at <= at; });
  if (block == blocks_->end()) return end();
  const auto first = std::partition_point(block->begin(), block->end(), [&](const End& e) { return e.at <= at; });
  return Iterator(&*block, static_cast<std::size_t>(first - block->begin()));
}

void Timeline::note(const End& end, bool is_new) {
  if (changes_.size() >= kChangesMax) {
    changes_.erase(changes_.begin(), changes_.begin() + kChangesMax / 2);
    change_base_ += kChangesMax / 2;
  }
  changes_.push_back({end, is_new});
}

void Timeline::add_end(const End& end) {
  note(end, true);
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
  note(end, false);
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
