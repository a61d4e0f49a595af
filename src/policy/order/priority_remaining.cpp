// priority-remaining: see order.h. What a job is expected to need yet follows its median estimate, until it has run so
// long that what is left of it would be less than three tenths of that: estimates are often wrong, and of a job that
// has run for long much is likely to be left. The time since submission counts off, so no job waits for ever.
#include <algorithm>

#include "policy/order/order.h"

namespace ashlar {
namespace {

/// Seven hours since submission count as one hour less to run.
constexpr std::int64_t kAgeing = 7;
/// A running job gives way to those that need less than half of what it needs, and a minute less.
constexpr std::int64_t kLessByFactor = 2, kLessBy = 60'000;
/// Of what it has run, in tenths.
constexpr std::int64_t kLeftAtLeast = 3;
constexpr std::int64_t kUnknown = INT64_MAX;

std::int64_t left_after(const Job& job, Millis run) {
  if (job.remaining == Millis::max()) return kUnknown;
  return std::max((job.remaining - run).value, (job.served + run).value / 10 * kLeftAtLeast);
}

std::int64_t aged(const Job& job, std::int64_t left) {
  return left == kUnknown ? kUnknown : left + job.submitted.value / kAgeing;
}

std::int64_t first_of(const Job& job) { return -static_cast<std::int64_t>(job.priority); }

}  // namespace

OrderKey priority_remaining_waiting(const Job& job) { return {first_of(job), aged(job, left_after(job, Millis(0)))}; }

OrderKey priority_remaining_gives_way_to(const Job& running, Millis now) {
  const std::int64_t left = left_after(running, now - running.started_at);
  return {first_of(running), aged(running, left == kUnknown ? left : std::min(left / kLessByFactor, left - kLessBy))};
}

Millis priority_remaining_gives_way_at(const Job& running, const OrderKey& waiting, Millis now) {
  constexpr std::int64_t kTooFar = std::int64_t{1} << 58;
  if (running.remaining == Millis::max() || waiting.major != first_of(running) || waiting.minor > kTooFar)
    return Millis::max();
  const std::int64_t less = waiting.minor - running.submitted.value / kAgeing;
  const std::int64_t enough = std::max(less * kLessByFactor, less + kLessBy) + 1;  // left to run, for it to give way
  if (enough > kTooFar) return Millis::max();
  // While it runs on, only by what it has run is there ever more left of it.
  const Millis at = running.started_at - running.served + Millis((enough / kLeftAtLeast + 1) * 10);
  return std::max(at, now + Millis(1));
}

}  // namespace ashlar
