// Pulse: the signs of life of a thread, from which the main loop sees that it hangs. Cost: an atomic addition.
//
//   pulse.beat();                                 // that thread, before each piece of work
//   if (pulse.has_moved()) moved_at = now;        // the loop, at each turn
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace ashlar::kube {

class Pulse {
 public:
  // ---- on the thread itself -----------------------------------------------------------------------------------------
  void beat() {
    is_resting_ = false;
    ++beats_;
  }
  /// From now until its next beat it waits for others, which may take any time.
  void rest() { is_resting_ = true; }

  bool is_resting() const { return is_resting_; }
  /// Whether it has beaten since the last call, or rests. For one caller.
  bool has_moved() {
    const std::uint64_t beats = beats_;
    return std::exchange(seen_, beats) != beats || is_resting_;
  }

 private:
  std::atomic<std::uint64_t> beats_{0};
  std::atomic<bool> is_resting_{false};
  std::uint64_t seen_ = 0;  ///< the caller's
};

}  // namespace ashlar::kube
