// PutOffEnds: when jobs that have outlasted their late ends are expected to end instead. Kept from one search for an
// earliest start to the next; can be made anew from the timeline at any time. Cost: O(log of those jobs) for each end
// that goes, passes or is put off again.
#pragma once

#include <cstdint>
#include <map>

#include "state/time/timeline.h"

namespace ashlar {

class PutOffEnds {
 public:
  /// Follows the timeline up to now. If `now` runs backwards, all is made anew.
  void bring_up(const Timeline& timeline, Millis now);
  Millis now() const { return now_; }
  /// By their new times, all of them after now; each with its time in the timeline.
  const std::map<Timeline::End, Millis>& ends() const { return ends_; }

 private:
  void start_anew(const Timeline& timeline, Millis now);
  void follow(const Timeline::Change& change);

  bool is_started_ = false;
  std::uint64_t cursor_ = 0;  ///< Timeline::change_count() up to which this is current
  Millis now_;
  std::map<Timeline::End, Millis> ends_;
};

}  // namespace ashlar
