// Stage: one step of a decision. A stage reads and changes the engine's data, the state and the cycle, and knows no
// other stage.
#pragma once

#include <string_view>
#include <vector>

#include "engine/data.h"

namespace ashlar {

struct Cycle;

struct Stage {
  std::string_view name;
  void (*run)(EngineData& engine, State& state, Cycle& cycle);
  bool starts_jobs = false;  ///< left out if Cycle::may_start_jobs is false
};

/// The stages of a decision by this profile, in order.
std::vector<Stage> stages_of(const Profile& profile);

}  // namespace ashlar
