// scheduler: the live scheduler: one thread that follows the API server, leads or stands by, decides and binds; beside
// it a small HTTP server for metrics, health and queries. Standby and leader follow the same watches; a leader also
// owns a LeaderTerm. Losing the lease discards the leader's term and all caches and starts again as a standby, so that
// no write by another replica can be missed.
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
#include "live/read/readers.h"

namespace ashlar::kube {

struct SchedulerOptions {
  Access access;
  LeaderTermOptions leader_term;
  LeaderOptions leader;
  bool is_listening = true;
  http::ServerOptions listen;  ///< of the read API
  bool has_probes = false;
  /// health and metrics without names of tenants; a server of its own: queries do not delay health at all, and metrics
  /// by no more than the answer under way
  http::ServerOptions probes;
  ReadersOptions readers = {};  ///< its clock is `monotonic`
  /// state of the log that `term.open_recorder` keeps; empty if there is none. Called on the loop
  std::function<LogFacts()> decision_log = {};
  std::string version = "0";
  using LogLevel = kube::LogLevel;
  OnLog log;
  Millis watch_silence_max{240'000};  ///< a watch without a byte for this long is considered dead and reopened
  Millis drain_max{5'000};            ///< at the end: how long to wait for bindings under way
  /// never set back; for limits and ages. Default: the system's. Called from any thread
  std::function<Millis()> monotonic = {};
};

class Scheduler {
 public:
  /// Refuses preempting profiles (kInvalid), unreadable credentials and addresses that cannot be bound. Makes no
  /// connection yet.
  static Result<std::unique_ptr<Scheduler>> create(SchedulerOptions options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Works until stop(); then lets bindings under way finish and releases the lease.
  void run();
  /// Any thread.
  void stop();
  /// Ends run() at once, as a crash would: nothing is finished, the lease is not released. For tests.
  void abandon();
  /// Where queries, health and all metrics are served; 0 if there is no listener.
  std::uint16_t port() const;
  /// Where health and metrics without names of tenants are served; 0 if there is no listener.
  std::uint16_t probe_port() const;

 private:
  struct Loop;
  explicit Scheduler(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace ashlar::kube
