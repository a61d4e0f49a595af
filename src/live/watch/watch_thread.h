// WatchThread: lists, watches and decodes on a thread of its own. What the API server reports is collected there and
// taken, as a batch, by the thread that decides. All functions are for that one thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kubeclient/api.h"
#include "live/lead/log.h"
#include "live/lead/pulse.h"
#include "live/watch/watched_change.h"
#include "live/watch/watches.h"

namespace ashlar::kube {

struct WatchThreadOptions {
  ApiOptions api;                    ///< of a connection of its own
  WatchesOptions watches;            ///< its log is called by take(), not on the reading thread
  std::function<void()> wake;        ///< there is something to take. Called on the reading thread
  std::size_t waiting_max = 50'000;  ///< changes not taken yet at which reading pauses
  /// of WatchStatus::at; default: the system's. Called on the reading thread
  std::function<Millis()> monotonic = {};
};

/// What is known besides the changes, as of the last of them.
struct WatchStatus {
  bool is_synced = false;  ///< see Watches::is_synced
  std::string trouble;     ///< see Watches::trouble
  std::size_t nodes = 0, pods = 0;
  std::map<std::string_view, ProcessFacts::Watch> watches;
  Millis at;  ///< monotonic; when this was so
  std::uint64_t requests = 0, request_failures = 0, connections = 0;
};

class WatchThread {
 public:
  /// Reads credentials; opens no connection yet.
  static Result<std::unique_ptr<WatchThread>> create(WatchThreadOptions options);
  ~WatchThread();
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;

  /// See Watches::start.
  void start();
  /// Forgets everything, what was not taken yet too, and ends all requests of lists and watches.
  void stop();
  /// From now on all that is known and every change is for the leader's term that begins; see Watches::feed.
  void begin_term();
  /// Changes are kept for the next term; those not taken yet are lost with this one.
  void end_term();

  /// Appends what was reported to the term since the last call. What was reported before stop(), begin_term() or
  /// end_term() never comes after it, and the status is never newer than the changes.
  WatchStatus take(std::vector<WatchedChange>& changes);

  /// Whether the reading thread has run since the last call, or waits for take().
  bool has_moved() { return pulse_.has_moved(); }
  /// It waits for take() or for the end of the term.
  bool is_paused() const { return pulse_.is_resting(); }  // for tests

 private:
  WatchThread(WatchThreadOptions options, std::unique_ptr<Api> api);
  void run();
  void hand_over();
  WatchStatus status_now() const;
  /// What was collected until now is dropped; what `work`, run on the reading thread, brings is taken.
  void begin_epoch(std::function<void()> work);

  WatchThreadOptions options_;
  std::unique_ptr<Api> api_;
  Pulse pulse_;
  // The reading thread's own.
  std::unique_ptr<Watches> watches_;
  std::vector<WatchedChange> collected_;
  std::vector<std::pair<LogLevel, LogLine>> log_collected_;
  std::uint64_t collects_for_ = 0;  ///< epoch
  // Shared.
  std::mutex lock_;
  std::condition_variable may_go_on_;
  std::vector<WatchedChange> waiting_;
  std::vector<std::pair<LogLevel, LogLine>> log_;
  WatchStatus status_;
  std::uint64_t epoch_ = 0;  ///< of what is waited for: grows whenever what was collected before is void
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace ashlar::kube
