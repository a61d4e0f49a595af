// levels: node labels that gangs name become topology levels, up to the limit, and are given back when no gang names
// them.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// Whether the gang must stay within a domain of a level that does not exist.
bool lacks_level(const Tables& t, const GangRecord& g);
/// These levels are named by one gang fewer: if all are taken, others may have them.
void note_levels_left(TrackerData& t, LevelId within, LevelId prefer);
/// Gangs whose label was no level may have one now.
void touch_level_waiters(TrackerData& t);
/// See Tracker::gangs_without_level().
std::size_t gangs_without_level(const Tables& t);
void take_levels(TrackerData& t, GangRecord& g);
bool has_other_levels(const TrackerData& t, const GangRecord& g);

}  // namespace ashlar::kube
