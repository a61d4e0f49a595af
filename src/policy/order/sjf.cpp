// sjf: see order.h.
#include "policy/order/order.h"

namespace ashlar {

OrderKey sjf_waiting(const Job& job) { return {job.estimate.p50.value, 0}; }

}  // namespace ashlar
