// Binder: turns a plan into bindings, a window of them at a time, so that new events are processed between batches. The
// window follows what the API server can do (AdaptiveWindow); what follows a decision pod by pod is in commit/. Cost:
// one request per pod.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "engine/ports.h"
#include "kubeclient/api.h"
#include "live/lead/log.h"
#include "live/track/tracker.h"
#include "live/write/bind_queue.h"
#include "live/write/commit/commit.h"

namespace ashlar::kube {

/// Bindings are fenced: one that still waits for a connection when the right to write ends is not sent, and all are
/// cancelled with this object. All requests go through the API's RequestBudget. A binding that is given up frees its
/// place at once and is held outside the engine, longer each time. Runs inside Api::poll().
class Binder final : public Actuator {
 public:
  struct Hooks {
    /// false: not the leader (any more); nothing is written. May become true again
    std::function<bool()> may_write;
    std::function<void(const Plan&)> on_plan;  ///< verdicts, for conditions
    /// The state with everything seen so far; called for a binding that waited while nodes changed.
    std::function<const State&()> state_now;
    CommitWorkOf work_of;                        ///< empty: no pod has any
    std::function<void(const Evict&)> on_evict;  ///< before the places for which it was stopped
    OnLog log;                                   ///< bindings (debug) and errors
  };
  Binder(Api& api, Tracker& tracker, CommitOptions options, Hooks hooks);
  /// Cancels what is under way.
  ~Binder() override;
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  void submit(const Plan& plan) override;
  /// Sends what is due while the window has free places.
  void pump();
  /// Watched objects that the pod's CommitWork waits for have changed. Looked at in the next pump().
  void look_again(PodSlot slot) { commit_.look_again(slot); }

  std::size_t queued() const { return queue_.size(); }
  /// Bindings that wait; at a limit no more should be decided. Those of a slow namespace do not delay others.
  std::size_t backlog() const { return api_.budget().is_in_trouble() ? queue_.size() : queue_.unhindered(); }
  /// Requests sent and not answered.
  std::size_t in_flight() const { return commit_.in_flight(); }
  /// Bindings sent and not settled: under way, or to be sent or re-read again.
  std::size_t unsettled() const { return commit_.unsettled(); }
  /// Nothing waits to be sent, nothing is under way. Pods may wait for their volumes.
  bool is_idle() const { return queue_.is_empty() && unsettled() == 0 && commit_.taking_back() == 0; }
  /// The number of places taken in the window.
  std::size_t in_window() const { return commit_.in_window(); }
  std::size_t window() const { return commit_.bind_window(); }
  std::size_t reread_window() const { return commit_.reread_window(); }
  /// Under way in slow namespaces: not counted in the window.
  std::size_t slow_under_way() const { return queue_.slow_under_way(); }
  /// Pods that have a place, and whose binding waits for their volumes.
  std::size_t waiting() const { return commit_.waiting(); }
  /// Pods and gangs that wait outside the engine, or did until a change of theirs ended it early.
  std::size_t held() const { return holds_.size(); }
  const CommitCounters& counters() const { return commit_.counters(); }

 private:
  void hold(const BindHold& hold);
  void end_holds(Millis now);
  void find_slow(Millis now);
  /// Schedules pump() for when the next binding is due.
  void arm(Millis now);

  Api& api_;
  Tracker& tracker_;
  CommitOptions options_;
  Hooks hooks_;
  BindQueue queue_;
  Commit commit_;
  std::multimap<Millis, BindHold> holds_;
  std::uint64_t timer_ = 0;
  Millis timer_at_ = Millis::max();
  Millis slow_reported_at_;     ///< monotonic
  std::shared_ptr<char> life_;  ///< timers that fire after the end of this object find it gone
};

}  // namespace ashlar::kube
