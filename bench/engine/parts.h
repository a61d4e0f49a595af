// parts: the figures of bench_engine by subject; each function measures some and prints them with their limits.
#pragma once

#include "bench_report.h"

namespace ashlar::bench {

void measure_starts(Report& report);        ///< single pods that start at once
void measure_reserved(Report& report);      ///< the same beside a reservation
void measure_gangs(Report& report);         ///< a gang that starts at once, a trial
void measure_waiting(Report& report);       ///< one event while many kinds wait
void measure_held(Report& report);          ///< one event while many are held by a reservation
void measure_holds(Report& report);         ///< single pods where nodes are held for a queue, or from later on
void measure_nodes(Report& report);         ///< nodes that change while many wait
void measure_timeline(Report& report);      ///< ends of running jobs that come and go
void measure_availability(Report& report);  ///< by when devices are idle, as reservations ask
void measure_queues(Report& report);        ///< the order of queues by what they use
void measure_victims(Report& report);       ///< running jobs that stop for a gang
void measure_copies(Report& report);        ///< a copy of state and engine

}  // namespace ashlar::bench
