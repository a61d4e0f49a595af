// siblings: where two queues part in the tree.
#pragma once

#include <optional>

#include "state/queues/queue_tree.h"

namespace ashlar {

/// Of two queues, neither above the other: the two below the lowest queue that is above both.
struct Siblings {
  QueueId its, other;
};
inline std::optional<Siblings> siblings_above(const QueueTree& queues, QueueId its, QueueId other) {
  if (queues.is_within(its, other) || queues.is_within(other, its)) return std::nullopt;
  while (!queues.is_within(other, queues.parent(its))) its = queues.parent(its);
  while (!queues.is_within(its, queues.parent(other))) other = queues.parent(other);
  return Siblings{its, other};
}

}  // namespace ashlar
