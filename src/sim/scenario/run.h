// run: the general timed simulation: any nodes, topology, queues, work, failures and profile. Deterministic: a job runs
// for exactly its duration, being stopped costs it nothing except its place in the queue, and losing a node makes it
// start over. Cost: about 3 microseconds per job on 10,000 devices; memory for the present jobs plus 16 bytes per job.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "policy/profile.h"
#include "sim/results/results.h"
#include "sim/scenario/arrivals.h"
#include "sim/scenario/scenario.h"
#include "sim/world/catalog.h"

namespace ashlar::sim {

/// Called after each decision of a run. It may try things on the state and undo them, and change nothing.
using DecisionWatch = std::function<void(State& state, Engine& engine, const Plan& plan)>;

/// A scenario with its traces read and every name a row; the same for all profiles.
class ScenarioRun {
 public:
  /// The scenario must outlive it. Errors: see ScenarioWork::make.
  static Result<ScenarioRun> make(const Scenario& scenario);
  static Result<ScenarioRun> make(Scenario&& scenario) = delete;  // would not outlive it

  /// For profiles that name accelerator models. New names get rows that no node has.
  DeviceClassId model(std::string_view name) { return catalog_.model(name); }
  std::int64_t jobs_expected() const { return work_.jobs_expected(); }
  /// What was left out of the traces, a sentence each.
  std::span<const std::string> notes() const { return work_.notes(); }
  /// `progress`, `watch` and `ended` may be empty.
  QueueRun run(const Profile& profile, const std::function<void(std::int64_t jobs)>& progress = {},
               const DecisionWatch& watch = {}, const OnOutcome& ended = {}) const;

 private:
  const Scenario* scenario_ = nullptr;
  Catalog catalog_;
  ScenarioWork work_;
  std::vector<NodeFacts> facts_;  ///< by NodeId
  std::vector<Event> opening_;
  std::vector<NodeChange> node_changes_;
  std::vector<Event> holds_;
};

}  // namespace ashlar::sim
