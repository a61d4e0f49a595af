// Round: what one call of decide carries along.
#pragma once

#include <set>
#include <vector>

#include "engine/agenda.h"
#include "model/plan.h"

namespace ashlar {

struct Round {
  /// When the blocked head of a queue can start at the latest by known ends, and the cards left over then.
  struct Reservation {
    JobId job;
    Millis shadow = Millis::max();
    std::int64_t extra = 0;
  };

  Plan plan;
  std::set<Agenda::Head> work;         ///< next job of every shape still to look at, in order
  bool is_listed_whole = false;        ///< work holds every job, not only the first of each shape
  std::vector<Reservation> reservations;

  /// EASY: for a job of so many cards, from the ends known now; computed once per round and job.
  const Reservation& reservation_for(const State& state, JobId job, std::int64_t cards);
};

}  // namespace ashlar
