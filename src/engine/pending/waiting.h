// waiting: a waiting job, and the first of a class, with what orders them.
#pragma once

#include <compare>
#include <cstdint>

#include "base/id.h"
#include "policy/order_policy.h"

namespace ashlar {

using ClassId = Id<struct ClassTag>;

/// A waiting job with its sort key: the order of jobs, inside a queue and between queues that are not compared.
struct WaitingJob {
  bool is_surplus = false;  ///< only members above the minimum wait: after every minimum
  OrderKey key;
  std::uint64_t turn = 0;
  JobId job;
  bool operator==(const WaitingJob&) const = default;
  std::strong_ordering operator<=>(const WaitingJob& o) const {  // by hand, as that of its key
    if (is_surplus != o.is_surplus) return is_surplus <=> o.is_surplus;
    if (key != o.key) return key <=> o.key;
    return turn != o.turn ? turn <=> o.turn : job <=> o.job;
  }
};

/// The first job of a class, or the next one to be looked at.
struct ClassHead {
  WaitingJob entry;
  ClassId job_class;
  QueueId queue;
  friend auto operator<=>(const ClassHead&, const ClassHead&) = default;
};

}  // namespace ashlar
