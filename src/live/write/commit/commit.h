// Commit: carries pods from the places that were decided to their bindings, each by itself, one step after another;
// what an answer, a re-read or a change means for it stands in commit_table.h. An unsettled pod keeps its place in the
// window, so that failures slow down the engine; one for which nothing was sent takes none. A pod without a CommitWork
// costs one request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubeclient/adaptive_window.h"
#include "kubeclient/api.h"
#include "kubeclient/writes.h"
#include "live/lead/log.h"
#include "live/track/tracker.h"
#include "live/write/bind_queue.h"
#include "live/write/commit/commit_options.h"
#include "live/write/commit/commit_ticket.h"
#include "live/write/commit/commit_waits.h"
#include "live/write/commit/rereads.h"
#include "live/write/commit/rollback.h"
#include "live/write/request_lane.h"

namespace ashlar::kube {

class Commit {
 public:
  struct Hooks {
    SendGuard may_write;  ///< false: not the leader (any more); nothing is written. May become true again
    /// The state with everything seen so far; called for a pod that waited while nodes changed.
    std::function<const State&()> state_now;
    std::function<void(const BindHold&)> on_hold;  ///< a pod or gang waits outside the engine
    OnLog log;                                     ///< bindings (debug) and errors
    std::function<void()> after_answer;
  };
  /// `queue`: where pods wait for their turn; one that has waited for its volumes gets another.
  Commit(Api& api, Tracker& tracker, BindQueue& queue, const CommitOptions& options, Hooks hooks);

  /// It is the ticket's turn: its next request is sent.
  void start(CommitTicket ticket);
  /// What is due.
  void pump(Millis now);
  /// The request hangs, and is given up: what it did is read.
  void abandon(std::uint64_t request) { lane_.abandon(request); }
  /// Watched objects that the pod waits for have changed.
  void look_again(PodSlot slot) { waits_.look_again(slot); }

  /// Requests sent and not answered.
  std::size_t in_flight() const { return lane_.size(); }
  /// Sent and not settled: under way, or to be sent or re-read again.
  std::size_t unsettled() const { return lane_.size() + resends_.size() + rereads_.waiting(); }
  /// Of these, all but those of slow namespaces and what is overdue.
  std::size_t in_window() const { return unsettled() - std::min(unsettled(), queue_.outside_window()); }
  /// Pods whose binding waits for their volumes, or whose writes for what is taken back of their last place.
  std::size_t waiting() const { return waits_.size() + busy_.size(); }
  std::size_t taking_back() const { return rollback_.under_way(); }
  std::size_t bind_window() const { return window_.size(); }
  std::size_t reread_window() const { return rereads_.window(); }
  const CommitCounters& counters() const { return counters_; }
  /// Calls `consider(due, needs_budget)` with the times at which something is due.
  template <class Consider>
  void each_due(Consider&& consider) const {
    consider(rereads_.next_due(), true);
    if (!resends_.empty()) consider(resends_.begin()->first, true);
    if (!busy_.empty()) consider(busy_.begin()->first, false);
    consider(waits_.next_due(), false);
    consider(rollback_.next_due(), true);
  }

 private:
  /// By namespace and name, for a new pod of an old name has the same claims: the slots of the commits whose writes are
  /// under way, done or being taken back.
  using Turns = std::map<std::pair<PooledString, PooledString>, std::vector<PodSlot>>;
  void pump_resends(Millis now);
  void pump_busy(Millis now);
  void begin(CommitTicket ticket);
  /// Whether another commit prepares the pod's objects, or what it wrote is still taken back.
  bool has_earlier(const PodRecord& pod);
  /// Of a pod that has no earlier one; ends with the result.
  std::shared_ptr<void> take_turn(PodSlot slot);
  void send_write(CommitTicket ticket);
  void send_binding(CommitTicket ticket);
  /// `send(on_answer)` sends a request about a pod of that namespace, in the window.
  template <class Take>
  void dispatch(const PooledString& ns, const std::function<http::RequestId(OnAnswer)>& send, Take take);
  void take_write_answer(CommitTicket ticket, const Answer& answer);
  /// `devices`: as sent. The engine may choose others before the answer, if the node is removed and comes back.
  void take_binding_answer(CommitTicket ticket, const PodDevices& devices, const Answer& answer);
  void confirm(const CommitTicket& ticket, const PodDevices& devices);
  std::string begin_read(CommitTicket& ticket);
  void take_read(CommitTicket ticket, const Answer& answer);
  void take_object(CommitTicket ticket, const Answer& answer);
  void take_pod(CommitTicket ticket, const Answer& answer);
  void note_unreadable(CommitTicket ticket, const std::string& words);

  /// `read`: the pod, where a re-read found one.
  void follow(CommitTicket ticket, CommitOutcome outcome, Pod* read = nullptr);
  void advance(CommitTicket ticket);
  void resend(CommitTicket ticket, const CommitRule& rule);
  void reread(CommitTicket ticket, const CommitRule& rule, bool has_failed);
  void give_up(CommitTicket ticket);
  void choose_anew(CommitTicket ticket);
  void take_back(const CommitTicket& ticket, Pod&& unbound);
  void adopt(CommitTicket ticket, CommitOutcome outcome, Pod&& read);
  void forget(CommitTicket ticket);
  /// Its place is free, or another's.
  void release(CommitTicket ticket);
  /// Its answer has come after its place was lost; the pod waited for it.
  void end_old_turn(CommitTicket ticket);
  static void enter(CommitTicket& ticket, CommitStep step);
  const PodRecord* find(const CommitTicket& ticket) const { return find_pod(tracker_.pods(), ticket); }
  const PodRecord* find_assumed(const CommitTicket& ticket) const {
    return kube::find_assumed(tracker_.pods(), ticket);
  }
  /// The pod if the ticket's answer of success is all that is known of its binding.
  const PodRecord* find_unseen(const CommitTicket& ticket) const;
  void warn(const PodRecord& pod, const std::string& message) const;

  Api& api_;
  Tracker& tracker_;
  BindQueue& queue_;
  const CommitOptions& options_;
  Hooks hooks_;
  CommitCounters counters_;
  AdaptiveWindow window_;
  RequestLane lane_;
  Rereads rereads_;
  CommitWaits waits_;
  Rollback rollback_;
  std::multimap<Millis, CommitTicket> resends_;               ///< by monotonic time
  std::multimap<Millis, CommitTicket> busy_;                  ///< nothing was sent for them; by monotonic time
  std::shared_ptr<Turns> turns_ = std::make_shared<Turns>();  ///< tickets elsewhere may outlive this object
};

}  // namespace ashlar::kube
