#include "state/time/timeline.h"

#include <algorithm>

#include "base/check.h"

namespace ashlar {

void Timeline::add_end(const End& end) { ends_.insert(std::lower_bound(ends_.begin(), ends_.end(), end), end); }

void Timeline::remove_end(const End& end) {
  const auto it = std::lower_bound(ends_.begin(), ends_.end(), end);
  ASHLAR_CHECK(it != ends_.end() && *it == end);
  ends_.erase(it);
}

Timeline::Window Timeline::earliest(std::span<const End> ends, std::int64_t free_now, std::int64_t devices) {
  std::int64_t free = free_now;
  if (free >= devices) return {Millis(0), free - devices};
  for (const End& end : ends) {
    if (end.at == Millis::max()) break;
    free += end.devices;
    if (free >= devices) return {end.at, free - devices};
  }
  return {Millis::max(), 0};
}

}  // namespace ashlar
