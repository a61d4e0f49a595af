// Story: a random life of a small cluster, written down as a script for the simulated world: jobs of every kind come,
// run shorter or longer than estimated, change and are withdrawn; nodes fail, flap and are cordoned; binds are late,
// refused, answered twice; news comes doubled. The same seed gives the same story.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "mirror.h"
#include "policy/profile.h"
#include "sim/world/world.h"

namespace ashlar::oracle {

struct Story {
  std::uint64_t seed = 0;
  PlainWorld drawn;
  std::vector<sim::ScriptedEvent> script;  ///< in order of time
  Profile profile;
  sim::WorldRules rules;
  bool has_faulty_binds = true;
  EngineOptions options;
  std::uint32_t wake_rounds_max = UINT32_MAX;
  std::optional<std::size_t> woken_at_once_max, nodes_explained_max,
      costly_at_once_max;  ///< the engine's own limits if not set
};

struct StoryOptions {
  bool is_calm = false;        ///< no faults of nodes and binds, no foreign pods, no changes of mind
  bool is_exact = false;       ///< every job runs exactly as long as its p90 says, under EASY
  bool is_crowded = false;     ///< more jobs on fewer nodes, in nine queues
  bool has_preemption = true;  ///< now and then a profile that stops running jobs
  /// other schedulers keep nodes for pods of theirs; drawn last, so that the story is otherwise the same
  bool has_nominations = false;
  /// capacity is held; drawn after these. The mirror knows no holds: only for plays without checks
  bool has_holds = false;
  /// of jobs, and of one member, and with a grace where the profile stops jobs; drawn after these
  bool has_evictions = false;
  bool has_groups = false;          ///< gangs of groups with a minimum and a level of their own
  bool has_unlike_devices = false;  ///< on some nodes; the story is otherwise drawn in the same way
  bool has_capabilities = false;    ///< of models, which jobs name and which change; drawn last
};

Story draw_story(std::uint64_t seed, const StoryOptions& options = {});

/// Whether later events rest on it, so that a story without it cannot be played.
bool is_definition(const sim::ScriptedEvent& scripted);

/// What a step was, for comparing two plays.
struct PlayedStep {
  Millis at;
  std::uint64_t events = 0;  ///< number and kinds
  std::uint64_t plan = 0, state = 0;
  friend bool operator==(const PlayedStep&, const PlayedStep&) = default;
};

struct PlayOptions {
  bool has_checks = true;           ///< of rules, reasons and losses; off where only the timing matters
  std::uint64_t restarts_seed = 0;  ///< 0 = none; else now and then a new engine goes on from the record's bytes
  /// Called when the events of a step are applied and before the engine decides, and with the plan afterwards. A text
  /// is a fault.
  std::function<void(const State& state, const Engine& engine, Millis now)> before = {};
  std::function<std::string(const State& state, const Engine& engine, const Plan& plan)> after = {};
  /// The same, when the plan is carried out in the plain world.
  std::function<std::string(const Mirror& mirror, const Plan& plan)> after_in_plain = {};
};

struct Played {
  std::vector<PlayedStep> steps;
  std::string fault;  ///< the first one; empty where all went well
  int restarts = 0, from_snapshots = 0, placed = 0, refused = 0, lost = 0, ended = 0;
  Heard heard;
};

/// Of profiles that stop no jobs.
PlainOrder order_of(const Profile& profile);

/// Plays a story to its end and checks after each step what must hold.
Played play(const Story& story, const PlayOptions& options = {});

}  // namespace ashlar::oracle
