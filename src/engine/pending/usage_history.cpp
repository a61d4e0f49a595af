#include "engine/pending/usage_history.h"

#include <algorithm>

#include "base/decay.h"
#include "base/grown.h"

namespace ashlar {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

}  // namespace

void UsageHistory::settle(Past& past, Millis now) const {
  if (now <= past.since) return;  // not even by rounding
  const double left = share_left(Millis(now.value - past.since.value), half_life_);
  for (std::size_t c = 0; c < past.averages.size(); ++c) {
    const auto held = static_cast<double>(c < past.held.size() ? past.held[c] : 0);
    past.averages[c] = held + (past.averages[c] - held) * left;
  }
  past.since = now;
}

UsageHistory::Past& UsageHistory::settled(QueueId queue, std::size_t counters, Millis now) {
  Past& past = grown(pasts_, queue.row());
  settle(past, now);
  if (past.averages.size() < counters) past.averages.resize(counters);
  return past;
}

void UsageHistory::hold(QueueId queue, std::span<const std::int64_t> held, Millis now) {
  if (!is_kept() || (queue.row() < pasts_.size() && std::ranges::equal(pasts_[queue.row()].held, held))) return;
  settled(queue, held.size(), now).held.assign(held.begin(), held.end());
}

double UsageHistory::record(QueueId queue, std::size_t counter, std::int64_t amount, Millis now) {
  if (!is_kept()) return 0;
  double& average = settled(queue, counter + 1, now).averages[counter];
  const double before = average;
  average = static_cast<double>(amount) * kLn2 / static_cast<double>(half_life_.value);
  return average - before;
}

void UsageHistory::add(QueueId queue, std::size_t counter, double by, Millis now) {
  if (is_kept()) settled(queue, counter + 1, now).averages[counter] += by;
}

void UsageHistory::take_step(Millis now) {
  step_ = step_of(now);
  for (Past& past : pasts_) {
    settle(past, now);
    past.at_step = past.averages;
  }
}

double UsageHistory::average(QueueId queue, std::size_t counter) const {
  if (queue.row() >= pasts_.size() || counter >= pasts_[queue.row()].at_step.size()) return 0;
  return pasts_[queue.row()].at_step[counter];
}

}  // namespace ashlar
