#include "engine/reserve/step_function.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace ashlar {

namespace {

auto place_of(auto& blocks, std::size_t i) { return blocks.begin() + static_cast<std::ptrdiff_t>(i); }

}  // namespace

StepFunction::StepFunction(std::span<const Millis> ascending) : units_(ascending.size()) {
  constexpr std::size_t kFull = kBlockMax / 2;
  for (; !ascending.empty(); ascending = ascending.subspan(std::min(kFull, ascending.size()))) {
    const std::span<const Millis> times = ascending.first(std::min(kFull, ascending.size()));
    blocks_.emplace_back(times.begin(), times.end());
  }
}

std::size_t StepFunction::block_for(Millis at) const {
  const auto it =
      std::partition_point(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.back() < at; });
  return static_cast<std::size_t>(it - blocks_.begin());
}

void StepFunction::add(Millis at, std::size_t units) {
  units_ += units;
  const std::size_t found = block_for(at);
  if (blocks_.empty()) blocks_.emplace_back();
  const std::size_t i = std::min(found, blocks_.size() - 1);
  Block& block = blocks_[i];
  block.insert(std::ranges::lower_bound(block, at), units, at);
  if (block.size() <= kBlockMax) return;
  const auto middle = block.begin() + static_cast<std::ptrdiff_t>(block.size() / 2);
  Block second(middle, block.end());
  block.erase(middle, block.end());
  blocks_.insert(place_of(blocks_, i + 1), std::move(second));
}

void StepFunction::remove(Millis at, std::size_t units) {
  units_ -= units;
  while (units > 0) {
    const std::size_t i = block_for(at);
    ASHLAR_CHECK(i < blocks_.size());
    Block& block = blocks_[i];
    const auto first = std::ranges::lower_bound(block, at);
    ASHLAR_CHECK(first != block.end() && *first == at);
    const auto last = std::find_if(first,
                                   first + std::min<std::ptrdiff_t>(std::ssize(block) - (first - block.begin()),
                                                                    static_cast<std::ptrdiff_t>(units)),
                                   [&](Millis other) { return other != at; });
    units -= static_cast<std::size_t>(last - first);
    block.erase(first, last);
    const std::size_t next = i + 1;
    if (block.empty()) {
      blocks_.erase(place_of(blocks_, i));
    } else if (next < blocks_.size() && block.size() + blocks_[next].size() <= kBlockMax / 2) {
      block.insert(block.end(), blocks_[next].begin(), blocks_[next].end());
      blocks_.erase(place_of(blocks_, next));
    }
  }
}

Millis StepFunction::first_with(std::size_t units) const {
  if (units == 0) return Millis(0);
  if (units > units_) return Millis::max();
  for (const Block& block : blocks_) {
    if (units <= block.size()) return block[units - 1];
    units -= block.size();
  }
  return Millis::max();
}

std::vector<Millis> StepFunction::times() const {
  std::vector<Millis> times;
  for (const Block& block : blocks_) times.insert(times.end(), block.begin(), block.end());
  return times;
}

}  // namespace ashlar
