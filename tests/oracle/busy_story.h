// BusyStory: a random life of a busy cluster: its nodes are full, most jobs wait, and what keeps them waiting is of every
// kind: limits of queues, plain and by device class, reservations, cordons, holds, unhealthy devices. There are several
// device classes and nodes of mixed ones; gangs of every kind; durations known, wrong and unknown; any blocking rule.
#pragma once

#include "story.h"

namespace ashlar::oracle::busy {

/// The same seed gives the same story. It has no plain world: it is played without checks.
Story draw_busy_story(std::uint64_t seed);

}  // namespace ashlar::oracle::busy
