#include "engine/pending/work.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"

namespace ashlar {

void Work::assign(const std::set<ClassHead>& heads) {
  size_ = heads.size();
  is_top_taken_ = false;
  if (!keys_->are_compared()) {
    heap_.assign(heads.begin(), heads.end());  // ascending, so a heap
    return;
  }
  by_queue_.clear();
  fronts_.clear();
  for (const ClassHead& head : heads) by_queue_[head.queue].push_back(head);
  for (const auto& [queue, heap] : by_queue_) list_front(queue);
}

void Work::list_front(QueueId queue) {
  const std::vector<ClassHead>& heap = by_queue_[queue];
  if (heap.empty())
    fronts_.erase(*keys_, queue);
  else
    fronts_.put(*keys_, queue, heap.front());
}

void Work::add(const ClassHead& head) {
  ++size_;
  if (keys_->are_compared()) {
    std::vector<ClassHead>& heap = by_queue_[head.queue];
    heap.push_back(head);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
    if (heap.front() == head) list_front(head.queue);
    return;
  }
  if (!std::exchange(is_top_taken_, false)) {
    heap_.push_back(head);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    return;
  }
  std::size_t hole = 0;
  for (std::size_t child = 1; child < heap_.size(); child = 2 * hole + 1) {
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < head)) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = head;
}

ClassHead Work::take() {
  ASHLAR_CHECK(size_ > 0);
  --size_;
  if (keys_->are_compared()) {
    const ClassHead head = *fronts_.first();
    std::vector<ClassHead>& heap = by_queue_[head.queue];
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    list_front(head.queue);
    return head;
  }
  drop_taken_top();
  is_top_taken_ = true;
  return heap_.front();
}

const ClassHead* Work::first() {
  if (size_ == 0) return nullptr;
  if (keys_->are_compared()) return fronts_.first();
  drop_taken_top();
  return &heap_.front();
}

void Work::drop_taken_top() {
  if (!std::exchange(is_top_taken_, false)) return;
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  heap_.pop_back();
}

}  // namespace ashlar
