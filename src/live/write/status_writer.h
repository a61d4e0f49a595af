// StatusWriter: conditions and events of pods and PodGroups, written while no binding waits or is under way. Overdue
// writes are sent all the same, a few at a time, so that a busy cluster or a hanging binding does not delay
// autoscalers. Conditions are flags on the pods, at most one each and never lost; events are a bounded queue whose
// oldest entries are dropped and counted.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kubeclient/adaptive_window.h"
#include "kubeclient/api.h"
#include "kubeclient/writes.h"
#include "live/read/pod_text.h"
#include "live/track/tracker.h"
#include "live/write/request_lane.h"

namespace ashlar::kube {

struct StatusWriterOptions {
  AdaptiveWindow::Limits writes = AdaptiveWindow::around(32);  ///< small, so that a new binding need not wait for long
  std::size_t overdue_in_flight_max = 4;                       ///< of overdue writes, beside bindings
  /// texts that turn out unchanged cost time too, which the lease needs
  std::size_t looks_per_pump_max = 64;
  Millis condition_delay_max{2'000}, event_delay_max{10'000};  ///< older ones are overdue
  Millis refresh_every{100};                                   ///< between conditions of which only numbers changed
  std::size_t events_max = 20'000;
  std::string identity = "ashlar";
  PodGroupVersion pod_groups = PodGroupVersion::kNone;
  Millis retry_min{1'000}, retry_max{60'000};  ///< before a failed condition is sent again, doubling
};

struct StatusWriterCounters {
  std::uint64_t conditions = 0, group_conditions = 0, events = 0, events_dropped = 0, equal_skipped = 0, failures = 0,
                retries = 0;
  std::uint64_t refreshes = 0;  ///< of the conditions: those of which only numbers had changed
  friend bool operator==(const StatusWriterCounters&, const StatusWriterCounters&) = default;
};

/// A text is made when it is sent, so that it is never stale, and a pump makes only a few. PodGroups and the first pod
/// of a job go first. A condition equal to the one on the server is not written again; where only numbers differ, at
/// most ten a second are, the oldest first. One that the server refused is made and sent again, first after a second,
/// then at doubling intervals of at most a minute, until it is accepted or its object is gone. One object has one write
/// under way at a time.
class StatusWriter {
 public:
  struct Hooks {
    std::function<bool()> may_write;  ///< leader; checked again when a write is sent on a connection
    std::function<bool()> is_quiet;   ///< no binding waits or is under way. Empty: always
    /// The current condition of a waiting pod; empty reason = none.
    std::function<ConditionText(PodSlot)> pod_text;
    /// The current condition of a gang's PodGroup; `is_true` when all members that must start together are bound.
    std::function<ConditionText(GangSlot, bool& is_true)> group_text;
  };
  StatusWriter(Api& api, Tracker& tracker, StatusWriterOptions options, Hooks hooks);
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  void want_condition(PodSlot slot, bool is_first);
  void want_group_condition(GangSlot slot);
  /// The server serves another version of PodGroup now.
  void set_pod_groups(PodGroupVersion version) { options_.pod_groups = version; }
  /// "Scheduled" of a pod that is bound.
  void want_scheduled_event(PodSlot slot);
  /// "FailedScheduling" with the pod's text when its turn comes, once; dropped if it no longer waits then. Pods that
  /// the engine does not see get theirs with each new condition.
  void want_failed_event(PodSlot slot);
  void pump();
  /// Time until a waiting write is overdue; Millis::max() if nothing waits, or only an answer can free a place for it.
  Millis due_in() const;

  std::size_t in_flight() const { return lane_.size(); }
  std::size_t window() const { return window_.size(); }
  std::size_t depth() const { return groups_.size() + first_.size() + others_.size() + refreshes() + events_.size(); }
  /// Of them: conditions of which only numbers have changed. They are paced, and no backlog.
  std::size_t refreshes() const { return refreshes_.size() + group_refreshes_.size(); }
  const StatusWriterCounters& counters() const { return counters_; }

 private:
  struct PodMark {
    PodSlot slot;
    std::uint32_t generation;
    Millis since;  ///< monotonic
  };
  struct GroupMark {
    GangSlot slot;
    PooledString uid;
    Millis since;
  };
  struct EventMark {
    PodSlot slot;
    std::uint32_t generation;
    bool is_scheduled;  ///< "Scheduled", else "FailedScheduling"
    Millis since;
  };
  /// The object of a condition while a write of it is under way or has failed; absent otherwise.
  struct Attempt {
    std::uint8_t failures = 0;
    bool is_blocked = false;  ///< under way, or waits for its next try
    bool is_wanted = false;   ///< there may be a newer text
  };
  using Attempts = boost::unordered_flat_map<std::uint64_t, Attempt>;

  bool is_quiet() const { return !hooks_.is_quiet || hooks_.is_quiet(); }
  /// When the next condition of which only numbers changed may be sent; Millis::max(): none waits.
  Millis refresh_at(bool is_quiet) const;
  void send_refresh();
  /// When the first waiting write may be sent beside bindings; Millis::max() if nothing waits.
  Millis overdue_at() const;
  /// The next that may be sent; `is_overdue`: overdue ones only. False: none.
  bool send_next(bool is_overdue);
  void send_condition(PodMark mark, bool is_refresh);
  void send_group_condition(const GroupMark& mark, bool is_refresh);
  void note_written(bool is_refresh);
  void want_event(PodSlot slot, bool is_scheduled);
  void send_event(const EventMark& mark);
  /// It no longer waits: there may be another.
  void take_off(const EventMark& mark);
  bool is_speaker(const PodMark& mark) const;
  void speak_for(const PodMark& mark);
  void take_condition(const PodMark& mark, const Answer& answer);
  void take_group_condition(const GroupMark& mark, bool is_true, const Answer& answer);
  /// Whether a write about this object may be sent. Two writes could overtake each other; a failed one waits for its
  /// retry time, however often its text changes.
  bool begin(Attempts& attempts, std::uint64_t key);
  /// The server has it, or the object is gone. Returns whether there may be a newer text.
  bool settle(Attempts& attempts, std::uint64_t key);
  /// The failed write is no longer needed.
  void drop_failed(Attempts& attempts, std::uint64_t key);
  /// Runs `want` when the next try is due.
  void try_again(Attempts& attempts, std::uint64_t key, std::function<void()> want);
  /// Sends by `send(on_answer)` and keeps count.
  void dispatch(const std::function<http::RequestId(OnAnswer)>& send, std::function<void(const Answer&)> then = {});

  Api& api_;
  Tracker& tracker_;
  StatusWriterOptions options_;
  Hooks hooks_;
  std::deque<GroupMark> groups_;
  std::deque<PodMark> first_, others_;
  std::deque<PodMark> refreshes_;  ///< only numbers differ
  std::deque<GroupMark> group_refreshes_;
  Millis next_refresh_at_;  ///< monotonic
  std::deque<EventMark> events_;
  Attempts pod_attempts_;    ///< by slot and generation
  Attempts group_attempts_;  ///< by slot
  std::uint64_t sequence_ = 0;
  AdaptiveWindow window_;
  RequestLane lane_;
  StatusWriterCounters counters_;
  bool is_cut_short_ = false;   ///< the last pump ended at its limit of texts, with more left to send
  std::shared_ptr<char> life_;  ///< timers that fire after the end of this object find it gone
};

}  // namespace ashlar::kube
