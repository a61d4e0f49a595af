#include "state/time/timeline.h"

#include <algorithm>

#include "base/sorted_blocks.h"

namespace ashlar {

std::size_t Timeline::Ends::size() const {
  std::size_t sum = 0;
  for (const Block& block : *blocks_) sum += block.size();
  return sum;
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
  insert_into(blocks_, end, kBlockMax);
}

void Timeline::remove_end(const End& end) {
  note(end, false);
  erase_from(blocks_, end, kBlockMax);
}

}  // namespace ashlar
