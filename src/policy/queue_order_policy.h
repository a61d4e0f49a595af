// QueueOrderPolicy: which queue goes first, by a sort key of each, compared between siblings at each level of the tree;
// inside a queue, and between queues of equal keys, the order of jobs decides. One row per policy, in the order of the
// docs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/quota.h"
#include "policy/order_policy.h"

namespace ashlar {

/// What a queue, with those below it, uses of one resource.
struct QueueUse {
  std::int64_t used = 0;
  std::int64_t limit = 0;      ///< its own or the nearest one above it, else what all nodes have together
  std::int64_t guarantee = 0;  ///< in force; 0: it names none
  std::int64_t of_parent = 0;  ///< the limit nearest above it, else what all nodes have together
  double average = 0;          ///< of what it has used, see UsageHistory; where one is kept
};

/// What decides where a queue stands among its siblings.
struct QueueStanding {
  std::span<const QueueUse> uses;
  QueueRank rank = {};
  bool has_history = false;  ///< QueueUse::average is known
};

/// In whose turns jobs start: those of peers compare queues by themselves, see engine/published.
enum class Turns : std::uint8_t { kOwn, kKai, kKueue, kKueueFair };

struct QueueOrderPolicy {
  std::string_view name;
  /// Smaller goes first. null: queues are not compared, all jobs are in one order.
  OrderKey (*key)(const QueueStanding& standing);
  /// Queues that stay inside all guarantees that they name once their first job runs go before all others.
  bool prefers_guaranteed = false;
  /// Keys depend on what queues have used before (QueueUse::average).
  bool follows_history = false;
  Turns turns = Turns::kOwn;
};
std::span<const QueueOrderPolicy> queue_order_policies();
/// nullptr for an unknown name.
const QueueOrderPolicy* find_queue_order(std::string_view name);
/// The one of profiles that name none.
const QueueOrderPolicy& default_queue_order();

}  // namespace ashlar
