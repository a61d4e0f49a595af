// fifo: see order.h.
#include "policy/order/order.h"

namespace ashlar {

OrderKey fifo_waiting(const Job& job) { return {job.queued_at.value, 0}; }

}  // namespace ashlar
