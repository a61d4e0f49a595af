// simulated_play: plays a script without a cluster: the engine decides by the default profile, the simulator's world
// carries out what it decides in virtual time, and the scene shows it as on a real cluster. Cost: microseconds per
// event, so that the time can follow a clock.
#pragma once

#include <memory>

#include "apps/demo/scene.h"
#include "apps/demo/script.h"

namespace ashlar::demo {

class SimulatedPlay {
 public:
  /// `has_queues`: jobs are in their team's queue, with its quota; else all in the one without.
  explicit SimulatedPlay(const Script& script, bool has_queues = true);
  ~SimulatedPlay();
  /// Everything that happens up to this time of the play. Never backwards.
  void advance_to(Millis time);
  /// All jobs have ended, or the script's length has passed.
  bool is_over() const;
  /// Of the play, as of the last call.
  Millis now() const;
  const Scene& scene() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ashlar::demo
