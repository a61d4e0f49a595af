// Cycle: what one call of decide carries along.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "engine/pending/woken_in_turn.h"
#include "engine/pending/work.h"
#include "model/plan.h"

namespace ashlar {

struct Cycle {
  /// By count: the latest time at which the blocked head of a queue can start by known ends, and the devices left over
  /// then.
  struct ShadowTime {
    JobId job;
    Millis shadow = Millis::max();
    std::int64_t extra = 0;
  };

  explicit Cycle(const PendingQueue& pending) : work(pending.queue_keys()) {}

  Plan plan;
  std::set<JobId> started;       ///< by the plan so far
  bool may_start_jobs = true;    ///< false between two beats
  Work work;                     ///< next job of every class still to be looked at
  bool has_begun = false;        ///< work was listed
  bool is_listed_whole = false;  ///< work holds every job, not only the first of each class
  /// By class with a job that was held: actions of the plan when one was last looked at. The quota was enough for it.
  std::map<ClassId, std::size_t> held;
  /// Nodes freed before this decision, and the classes that are looked at again for what these have free alone.
  std::vector<NodeId> freed_nodes;     ///< ascending
  std::vector<ClassId> woken_by_room;  ///< ascending
  WokenInTurn in_turn;                 ///< classes that are looked at again for it too, not yet awake
  std::size_t explained_again = 0;     ///< of these, whose room was taken
  // of the current job
  bool has_share = false;           ///< searches for it have a share of the time
  bool has_searched = false;        ///< it was searched for, not only looked at what it waits for
  std::size_t nodes_explained = 0;  ///< looked at for the reasons of classes, which need a look at every node
  std::set<ClassId> impossible;     ///< found in this round to fit no empty cluster, whatever else they wait for
  std::vector<PendingQueue::Holder> binding;  ///< the reservations that the current job might break, ascending
  bool is_beyond_limit = false;               ///< more heads wait ahead of it than may have a reservation
  /// The current job is held: until a job starts or a reservation changes, so is each of its class behind it that would
  /// last beyond this time.
  std::optional<Millis> holds_like_beyond;
  /// By class, the first of those that were set aside so before their turn. Those whose turn has not come when that
  /// happens are to be looked at after all.
  std::map<ClassId, PendingQueue::Entry> set_aside;
  /// How often held classes were woken since the plan had this many actions.
  std::size_t wake_rounds = 0, early_wakes = 0, actions_of_rounds = 0;
  std::vector<ShadowTime> shadow_times;

  /// For a job with this many devices, from the ends known now; computed once per cycle and job.
  const ShadowTime& shadow_time_for(const State& state, JobId job, std::int64_t devices);
  /// A job was started: it uses part of what the reservations leave over.
  void account(const State& state, JobId started);
};

}  // namespace ashlar
