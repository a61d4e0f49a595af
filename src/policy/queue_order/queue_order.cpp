// The table of queue-order policies.
#include "policy/queue_order/queue_order.h"

namespace ashlar {
namespace {

constexpr QueueOrderPolicy kQueueOrders[] = {
    {.name = "by-job", .key = nullptr},
    {.name = "least-share", .key = least_share},
    {.name = "drf", .key = drf, .prefers_guaranteed = true, .follows_history = true},
    {.name = "fair-tree", .key = fair_tree, .follows_history = true},
    {.name = "strict-priority", .key = strict_priority},
    {.name = "kai", .key = nullptr, .turns = Turns::kKai},
    {.name = "kueue-classic", .key = nullptr, .turns = Turns::kKueue},
    {.name = "kueue-fair", .key = nullptr, .turns = Turns::kKueueFair},
};

}  // namespace

std::span<const QueueOrderPolicy> queue_order_policies() { return kQueueOrders; }

const QueueOrderPolicy* find_queue_order(std::string_view name) {
  for (const QueueOrderPolicy& policy : kQueueOrders)
    if (policy.name == name) return &policy;
  return nullptr;
}

const QueueOrderPolicy& default_queue_order() { return kQueueOrders[0]; }

}  // namespace ashlar
