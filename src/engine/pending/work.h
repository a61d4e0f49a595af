// Work: the jobs that a cycle still has to look at, at most one of each class, in order: in one heap where queues are
// not compared, else in one for each queue. Cost: O(log classes), and with keys O(depth x log queues).
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "engine/pending/queue_heads.h"

namespace ashlar {

class Work {
 public:
  explicit Work(const QueueKeys& keys) : keys_(&keys) {}

  /// In place of what was listed. `heads` are in the order of jobs.
  void assign(const std::set<ClassHead>& heads);
  void add(const ClassHead& head);
  bool is_empty() const { return size_ == 0; }
  ClassHead take();
  /// What take() would return; nullptr if there is nothing.
  const ClassHead* first();
  /// The queue's key has changed.
  void rekey(QueueId queue) { fronts_.rekey(*keys_, queue); }

 private:
  void list_front(QueueId queue);
  void drop_taken_top();

  const QueueKeys* keys_;
  std::size_t size_ = 0;
  // where queues are not compared
  std::vector<ClassHead> heap_;  ///< the first in order on top
  bool is_top_taken_ = false;    ///< the top is being looked at; the next job of its class may take its place
  // else
  std::map<QueueId, std::vector<ClassHead>> by_queue_;  ///< heaps
  QueueHeads fronts_{true};                             ///< of those
};

}  // namespace ashlar
