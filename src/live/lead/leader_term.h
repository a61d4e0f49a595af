// LeaderTerm: tables, state, engine, driver, binder and status writer of one leadership. It begins empty, is fed with
// everything the reflectors know, and is discarded when leadership ends, so that no assumption of an old leader
// survives. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/driver.h"
#include "engine/engine.h"
#include "live/read/metrics.h"
#include "live/read/read_replica.h"
#include "live/track/event_buffer.h"
#include "live/track/tracker.h"
#include "live/watch/watched_change.h"
#include "live/write/binder.h"
#include "live/write/condition_review.h"
#include "live/write/evictions.h"
#include "live/write/queue_status.h"
#include "live/write/status_writer.h"
#include "state/state.h"

namespace ashlar::kube {

/// The profile with its accelerator models named by rows of these tables.
using MakeProfile = std::function<Profile(const std::function<DeviceClassId(std::string_view)>&)>;
/// A recorder for this state and engine, or nothing. Both outlive it.
using OpenRecorder = std::function<std::unique_ptr<Recorder>(const State&, const Engine&, const Tracker&)>;

struct LeaderTermOptions {
  TrackerOptions tracker;
  MakeProfile profile;
  CommitOptions binder;
  StatusWriterOptions status_writer;
  /// with the window of the actuator: how long a new pod may have to wait for its turn
  std::uint32_t binds_per_step_max = 64;
  /// how long events are gathered before a decision while bindings are under way
  Millis window{2};
  std::size_t events_per_step_max = 10'000;  ///< this many gathered events start the decision before the window is over
  OpenRecorder open_recorder;
  /// to the replica, after each turn with something new; empty: there are no readers
  std::function<void(HandOver&&)> hand_over = {};
  OnLog log;
};

/// The profile as the live scheduler uses it: its feasible policies include every rule of Kubernetes, even those that
/// the profile leaves out. kInvalid for profiles that stop running jobs.
Result<Profile> live_profile(Profile profile);

class LeaderTerm {
 public:
  LeaderTerm(Api& api, LeaderTermOptions options, SchedulerMetrics& metrics, std::function<bool()> may_write);
  ~LeaderTerm();
  LeaderTerm(const LeaderTerm&) = delete;
  LeaderTerm& operator=(const LeaderTerm&) = delete;

  template <class T>
  void take(Change<T>&& change) {
    tracker_.take(std::move(change));
  }

  void take(PodGroupsNote&& note) {
    status_writer_.set_pod_groups(note.version);
    tracker_.note_pod_groups(note.problem);
  }
  void take(PriorityClassesNote&& note) { tracker_.note_priority_classes(note.problem); }
  void take(VolumesNote&& note) { tracker_.note_volumes(note.resource, note.problem); }
  void take(WatchedChange&& change) {
    std::visit([this](auto&& one) { take(std::forward<decltype(one)>(one)); }, std::move(change));
  }

  /// Decides if there is something to decide and the window has a place for its bindings. Returns when to be called
  /// again at the latest.
  Millis turn();
  /// Stops deciding; bindings under way are still answered.
  void stop_deciding() { is_deciding_ = false; }
  bool is_idle() const { return binder_.is_idle(); }

  // ---- reading (same thread) ----------------------------------------------------------------------------------------
  Tracker& tracker() { return tracker_; }
  State& state() { return *state_; }
  const Engine& engine() const { return *engine_; }
  /// A copy of nothing yet, for what is handed over from now on. `now`: see ReadReplica.
  std::unique_ptr<ReadReplica> begin_replica(std::function<Millis()> now) const {
    return std::make_unique<ReadReplica>(engine_->profile(), engine_->options(), std::move(now));
  }
  /// A copy of everything, for what is handed over from the next turn on, after a replica was given up. Null while
  /// events were applied that no decision has covered yet.
  std::unique_ptr<ReadReplica> copy_replica(std::function<Millis()> now);
  const Binder& binder() const { return binder_; }
  const StatusWriter& status_writer() const { return status_writer_; }
  Millis now() { return clock_.now(); }
  /// True if the state has taken events that the engine has not looked at yet.
  bool is_engine_behind() const { return driver_->is_behind(); }  // for tests
  std::uint64_t steps() const { return steps_; }                  // for tests
  TextContext text_context() { return {tracker_.tables(), *state_, now(), &tally_}; }
  /// Texts of verdicts made so far; none is made in a decision.
  std::uint64_t texts_made() const { return texts_made_; }  // for tests
  ConditionText pod_text(PodSlot slot);
  /// The engine's verdict on a job, kPending if it has not seen it.
  Verdict verdict_of(JobId job) const;

 private:
  /// True if anything could change a decision.
  bool has_news() const { return source_.has_news() || tracker_.has_unsettled() || driver_->is_behind(); }
  bool should_step(Millis now);
  const State& state_now();
  void step();
  void hand_over();
  TermNumbers numbers() const;
  void take_plan(const Plan& plan);
  void say(const VerdictChange& change);
  /// Has the conditions of pods that wait for long written as things are now, while there is nothing else to do.
  void review_conditions();
  bool may_review() const;
  bool tell_anew(PodSlot slot);
  void note_placed(JobId job, const Plan& plan);
  /// Where all of a job is.
  struct JobPlace {
    std::string level;  ///< the innermost one with one domain that holds it: "node", a level's name, or "any"
    std::string words;  ///< "on one node", "in rack rack-007", "on 3 nodes"
  };
  JobPlace place_of(JobId job) const;
  ConditionText group_text(GangSlot slot, bool& is_true);
  ConditionText job_text(JobId job);
  /// A decision for this job hit a bug and the process stops: its unbound pods are quarantined first.
  void quarantine(JobId job);
  /// Writes the original devices back to bound pods where another writer changed them, as far as the request budget
  /// allows.
  void restore_devices();
  void restore_devices(PodSlot slot);
  void say_overfull_devices();

  LeaderTermOptions options_;
  Api& api_;
  SchedulerMetrics& metrics_;
  WallClock clock_;
  EventBuffer source_;
  Tracker tracker_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Engine> engine_;
  Binder binder_;
  Evictions evictions_;
  StatusWriter status_writer_;
  QueueStatusWriter queue_status_;
  ConditionReview review_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<Driver> driver_;
  std::function<bool()> may_write_;
  Millis look_again_at_ = Millis::max(), news_since_ = Millis::max(), next_tick_{0};
  Millis pending_since_ = Millis::max();
  std::uint64_t steps_ = 0;
  std::map<std::uint32_t, DeviceMask> overfull_reported_;  ///< by row of the node
  /// pods to which they are to be written back; with the generation
  std::map<PodSlot, std::uint32_t> devices_due_;
  bool is_deciding_ = true;
  bool is_stepping_ = false;
  // Jobs of one shape share a verdict: its text is made once.
  std::uint64_t text_key_ = 0;
  ConditionText text_;
  std::uint64_t texts_made_ = 0;
  NodeTally tally_;
  HandOver next_;  ///< what will be handed over
  TermNumbers numbers_told_;
  Millis handed_over_at_;       ///< monotonic
  bool must_hand_over_ = true;  ///< whatever is new or not
};

}  // namespace ashlar::kube
