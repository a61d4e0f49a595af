// priority-age: see order.h.
#include "policy/order/order.h"

namespace ashlar {

OrderKey priority_age_waiting(const State& state, JobId job) {
  const Job& j = state.job(job);
  return {-static_cast<std::int64_t>(j.priority), j.queued_at.value};
}

}  // namespace ashlar
