// A random life (history.h) played to its end with decisions, and looked at on the way.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "history.h"

namespace ashlar {

/// `look(state, engine, now)` is called after most of the moves and the decision that follows each.
template <class Look>
void play(const OutsideOptions& options, const std::vector<Move>& moves, Look&& look) {
  State state;
  Engine engine(*builtin_profile("ashlar"));
  Outside outside(options);
  const auto decide = [&](const std::vector<Event>& batch) {
    for (const Event& event : batch) apply(state, event);
    outside.learn(engine.decide(state, outside.now()));
  };
  decide(outside.begin());
  for (const Move& move : moves) {
    decide(outside.act(move, state));
    if (move.b % 4 > 0) look(state, engine, outside.now());
  }
}

}  // namespace ashlar
