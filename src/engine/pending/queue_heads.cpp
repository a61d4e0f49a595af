#include "engine/pending/queue_heads.h"

#include <algorithm>
#include <iterator>

namespace ashlar {

std::strong_ordering QueueHeads::Standing::operator<=>(const Standing& o) const {
  if (head.entry.is_surplus != o.head.entry.is_surplus) return head.entry.is_surplus <=> o.head.entry.is_surplus;
  for (std::size_t level = 0; level < std::max(keys.size(), o.keys.size()); ++level) {
    const OrderKey& mine = keys[std::min(level, keys.size() - 1)];
    const OrderKey& its = o.keys[std::min(level, o.keys.size() - 1)];
    if (mine != its) return mine <=> its;
  }
  return head <=> o.head;
}

void QueueHeads::set_own(const QueueKeys& keys, QueueId queue, const ClassHead* head) {
  Level& level = levels_[queue];
  if (level.own) level.items.erase(*level.own);
  level.own.reset();
  if (head == nullptr) return;
  level.own = Standing{{key_of(keys, queue, *head)}, *head, QueueId::none()};
  level.items.insert(*level.own);
}

void QueueHeads::lift(const QueueKeys& keys, QueueId queue) {
  for (QueueId q = queue, above = keys.parent(q); !above.is_none(); q = above, above = keys.parent(q)) {
    Level& level = levels_[q];
    std::set<Standing>& items = levels_[above].items;
    std::optional<Standing> best;
    if (!level.items.empty()) {
      best = *level.items.begin();
      best->keys.insert(best->keys.begin(), key_of(keys, q, best->head));
      best->child = q;
    }
    if (best.has_value() == level.listed.has_value() && (!best || best->keys == level.listed->keys) &&
        (!best || best->head == level.listed->head))
      return;
    if (level.listed) items.erase(*level.listed);
    if (best) items.insert(*best);
    level.listed = std::move(best);
  }
}

void QueueHeads::put(const QueueKeys& keys, QueueId queue, const ClassHead& head) {
  set_own(keys, queue, &head);
  lift(keys, queue);
}

void QueueHeads::erase(const QueueKeys& keys, QueueId queue) {
  set_own(keys, queue, nullptr);
  lift(keys, queue);
}

/// Whether another item of the level has a key between the item's and this one, or the same as one of them.
bool QueueHeads::is_close_to_others(const Level& level, const Standing& item, OrderKey key) const {
  const OrderKey low = std::min(item.keys.front(), key), high = std::max(item.keys.front(), key);
  const auto at = level.items.find(item);
  if (at == level.items.end()) return false;
  return (at != level.items.begin() && std::prev(at)->keys.front() >= low) ||
         (std::next(at) != level.items.end() && std::next(at)->keys.front() <= high);
}

bool QueueHeads::rekey(const QueueKeys& keys, QueueId queue) {
  const auto at = levels_.find(queue);
  if (at == levels_.end() || at->second.items.empty()) return false;
  bool may_be_reordered = false;
  if (const Level& level = at->second; level.own) {
    const ClassHead head = level.own->head;
    may_be_reordered = is_close_to_others(level, *level.own, key_of(keys, queue, head));
    set_own(keys, queue, &head);
  }
  for (QueueId q = queue, above = keys.parent(q); !above.is_none() && !may_be_reordered;
       q = above, above = keys.parent(q))
    if (const Level& level = levels_[q]; level.listed)
      may_be_reordered = is_close_to_others(levels_[above], *level.listed, key_of(keys, q, level.listed->head));
  lift(keys, queue);
  return may_be_reordered;
}

}  // namespace ashlar
