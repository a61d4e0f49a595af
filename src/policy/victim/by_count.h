// by_count: by-quota (unverified): which jobs may run, by device count alone. Candidates in order take their devices
// from a quota as long as they fit: a waiting one that fits is marked to start, a running one that does not is marked
// to stop. This is the published preemption of SRTF and Tiresias in Helios' simulator (SC'21), which checks no
// placement: a job may be stopped for one that then cannot be placed.
// Example: quota 8; waiting 4, running 8, running 2: start the first, stop the second, keep the third. Cost: one
// comparison per candidate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"

namespace ashlar {

/// The walk, one candidate at a time, for callers that merge queues on the way.
class CountWalk {
 public:
  enum class Mark : std::uint8_t { kNone, kStart, kStop };

  explicit CountWalk(std::int64_t devices) : left_(devices) {}
  Mark next(std::int64_t devices, bool is_running) {
    if (devices <= left_) {
      left_ -= devices;
      return is_running ? Mark::kNone : Mark::kStart;
    }
    return is_running ? Mark::kStop : Mark::kNone;
  }
  /// What later candidates may still take.
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

struct CountMarks {
  std::vector<JobId> start, stop;  ///< in the order of the candidates
};

}  // namespace ashlar
