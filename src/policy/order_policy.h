// OrderPolicy: which job goes first, by a sort key of each. One row per policy, in the order of the docs.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/quantity.h"

namespace ashlar {

struct Job;

/// Sort key of a job; smaller goes first, equal keys go by turn.
struct OrderKey {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  bool operator==(const OrderKey&) const = default;
  /// Written by hand: sets of thousands are walked with it, and the compiler does not inline the default one.
  std::strong_ordering operator<=>(const OrderKey& o) const {
    return major != o.major ? major <=> o.major : minor <=> o.minor;
  }
};
struct OrderPolicy {
  std::string_view name;
  OrderKey (*waiting)(const Job& job);              ///< fixed while the job waits
  OrderKey (*running)(const Job& job, Millis now);  ///< may change with time; null if running jobs are never reordered
  /// If the order of waiting jobs that all arrived at `now` differs from `waiting` (QSSF), their key; else null.
  OrderKey (*newcomers)(const Job& job);
  /// First time after `now` at which a running job's key changes, without an event, in a way that could change which
  /// jobs may run; null = never.
  Millis (*changes_at)(const Job& job, Millis now);
  /// For queues whose jobs stop longer ones (StopRules::Own::kLowerOrLonger): those that go before this key may stop
  /// the running job at `now`; null = the order does not say.
  OrderKey (*gives_way_to)(const Job& running, Millis now);
  /// First time after `now` at which a job that waits with that key may stop it, if it runs on; max() = never.
  Millis (*gives_way_at)(const Job& running, const OrderKey& waiting, Millis now);
  bool is_by_priority = false;  ///< of waiting jobs, the first has the highest priority
};
std::span<const OrderPolicy> order_policies();
/// nullptr for an unknown name.
const OrderPolicy* find_order(std::string_view name);

}  // namespace ashlar
