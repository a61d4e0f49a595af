// strict-priority: see queue_order.h.
#include "policy/queue_order/queue_order.h"

namespace ashlar {

OrderKey strict_priority(const QueueStanding& standing) { return {-std::int64_t{standing.rank.priority}, 0}; }

}  // namespace ashlar
