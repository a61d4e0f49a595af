// priority-age: see order.h.
#include "policy/order/order.h"

namespace ashlar {

OrderKey priority_age_waiting(const Job& job) {
  return {-static_cast<std::int64_t>(job.priority), job.queued_at.value};
}

}  // namespace ashlar
