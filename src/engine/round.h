// Round: what one call of decide carries along.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
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
    std::size_t actions = 0;  ///< of the plan when the quota of the shape was last found enough for one
  };

  Plan plan;
  std::vector<Agenda::Head> work;  ///< next job of every shape still to look at: a heap with the first in order on top
  bool is_listed_whole = false;    ///< work holds every job, not only the first of each shape
  std::map<ShapeId, Held> held;
  std::vector<JobId> binding;  ///< who holds a promise that the job looked at might break
  std::vector<Reservation> reservations;

  void add_work(const Agenda::Head& head) {
    work.push_back(head);
    std::push_heap(work.begin(), work.end(), std::greater<>());
  }
  Agenda::Head take_work() {
    std::pop_heap(work.begin(), work.end(), std::greater<>());
    const Agenda::Head head = work.back();
    work.pop_back();
    return head;
  }
  /// For a job of so many cards, from the ends known now; computed once per round and job.
  const Reservation& reservation_for(const State& state, JobId job, std::int64_t cards);
  /// A job was started: it takes from what the reservations leave over.
  void account(const State& state, JobId started);
};

}  // namespace ashlar
