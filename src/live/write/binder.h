// Binder: turns a plan into bindings, a bounded window of them at a time, so that new events are processed between
// batches. An answer that is not a plain success is never guessed at (bind_outcome.h has the table); an unsettled
// binding keeps its place in the window, so that failures slow down the engine. Cost: one request per pod.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/ports.h"
#include "kubeclient/api.h"
#include "kubeclient/bind_outcome.h"
#include "kubeclient/writes.h"
#include "live/lead/log.h"
#include "live/track/tracker.h"
#include "live/write/bind_queue.h"

namespace ashlar::kube {

struct BinderOptions {
  std::size_t in_flight_max = 64;              ///< bindings not settled
  std::size_t rereads_max = 8;                 ///< re-reads under way
  Millis retry_min{100}, retry_max{1'000};     ///< before an unbound pod's binding is sent again, doubling
  Millis reread_min{500}, reread_max{10'000};  ///< before a failed re-read is repeated, doubling
  /// outside the engine once the binding was given up, doubling with each repetition
  Millis hold_min{1'000}, hold_max{5 * 60 * 1'000};
  /// after an answer of success, until the watch must have reported the pod as bound; else it is read again
  Millis unseen_max{60'000};
};

struct BinderCounters {
  std::uint64_t sent = 0, reread = 0, given_up = 0;
  std::uint64_t undone = 0;  ///< answered with success, and the pod has no node
  std::array<std::uint64_t, kBindOutcomes> by_outcome{};
  std::uint64_t of(BindOutcome outcome) const { return by_outcome[static_cast<std::size_t>(outcome)]; }
  std::uint64_t bound() const { return of(BindOutcome::kBound); }
  friend bool operator==(const BinderCounters&, const BinderCounters&) = default;
};

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
    OnLog log;  ///< bindings (debug) and errors
  };
  Binder(Api& api, Tracker& tracker, BinderOptions options, Hooks hooks);
  /// Cancels what is under way.
  ~Binder() override;
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  void submit(const Plan& plan) override;
  /// Sends what is due while the window has free places.
  void pump();

  std::size_t queued() const { return queue_.size(); }
  /// Bindings that wait; at a limit no more should be decided. Those of a slow namespace do not delay others.
  std::size_t backlog() const { return api_.budget().is_in_trouble() ? queue_.size() : queue_.unhindered(); }
  /// Requests sent and not answered.
  std::size_t in_flight() const { return under_way_.size(); }
  /// Bindings sent and not settled: under way, or to be sent or re-read again.
  std::size_t unsettled() const { return under_way_.size() + resends_.size() + rereads_.size(); }
  /// Nothing waits, nothing is under way.
  bool is_idle() const { return queue_.is_empty() && unsettled() == 0; }
  /// The number of places taken in the window.
  std::size_t in_window() const { return unsettled() - queue_.slow_under_way(); }
  /// Under way in slow namespaces: not counted in the window.
  std::size_t slow_under_way() const { return queue_.slow_under_way(); }
  /// Pods and gangs that wait outside the engine, or did until a change of theirs ended it early.
  std::size_t held() const { return holds_.size(); }
  const BinderCounters& counters() const { return counters_; }

 private:
  using Ticket = BindTicket;
  using Timed = std::multimap<Millis, Ticket>;  ///< by monotonic time
  /// A binding answered with success.
  struct Confirmed {
    Millis due;  ///< when the watch must have reported it
    PodSlot slot = kNoPod;
    std::uint32_t generation = 0, turn = 0;
  };

  void send(Ticket ticket);
  void take_answer(Ticket ticket, const PooledString& node, const PodDevices& devices, const Answer& answer);
  void confirm(const Ticket& ticket, const PooledString& node, const PodDevices& devices);
  void follow(Ticket ticket);
  void reread(Ticket ticket);
  void take_pod(Ticket ticket, const Answer& answer);
  void resend_later(Ticket ticket, Millis delay);
  /// Unknown is not free: the place stays taken until the server has reported the result.
  void reread_later(Ticket ticket, Millis delay);
  /// The answer to the re-read says nothing about the pod: `words`, logged once until a re-read succeeds.
  void reread_after_failure(Ticket ticket, const std::string& words);
  void give_up(const Ticket& ticket);
  /// An answer of success was wrong: the place is free, and the pod waits for its retry like one that was given up.
  void take_back(const Ticket& ticket, Pod&& unbound);
  void choose_anew(const Ticket& ticket);
  void end_old_turn(const Ticket& ticket);
  void pump_resends(Millis now);
  void pump_rereads(Millis now);
  void pump_confirmed(Millis now);
  void end_holds(Millis now);
  void find_slow(Millis now);
  /// Schedules pump() for when the next binding is due.
  void arm(Millis now);
  /// Sends by `send(on_answer)`, keeps count and reports the result to the budget.
  void dispatch(const std::function<http::RequestId(OnAnswer)>& send, std::function<void(const Answer&)> then);
  bool may_send(Millis now) const { return api_.budget().may_send(now); }
  /// The pod of the ticket if the slot still holds the same pod.
  const PodRecord* find(const Ticket& ticket);
  /// The same if the ticket's binding is the one that the engine still assumes.
  const PodRecord* find_assumed(const Ticket& ticket);
  /// The same if its answer of success is all that is known of its binding.
  const PodRecord* find_unseen(const Ticket& ticket);

  Api& api_;
  Tracker& tracker_;
  BinderOptions options_;
  Hooks hooks_;
  BindQueue queue_;
  Timed resends_, rereads_;
  std::deque<Confirmed> confirmed_;  ///< by `due`
  std::multimap<Millis, BindHold> holds_;
  boost::unordered_flat_map<std::uint64_t, http::RequestId> under_way_;  ///< by our own count
  std::uint64_t last_request_ = 0;
  std::size_t rereads_under_way_ = 0;
  std::uint64_t timer_ = 0;
  Millis timer_at_ = Millis::max();
  Millis slow_reported_at_;  ///< monotonic
  BinderCounters counters_;
  std::shared_ptr<char> life_;  ///< timers that fire after the end of this object find it gone
};

}  // namespace ashlar::kube
