// AdaptiveWindow: how many requests of one kind may be under way, learnt from the answers: one more after each window
// of sound answers, half as many when the server is overloaded (additive increase, multiplicative decrease).
// RequestBudget stands above all such windows: it pauses everything while the server accepts nothing.
//
//   if (under_way < window.size()) pass = window.begin(under_way, now), send(...);
//   window.end(pass, health_of(answer), now);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/quantity.h"
#include "kubeclient/request_budget.h"

namespace ashlar::kube {

/// Overload is one answer with 429, 502, 503 or no connection; or a window of answers of which a quarter were other
/// failures and time-outs; or one of which even the fastest was much slower than the fastest of the last windows. One
/// slow or failing answer is not: it may be the fault of one namespace's webhook. Requests that were under way at a
/// decrease cause no other. Times are monotonic. Cost: O(1).
class AdaptiveWindow {
 public:
  struct Limits {
    std::size_t start = 1, floor = 1, ceiling = 1;
  };
  /// An eighth to twice of what it starts with.
  static constexpr Limits around(std::size_t start) {
    return {start, std::max<std::size_t>(1, start / 8), std::max<std::size_t>(1, start * 2)};
  }
  static constexpr Limits fixed(std::size_t size) { return {size, size, size}; }
  static constexpr std::int64_t kSlowFactor = 8;
  static constexpr Millis kSlowMin{500};  ///< faster answers are never slow
  static constexpr std::size_t kUnclearShare = 4;

  struct Pass {
    std::uint64_t number = 0;
    Millis sent;
  };

  explicit AdaptiveWindow(Limits limits) : limits_(limits), size_(limits.start) {}

  std::size_t size() const { return size_; }
  std::uint64_t decreases() const { return decreases_; }  // for tests

  /// `under_way`: places taken without this one. A window that is never full does not grow.
  Pass begin(std::size_t under_way, Millis now) {
    was_full_ = was_full_ || under_way + 1 >= size_;
    return {++last_number_, now};
  }
  void end(Pass pass, ServerHealth health, Millis now) {
    if (pass.number <= before_decrease_) return;
    if (health == ServerHealth::kTrouble) return decrease();
    ++answers_;
    if (health == ServerHealth::kUnclear) ++unclear_;
    if (health == ServerHealth::kSound) fastest_ = std::min(fastest_, std::max(now - pass.sent, Millis(1)));
    if (answers_ >= size_) end_window();
  }

 private:
  void end_window() {
    const bool is_overloaded = unclear_ * kUnclearShare >= answers_ || is_slow();
    if (fastest_ != Millis::max()) note_fastest();
    if (is_overloaded) return decrease();
    if (was_full_) size_ = std::min(size_ + 1, limits_.ceiling);
    begin_window();
  }
  bool is_slow() const {
    return fastest_ != Millis::max() && best_ != Millis::max() && fastest_ >= kSlowMin &&
           fastest_.value >= kSlowFactor * best_.value;
  }
  /// What was best is forgotten slowly, so that a server that has become slower for good is not held back for ever.
  void note_fastest() {
    if (best_ == Millis::max() || fastest_ <= best_)
      best_ = fastest_;
    else
      best_ = best_ + Millis(std::max<std::int64_t>(1, (fastest_ - best_).value / 64));
  }
  void decrease() {
    size_ = std::max(size_ / 2, limits_.floor);
    before_decrease_ = last_number_;
    ++decreases_;
    begin_window();
  }
  void begin_window() {
    answers_ = unclear_ = 0;
    fastest_ = Millis::max();
    was_full_ = false;
  }

  Limits limits_;
  std::size_t size_;
  std::uint64_t last_number_ = 0, before_decrease_ = 0, decreases_ = 0;
  std::size_t answers_ = 0, unclear_ = 0;
  bool was_full_ = false;
  Millis fastest_ = Millis::max(), best_ = Millis::max();
};

}  // namespace ashlar::kube
