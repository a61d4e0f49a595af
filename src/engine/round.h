// Round: what one call of decide carries along.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "engine/agenda.h"
#include "model/plan.h"

namespace ashlar {

struct Round {
  /// By count: when the blocked head of a queue can start at the latest by known ends, and the cards left over then.
  struct Reservation {
    JobId job;
    Millis shadow = Millis::max();
    std::int64_t extra = 0;
  };

  /// Jobs of a shape that last until `end` or longer would break a promise.
  struct Held {
    Millis end, promised;
  };

  Plan plan;
  std::set<Agenda::Head> work;   ///< next job of every shape still to look at, in order
  bool is_listed_whole = false;  ///< work holds every job, not only the first of each shape
  std::map<ShapeId, Held> held;
  std::vector<JobId> binding;  ///< who holds a promise that the job looked at might break
  std::vector<Reservation> reservations;

  /// For a job of so many cards, from the ends known now; computed once per round and job.
  const Reservation& reservation_for(const State& state, JobId job, std::int64_t cards);
  /// A job was started: it takes from what the reservations leave over.
  void account(const State& state, JobId started);
};

}  // namespace ashlar
