// How does a plan become bindings? LiveActuator keeps a bounded window of Binding requests under way, so that newcomers get their turn between
// batches. An answer that is not a plain success is never guessed at: the pod is read again, and what the API server says counts (bound here, bound
// elsewhere, gone, still free). A pod that could not be bound keeps its place for a growing while before the engine may choose again.
// Bindings are fenced: one that still waits for a connection when the right to write ends does not leave, and all are cancelled with this object.
// Cost: one request a pod. Runs inside Api::poll().
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "engine/ports.h"
#include "kube/api.h"
#include "kube/live_intake.h"
#include "kube/live_log.h"
#include "kube/writes.h"

namespace ashlar::kube {

struct ActuatorOptions {
  std::size_t in_flight_max = 64;
  Millis retry_min{100}, retry_max{10'000};  ///< before a pod that could not be bound is decided again, doubling
};

struct ActuatorCounters {
  std::uint64_t sent = 0, bound = 0, conflicts = 0, not_found = 0, timeouts = 0, unavailable = 0, denied = 0, other = 0, reread = 0;
  std::uint64_t failures() const { return conflicts + not_found + timeouts + unavailable + denied + other; }
};

class LiveActuator final : public Actuator {
 public:
  struct Hooks {
    std::function<bool()> may_write;           ///< false: no leader (any more); nothing is written. May be true again later
    std::function<void(const Plan&)> on_plan;  ///< verdicts, for conditions
    OnLog log;                                 ///< bindings (debug) and trouble
  };
  LiveActuator(Api& api, LiveIntake& intake, ActuatorOptions options, Hooks hooks);
  /// Cancels what is under way.
  ~LiveActuator() override;
  LiveActuator(const LiveActuator&) = delete;
  LiveActuator& operator=(const LiveActuator&) = delete;

  void submit(const Plan& plan) override;
  /// Sends while there is room in the window.
  void pump();

  std::size_t queued() const { return queue_.size(); }
  std::size_t in_flight() const { return under_way_.size(); }
  /// Nothing waits, nothing is under way.
  bool is_idle() const { return queue_.empty() && under_way_.empty(); }
  const ActuatorCounters& counters() const { return counters_; }
  Millis first_bind() const { return first_bind_; }
  Millis last_bind() const { return last_bind_; }

 private:
  struct Ticket {
    PodSlot slot = kNoPod;
    std::uint32_t generation = 0, turn = 0;
  };
  void send(const Ticket& ticket);
  void take_answer(const Ticket& ticket, const Text& node, Answer answer);
  void count(const Answer& answer);
  void read_again(const Ticket& ticket);
  /// Unknown is not free: the place stays taken until the server can say.
  void read_again_later(const Ticket& ticket);
  void take_pod(const Ticket& ticket, Answer answer);
  /// After a while the engine may decide again.
  void reject_later(const Ticket& ticket);
  /// The pod of the ticket if it is still the one that was meant.
  PodRecord* find(const Ticket& ticket);

  Api& api_;
  LiveIntake& intake_;
  ActuatorOptions options_;
  Hooks hooks_;
  std::deque<Ticket> queue_;
  boost::unordered_flat_map<std::uint64_t, http::RequestId> under_way_;  ///< by our own count
  std::uint64_t last_request_ = 0;
  ActuatorCounters counters_;
  Millis first_bind_, last_bind_;
  std::shared_ptr<char> life_;  ///< timers that ring after the end of this object find it gone
};

}  // namespace ashlar::kube
