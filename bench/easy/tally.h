// Tally: what became of the drawn held jobs: whether each delays a head, why the engine held it, and whether the heads'
// promised times hold in the expected future.
#pragma once

#include <map>
#include <string>

#include "engine/engine.h"
#include "state/state.h"

namespace ashlar::bench {

struct Tally {
  int drawn = 0;
  int delays_by_engine = 0;  ///< a head starts later if the engine goes on deciding
  int delays_alone = 0;      ///< a head could start only later if nothing else starts
  int in_vain = 0;           ///< neither
  int without_head = 0;
  double delay_seconds = 0;  ///< of the first head that is later, where one is
  double wait_seconds = 0;   ///< of the first head, without the job
  /// Promised times of heads, and those that pass before the head starts in the future without the job.
  struct Promises {
    int made = 0, broken = 0;
  };
  Promises of_first, of_others;  ///< of the first waiting job of all; of other queues' first waiting jobs behind it
  std::map<std::string, int> why_in_vain, why_delays;
  std::map<std::string, std::string> examples;  ///< of those in vain, by reason

  /// Looks at a job that is held at the decision just made.
  void look_at(State& state, Engine& engine, Millis now, JobId job);
  void add(const Tally& other, const std::string& where);
  void print() const;
};

}  // namespace ashlar::bench
