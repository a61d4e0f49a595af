// Rollback: takes back what was written for pods that were given up, the last write first. Each object is read before
// it is changed, so that what others have made of it since stays.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kubeclient/adaptive_window.h"
#include "kubeclient/api.h"
#include "kubeclient/writes.h"
#include "live/lead/log.h"
#include "live/write/commit/commit_options.h"
#include "live/write/commit/commit_ticket.h"
#include "live/write/request_lane.h"

namespace ashlar::kube {

/// Its requests take no place in the window of bindings. With this object, what is left stays as it is.
class Rollback {
 public:
  struct Hooks {
    SendGuard may_write;
    OnLog log;
    std::function<void()> after_answer;
  };
  Rollback(Api& api, const CommitOptions& options, CommitCounters& counters, Hooks hooks);

  /// `pod`: "ns/name", for logs.
  void take(CommitTicket ticket, std::string pod);
  void pump(Millis now);

  std::size_t under_way() const { return lane_.size(); }
  /// When the next is due; max() if none is.
  Millis next_due() const { return due_.empty() ? Millis::max() : due_.begin()->first; }

 private:
  struct Undo {
    CommitTicket ticket;
    std::string pod;
  };
  void read(Undo undo);
  void take_read(Undo undo, const Answer& answer);
  void write(Undo undo);
  void take_answer(Undo undo, const Answer& answer);
  void follow(Undo undo, CommitOutcome outcome);
  /// The write before it, or the end.
  void advance(Undo undo);
  void later(Undo undo, Millis delay) { due_.emplace(api_.monotonic() + delay, std::move(undo)); }
  void leave(const Undo& undo);
  void send(Undo undo, http::Request request, void (Rollback::*then)(Undo, const Answer&));

  Api& api_;
  const CommitOptions& options_;
  CommitCounters& counters_;
  Hooks hooks_;
  RequestLane lane_;
  AdaptiveWindow window_;
  std::multimap<Millis, Undo> due_;
};

}  // namespace ashlar::kube
