// gang_hold: why a gang may not be placed at present, as text.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// See Tracker::priority_trouble().
std::string priority_trouble(const TrackerData& t, const GangRecord& g);
/// See Tracker::gang_hold().
Hold gang_hold(const TrackerData& t, const GangRecord& g);

}  // namespace ashlar::kube
