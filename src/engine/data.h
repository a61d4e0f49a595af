// EngineData: what an engine keeps between two decisions, as plain fields that the stages of a cycle share. All of it
// can be rebuilt from the state except the verdicts already reported, the stream of random numbers and the
// reservations, which EngineFields writes out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "base/rng.h"
#include "engine/pending/pending_queue.h"
#include "engine/place/costly_turns.h"
#include "engine/place/tables/fit_table.h"
#include "engine/reserve/reservations.h"
#include "policy/profile.h"

namespace ashlar {

struct EngineOptions {
  /// A step stops after this many binds (a gang is never cut), so that new jobs of higher priority get their turn. The
  /// rest is decided next time.
  std::uint32_t binds_per_step_max = UINT32_MAX;
  /// Compute and report reasons for waiting jobs. Simulations that only count turn it off.
  bool has_verdicts = true;
};

/// Counters of what may help held jobs, when all of them were last gone through.
struct HeldSeen {
  std::uint64_t reservation_changes = 0, head_changes = 0;
  std::uint64_t cluster_digest = 0;  ///< if there are limits of queues
  friend bool operator==(const HeldSeen&, const HeldSeen&) = default;
};

struct EngineData {
  /// The last verdict on a job in short. The full one is kept by the parked class; one on a job of an active class has
  /// one number at most.
  struct Reported {
    std::uint16_t mark = 0;  ///< kind and first reason; 0 = none
    Millis at;
    std::int64_t number = 0;
  };

  EngineData(Profile profile_given, EngineOptions options_given)
      : profile(std::make_shared<const Profile>(std::move(profile_given))),
        options(options_given),
        pending(*profile->order, *profile->queue_order, profile->half_life),
        fit_tables(*profile),
        draws(profile->seed) {}

  std::shared_ptr<const Profile> profile;  ///< pending queue and tables refer to it; copies of the engine share it
  EngineOptions options;
  PendingQueue pending;
  FitTables fit_tables;
  Reservations reservations;
  HeldSeen held_seen;
  Rng draws;
  std::uint64_t queue_changes_seen = 0;
  std::uint64_t redefinitions_seen = 0;
  /// Cluster::facts_change_count() at the last decision, and by class when its first job was last judged.
  std::uint64_t facts_seen = 0;
  std::vector<std::uint64_t> judged_on;
  /// the same when all blocked heads were last looked at; not kept in a snapshot, which only costs a walk
  std::uint64_t heads_walked_on = 0;
  /// By class: a node that could take a job of it if it were empty, when one was last looked for.
  std::vector<NodeId> would_fit_on;
  /// Classes found never to fit, of which an added or changed node could take a member.
  std::set<ClassId> to_prove;
  std::function<void(JobId)> before_stop;  ///< see Engine::before_stop
  /// When running jobs may be stopped for a waiting one that could not be before: their protected time ends, or their
  /// queue borrows.
  Millis more_victims_at = Millis::max();
  /// The last decision ended at its limit of what it looks at: what has woken meanwhile waits until the jobs that were
  /// not looked at have had their turn, or newcomers behind them might never have one.
  bool is_cut = false;
  CostlyTurns costly;
  std::uint64_t unproven = 0;
  std::uint64_t cut_short = 0;  ///< decisions that ended at the limit of rounds in which held jobs are woken
  std::uint32_t wake_rounds_max = UINT32_MAX;  ///< a lower limit, for tests
  /// this many classes that may have room are woken at once, others each in its turn; fewer for tests
  std::size_t woken_at_once_max = 64;
  /// A decision ends after it has looked at this many nodes for reasons, as for those of 512 classes on 5,000 nodes,
  /// and goes on in the next one: in between the lease is renewed and new jobs get their turn. Fewer for tests.
  std::size_t nodes_explained_max = 2'560'000;
  /// What searches for gangs may cost in vain. Fewer for tests.
  CostlyLimits costly_limits;
  std::vector<Reported> reported;  ///< by job
};

}  // namespace ashlar
