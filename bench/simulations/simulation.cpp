#include "simulation.h"

#include <stdexcept>

namespace ashlar::bench {

Simulation::Simulation(std::uint64_t seed) : drawn_(drawn_simulation(seed)) {
  if (const auto problem = validate(drawn_.profile)) throw std::runtime_error("profile: " + problem->text);
  Result<sim::Scenario> scenario = sim::parse_scenario(drawn_.scenario, "drawn.yaml");
  if (!scenario) throw std::runtime_error(scenario.error().message);
  scenario_ = *std::move(scenario);
}

std::vector<std::string> Simulation::play(Sums& sums) const {
  Result<sim::ScenarioRun> run = sim::ScenarioRun::make(scenario_);
  if (!run) throw std::runtime_error(run.error().message);
  Checks first(drawn_), second(drawn_);
  const sim::QueueRun result = play_once(*run, first);
  play_once(*run, second);
  std::vector<std::string> wrong = first.faults();
  if (first.digest() != second.digest()) wrong.push_back("the second time it decides otherwise");
  if (drawn_.must_finish && result.unfinished_jobs > 0)
    wrong.push_back(std::to_string(result.unfinished_jobs) + " jobs have not ended");
  sums.decisions += first.decisions();
  sums.starts += first.starts();
  sums.stops += first.stops();
  return wrong;
}

sim::QueueRun Simulation::play_once(const sim::ScenarioRun& run, Checks& checks) const {
  return run.run(drawn_.profile, {},
                 [&](const State& state, Engine&, const Plan& plan) { checks.look_at(state, plan); });
}

}  // namespace ashlar::bench
