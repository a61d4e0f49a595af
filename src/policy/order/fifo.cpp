// fifo: see order.h.
#include "policy/order/order.h"

namespace ashlar {

OrderKey fifo_waiting(const State& state, JobId job) { return {state.job(job).queued_at.value, 0}; }

}  // namespace ashlar
