// WallClock: a wall clock that never runs backwards, as the engine requires. EventBuffer: the list of events that
// translation appends to during a poll and the driver takes as a whole. No copy, no lock: one thread owns both.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "engine/ports.h"

namespace ashlar::kube {

/// Milliseconds since 1970. If the clock is set back, it stands still until the old time is reached again.
class WallClock final : public Clock {
 public:
  explicit WallClock(std::function<Millis()> wall) : wall_(std::move(wall)) {}
  Millis now() override { return last_ = std::max(last_, wall_()); }

 private:
  std::function<Millis()> wall_;
  Millis last_;
};

class EventBuffer final : public EventSource {
 public:
  explicit EventBuffer(Clock& clock) : clock_(clock) {}

  void add(EventBody body) { events_.push_back({now_, std::move(body)}); }
  /// An event that only confirms what the engine assumed: it can wait for the next real event.
  void add_confirmation(EventBody body) {
    add(std::move(body));
    ++confirmations_;
  }
  /// Reads the clock once for all events that follow.
  void stamp() { now_ = clock_.now(); }
  Millis now() const { return now_; }

  void take(std::vector<Event>& out) override {
    if (out.empty())
      out.swap(events_);
    else
      out.insert(out.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
    events_.clear();
    confirmations_ = 0;
  }
  std::size_t size() const { return events_.size(); }
  /// True if any event could change a decision.
  bool has_news() const { return events_.size() > confirmations_; }

 private:
  Clock& clock_;
  Millis now_;
  std::vector<Event> events_;
  std::size_t confirmations_ = 0;
};

}  // namespace ashlar::kube
