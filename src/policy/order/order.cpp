// The table of order policies.
#include "policy/order/order.h"

namespace ashlar {
namespace {

constexpr OrderPolicy kOrders[] = {
    {.name = "fifo", .waiting = fifo_waiting},
    {.name = "sjf", .waiting = sjf_waiting},
    {.name = "qssf", .waiting = qssf_waiting, .newcomers = qssf_newcomers},
    {.name = "qssf-oracle", .waiting = qssf_oracle_waiting, .newcomers = qssf_newcomers},
    {.name = "srtf", .waiting = srtf_waiting, .running = srtf_running},
    {.name = "tiresias", .waiting = tiresias_waiting, .running = tiresias_running, .changes_at = tiresias_changes_at},
    {.name = "priority-age", .waiting = priority_age_waiting, .is_by_priority = true},
    {.name = "priority-remaining",
     .waiting = priority_remaining_waiting,
     .gives_way_to = priority_remaining_gives_way_to,
     .gives_way_at = priority_remaining_gives_way_at,
     .is_by_priority = true},
};

}  // namespace

std::span<const OrderPolicy> order_policies() { return kOrders; }

const OrderPolicy* find_order(std::string_view name) {
  for (const OrderPolicy& policy : kOrders)
    if (policy.name == name) return &policy;
  return nullptr;
}

}  // namespace ashlar
