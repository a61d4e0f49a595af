// ReadReplica: the readers' own state, engine and tables of a leadership. A decision is a function of the events, so it
// applies the same events and decides again at the same times; the tables follow by their changed rows. Nothing in it
// refers to the leader's own, so it may live on another thread; its memory and computing time are those of a second
// engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "live/read/job_history.h"
#include "live/read/node_tally.h"
#include "live/read/pod_text.h"
#include "live/track/event_buffer.h"
#include "live/track/tables.h"
#include "live/write/binder.h"
#include "live/write/status_writer.h"
#include "model/event.h"
#include "state/state.h"

namespace ashlar::kube {

/// Numbers of a leadership that are in no table.
struct TermNumbers {
  CommitCounters binder;
  EvictionCounters evictions;
  StatusWriterCounters status_writer;
  std::size_t binds_held = 0, binds_in_flight = 0, binds_waiting = 0, binds_slow = 0;
  std::size_t status_writes_waiting = 0, status_refreshes_waiting = 0;  ///< the former without the latter
  std::size_t commits_waiting = 0;  ///< pods that have a place, and whose binding waits for their volumes
  std::size_t bind_window = 0, reread_window = 0, status_window = 0;
  std::size_t unknown_fields = 0;  ///< kinds of fields seen that only a newer Kubernetes has
  std::uint64_t steps = 0;
  Millis pending_since = Millis::max();  ///< since when something waits for the engine; max: nothing does
  friend bool operator==(const TermNumbers&, const TermNumbers&) = default;
};

/// What a replica has to do to be up to date again.
struct HandOver {
  std::vector<Event> events;         ///< of the decision
  std::optional<Millis> decided_at;  ///< absent: nothing was decided, and there are no events
  std::uint64_t digest = 0;          ///< of the state after the decision
  Tables::Changes tables;
  TermNumbers numbers;
};

class ReadReplica {
 public:
  /// `now`: the wall clock, called on the thread that reads.
  ReadReplica(const Profile& profile, const EngineOptions& options, std::function<Millis()> now);
  /// A copy of the leader's own, of a moment at which every event in the state was decided on. O(state), milliseconds.
  ReadReplica(const State& state, const Engine& engine, const Tables& tables, std::function<Millis()> now);
  ~ReadReplica();

  void take(HandOver&& news);
  /// Something was handed over to it.
  bool has_begun() const { return has_begun_; }
  /// Every state was the leader's own, by digest. Otherwise a decision depends on something that is no event: a bug.
  bool is_faithful() const { return is_faithful_; }

  const Tables& tables() const { return tables_; }
  State& state() { return state_; }
  const Engine& engine() const { return engine_; }
  const TermNumbers& numbers() const { return numbers_; }
  /// What became of the jobs, up to now.
  const JobHistory& history() {
    history_.settle(state_, now());
    return history_;
  }
  Millis now() { return clock_.now(); }
  TextContext text_context() { return {tables_, state_, now(), &tally_}; }
  /// How long the oldest event has waited for the engine; 0 if none waits.
  Millis snapshot_age() { return numbers_.pending_since == Millis::max() ? Millis(0) : now() - numbers_.pending_since; }
  /// The condition of a waiting pod, as it would be written now; an empty reason if there is none.
  ConditionText pod_text(PodSlot slot);
  /// The verdict on a job with the numbers of the last decision, kPending if the engine has not seen the job; O(nodes).
  Verdict verdict_of_now(JobId job);

 private:
  WallClock clock_;
  Tables tables_;
  State state_;
  Engine engine_;
  TermNumbers numbers_;
  NodeTally tally_;
  JobHistory history_;
  bool has_begun_ = false, is_faithful_ = true;
};

}  // namespace ashlar::kube
