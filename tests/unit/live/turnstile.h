// Turnstile: a clock at which a thread of the program can be held, and let on call by call.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "live/lead/leader.h"

namespace ashlar::kube {

class Turnstile {
 public:
  /// On the thread that is held: the time, once it may go on.
  Millis pass() {
    std::unique_lock lock(lock_);
    if (is_closed_) {
      ++arrivals_;
      changed_.notify_all();
      const int opened = opened_;
      changed_.wait(lock, [&] { return opened_ != opened || passes_ > 0; });
      if (passes_ > 0) --passes_;
    }
    return steady_now();
  }
  /// Returns when the thread stands there.
  void close() {
    std::unique_lock lock(lock_);
    is_closed_ = true;
    wait_for(lock, arrivals_ + 1);
  }
  /// Lets it on until it stands there again.
  void step() {
    std::unique_lock lock(lock_);
    ++passes_;
    changed_.notify_all();
    wait_for(lock, arrivals_ + 1);
  }
  void open() {
    const std::lock_guard lock(lock_);
    is_closed_ = false;
    ++opened_;
    changed_.notify_all();
  }

 private:
  void wait_for(std::unique_lock<std::mutex>& lock, int arrivals) {
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), [&] { return arrivals_ >= arrivals; }));
  }

  std::mutex lock_;
  std::condition_variable changed_;
  bool is_closed_ = false;
  int passes_ = 0, arrivals_ = 0, opened_ = 0;
};

}  // namespace ashlar::kube
