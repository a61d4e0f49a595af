// scheduler: the live scheduler: one thread that follows the API server, leads or stands by, decides and binds; and a small HTTP server beside it for
// metrics, health and questions. Standby and leader follow the same watches; a leader besides owns a LeaderTerm. Losing the lease throws the leader's
// term and all caches away and starts as a standby again, so that nothing written by somebody else can be missed.
//
//   auto scheduler = Scheduler::create(options);
//   (*scheduler)->run();     // until stop() is called from anywhere
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/server.h"
#include "kubeclient/api.h"
#include "live/lead/leader.h"
#include "live/lead/leader_term.h"
#include "live/lead/log.h"
#include "live/read/metrics.h"

namespace ashlar::kube {

struct SchedulerOptions {
  Access access;
  LeaderTermOptions leader_term;
  LeaderOptions leader;
  Encoding encoding = Encoding::kProtobuf;  ///< of pods and nodes
  bool is_listening = true;
  http::ServerOptions listen;  ///< of the read API
  bool has_probes = false;
  http::ServerOptions probes;  ///< health and metrics without names of tenants; a server of its own, so that nobody's questions delay it
  std::function<LogFacts()> decision_log = {};  ///< how the log does that `term.open_recorder` keeps; empty where there is none. Called on the loop
  std::string version = "0";
  using LogLevel = kube::LogLevel;
  OnLog log;
  Millis watch_silence_max{240'000};       ///< a watch without a byte for so long is taken for dead and opened again
  Millis drain_max{5'000};                 ///< at the end: how long bindings under way are waited for
  std::function<Millis()> monotonic = {};  ///< never set back; of the limits on standing still. Default: the system's. Called from any thread
};

class Scheduler {
 public:
  /// Refuses preempting profiles (kInvalid), unreadable credentials and addresses that cannot be bound. Talks to nobody yet.
  static Result<std::unique_ptr<Scheduler>> create(SchedulerOptions options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Works until stop(); then lets bindings under way finish and gives the lease back.
  void run();
  /// Any thread.
  void stop();
  /// Ends run() at once, as a crash would: nothing is finished, the lease is not given back. For tests.
  void abandon();
  /// Where questions are answered, health and all metrics too; 0 where nobody listens.
  std::uint16_t port() const;
  /// Where health and metrics without names of tenants are answered; 0 where nobody listens.
  std::uint16_t probe_port() const;

 private:
  struct Loop;
  explicit Scheduler(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace ashlar::kube
