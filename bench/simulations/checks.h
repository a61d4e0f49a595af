// Checks: what must be true of every decision of a simulation, worked out from what was drawn and from where pods are,
// and not by asking the scheduler: devices, quotas, gangs, windows, protected jobs, circles of stops.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "state/state.h"
#include "worlds.h"

namespace ashlar::bench {

class Checks {
 public:
  explicit Checks(const DrawnSimulation& drawn) : drawn_(drawn) {}
  /// After each decision. Throws std::runtime_error where decisions do not come to an end.
  void look_at(const State& state, const Plan& plan);

  const std::vector<std::string>& faults() const { return faults_; }  ///< the first of them, in words
  std::int64_t decisions() const { return decisions_; }
  std::int64_t starts() const { return starts_; }
  std::int64_t stops() const { return stops_; }
  std::uint64_t digest() const { return digest_; }  ///< of all plans

 private:
  /// A job from its submission to its end: rows are used again.
  struct Incarnation {
    JobId job;
    Millis submitted;
    friend auto operator<=>(const Incarnation&, const Incarnation&) = default;
  };
  static Incarnation incarnation(const State& state, JobId job) { return {job, state.job(job).submitted}; }
  static bool is_present(const State& state, const Incarnation& one) {
    return state.is_live(one.job) && state.job(one.job).submitted == one.submitted;
  }
  void fault(const Plan& plan, const std::string& words);
  void check_pace(const Plan& plan);
  void check_devices(const State& state, const Plan& plan);
  void check_quotas(const State& state, const Plan& plan);
  void check_started(const State& state, const Plan& plan);
  void check_stopped(const State& state, const Plan& plan);
  bool gave_way_for(const Incarnation& one, const Incarnation& other) const;

  const DrawnSimulation& drawn_;
  std::vector<std::string> faults_;
  std::int64_t decisions_ = 0, starts_ = 0, stops_ = 0;
  std::uint64_t digest_ = 0;
  Millis at_;
  int in_vain_ = 0;  ///< decisions at that time without an action, one after the other
  std::map<Incarnation, Millis> started_;
  std::map<Incarnation, std::set<Incarnation>> gave_way_;  ///< for which others
};

}  // namespace ashlar::bench
