#include "engine/pending/woken_in_turn.h"

#include <algorithm>
#include <utility>

namespace ashlar {
namespace {

using Heads = std::set<ClassHead>;

bool is_after(const WokenInTurn::Next& a, const WokenInTurn::Next& b) { return b.head < a.head; }

}  // namespace

void WokenInTurn::list(std::int64_t devices, const ParkedKind& kind, const std::set<ClassHead>& heads) {
  levels_[devices].push_back({*heads.begin(), kind});
  size_ += heads.size();
}

void WokenInTurn::list(std::int64_t devices, const ClassHead& head) {
  levels_[devices].push_back({head, std::nullopt});
  ++size_;
}

void WokenInTurn::order() {
  for (auto& [devices, heap] : levels_) std::make_heap(heap.begin(), heap.end(), is_after);
}

WokenInTurn::Levels::const_iterator WokenInTurn::level_of_first() const {
  return std::min_element(levels_.begin(), levels_.end(),
                          [](const auto& a, const auto& b) { return a.second.front().head < b.second.front().head; });
}

const WokenInTurn::Next* WokenInTurn::first() const {
  return levels_.empty() ? nullptr : &level_of_first()->second.front();
}

WokenInTurn::Next WokenInTurn::take(Levels::iterator level) {
  std::vector<Next>& heap = level->second;
  std::pop_heap(heap.begin(), heap.end(), is_after);
  const Next taken = heap.back();
  heap.pop_back();
  if (heap.empty()) levels_.erase(level);
  return taken;
}

void WokenInTurn::pass(const PendingQueue& pending) {
  const std::int64_t devices = devices_of_first();
  const Next passed = take(levels_.find(devices));
  if (!passed.kind) return;
  const Heads* heads = pending.waiting_for_capacity().heads_of(devices, *passed.kind);
  if (heads == nullptr) return;
  const auto next = heads->upper_bound(passed.head);
  if (next == heads->end()) return;
  std::vector<Next>& heap = levels_[devices];
  heap.push_back({*next, passed.kind});
  std::push_heap(heap.begin(), heap.end(), is_after);
}

void WokenInTurn::drop_kind() { take(levels_.find(devices_of_first())); }

void WokenInTurn::drop_devices() { levels_.erase(level_of_first()); }

std::vector<ClassId> WokenInTurn::take_all(const PendingQueue& pending) {
  std::vector<ClassId> classes;
  for (const auto& [devices, heap] : std::exchange(levels_, {}))
    for (const Next& next : heap) {
      if (!next.kind) {
        classes.push_back(next.head.job_class);
        continue;
      }
      const Heads* heads = pending.waiting_for_capacity().heads_of(devices, *next.kind);
      if (heads == nullptr) continue;
      for (auto it = heads->lower_bound(next.head); it != heads->end(); ++it) classes.push_back(it->job_class);
    }
  std::sort(classes.begin(), classes.end());
  return classes;
}

}  // namespace ashlar
