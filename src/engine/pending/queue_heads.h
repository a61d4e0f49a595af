// QueueHeads: the first jobs of queues, in the order of two levels: by QueueKeys between queues, by job inside each and
// between queues of equal keys. A tree like that of the queues, in which each level keeps its best. Cost of a change of
// one queue: O(depth x log siblings), however many jobs wait.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <vector>

#include "engine/pending/queue_keys.h"
#include "engine/pending/waiting.h"

namespace ashlar {

class QueueHeads {
 public:
  /// `do_jobs_count`: the first job below a queue counts into the queue's key (QueueKeys::key_with).
  explicit QueueHeads(bool do_jobs_count = false) : do_jobs_count_(do_jobs_count) {}
  /// The queue's first job is now that one.
  void put(const QueueKeys& keys, QueueId queue, const ClassHead& head);
  /// The queue has none any more.
  void erase(const QueueKeys& keys, QueueId queue);
  /// The queue's key has changed. True if that may have changed the order of the heads here.
  bool rekey(const QueueKeys& keys, QueueId queue);
  void clear() { levels_.clear(); }

  bool is_empty() const { return first() == nullptr; }
  /// The first of all; nullptr if there is none.
  const ClassHead* first() const {
    const auto root = levels_.find(kRoot);
    return root == levels_.end() || root->second.items.empty() ? nullptr : &root->second.items.begin()->head;
  }
  /// Visits them in order until `visit` returns false. Cost: O(log queues) for each visited.
  template <class Visit>
  void each(Visit&& visit) const {
    std::priority_queue<Cursor, std::vector<Cursor>, std::greater<>> next;
    const auto add = [&](const Level& level, std::set<Standing>::const_iterator at, std::span<const OrderKey> above) {
      if (at != level.items.end()) next.push({*at, above, &level, at});
    };
    if (const auto root = levels_.find(kRoot); root != levels_.end()) add(root->second, root->second.items.begin(), {});
    while (!next.empty()) {
      const Cursor cursor = next.top();
      next.pop();
      add(*cursor.level, std::next(cursor.at), std::span(cursor.full.keys).first(cursor.depth));
      if (!cursor.at->child.is_none()) {
        const Level& below = levels_.at(cursor.at->child);
        add(below, below.items.begin(), std::span(cursor.full.keys).first(cursor.depth + 1));
      } else if (!visit(cursor.full.head)) {
        return;
      }
    }
  }

 private:
  /// The best of what is below one item of a level: keys from that level down to its queue.
  struct Standing {
    std::vector<OrderKey> keys;  ///< at least one; the last one counts for all further levels
    ClassHead head;
    QueueId child;  ///< none: the queue's own head

    std::strong_ordering operator<=>(const Standing& o) const;
    bool operator==(const Standing& o) const { return (*this <=> o) == 0; }
  };
  struct Level {
    std::set<Standing> items;
    std::optional<Standing> own;     ///< as it is among the items
    std::optional<Standing> listed;  ///< the best of all, as it is among the items of the parent
  };
  /// A place in a walk: what is there and behind it is still to be visited.
  struct Cursor {
    Standing full;  ///< with all keys from below the root
    const Level* level = nullptr;
    std::set<Standing>::const_iterator at;
    std::size_t depth = 0;  ///< of the level

    Cursor(const Standing& item, std::span<const OrderKey> above, const Level* of,
           std::set<Standing>::const_iterator it)
        : full(item), level(of), at(it), depth(above.size()) {
      full.keys.insert(full.keys.begin(), above.begin(), above.end());
    }
    bool operator>(const Cursor& o) const { return full > o.full; }
  };

  OrderKey key_of(const QueueKeys& keys, QueueId queue, const ClassHead& first) const {
    return do_jobs_count_ ? keys.key_with(queue, first.job_class) : keys.key(queue);
  }
  void set_own(const QueueKeys& keys, QueueId queue, const ClassHead* head);
  /// Brings the items above that level up to date.
  void lift(const QueueKeys& keys, QueueId queue);
  bool is_close_to_others(const Level& level, const Standing& item, OrderKey key) const;

  static constexpr QueueId kRoot{0u};
  bool do_jobs_count_;
  std::map<QueueId, Level> levels_;
};

}  // namespace ashlar
