// WallClock: a wall clock that never runs backwards, as the engine requires. EventBuffer: the list of events that
// translation appends to during a poll and the driver takes as a whole. No copy, no lock: one thread owns both.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "engine/ports.h"

namespace ashlar::kube {

/// Milliseconds since 1970. If the clock is set back, as after a jump ahead, it goes on at half its speed until the
/// wall clock has caught up: everything that waits for a time waits twice as long, not for the size of the jump.
/// Without a steady clock it stands still meanwhile.
class WallClock final : public Clock {
 public:
  explicit WallClock(std::function<Millis()> wall, std::function<Millis()> steady = {})
      : wall_(std::move(wall)), steady_(std::move(steady)) {}
  Millis now() override {
    const Millis wall = wall_(), steady = steady_ ? steady_() : Millis(0);
    if (wall >= last_) {
      ahead_ = last_ = wall;
      ahead_at_ = steady;
    } else {
      last_ = std::max(last_, ahead_ + Millis((steady - ahead_at_).value / 2));
    }
    return last_;
  }

 private:
  std::function<Millis()> wall_, steady_;
  Millis last_;
  Millis ahead_, ahead_at_;  ///< when the wall clock was last ahead: the time then, and the steady clock's
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
