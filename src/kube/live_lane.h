// When may conditions and events be written, and which? LiveLane: everything that is said about pods, in a lane that moves only while no binding
// waits or is under way. Conditions are flags on the pods (never lost, at most one each; the text is made when it is sent, so it is never stale);
// events are a bounded queue whose oldest entries are dropped and counted. PodGroups and the first pod of a job go first.
// A condition equal to the one the server has is not written again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kube/api.h"
#include "kube/live_intake.h"
#include "kube/live_text.h"
#include "kube/writes.h"

namespace ashlar::kube {

struct LaneOptions {
  std::size_t in_flight_max = 32;  ///< small, so that a binding that turns up need not wait for long
  std::size_t events_max = 20'000;
  std::string identity = "ashlar";
  PodGroupVersion pod_groups = PodGroupVersion::kNone;
};

struct LaneCounters {
  std::uint64_t conditions = 0, group_conditions = 0, events = 0, events_dropped = 0, equal_skipped = 0, failures = 0;
};

class LiveLane {
 public:
  struct Hooks {
    std::function<bool()> may_write;  ///< leader, and no binding waits or is under way
    /// What to say on a waiting pod now; empty reason = nothing.
    std::function<ConditionText(PodSlot)> pod_text;
    /// What to say on a gang's PodGroup; `is_true` when all members that must start together are bound.
    std::function<ConditionText(GangSlot, bool& is_true)> group_text;
  };
  LiveLane(Api& api, LiveIntake& intake, LaneOptions options, Hooks hooks);

  void want_condition(PodSlot slot, bool is_first);
  void want_group_condition(GangSlot slot);
  /// "Scheduled" of a pod that is bound.
  void want_scheduled_event(PodSlot slot);
  /// "FailedScheduling" with the pod's condition message.
  void want_failed_event(PodSlot slot, std::string note);
  void pump();

  std::size_t in_flight() const { return in_flight_; }
  std::size_t depth() const { return groups_.size() + first_.size() + others_.size() + events_.size(); }
  const LaneCounters& counters() const { return counters_; }

 private:
  struct PodMark {
    PodSlot slot;
    std::uint32_t generation;
  };
  struct GroupMark {
    GangSlot slot;
    Text uid;
  };
  struct EventMark {
    PodMark pod;
    std::string note;
  };  ///< note empty: "Scheduled"

  bool send_next();
  bool send_condition(PodMark mark);
  bool send_group_condition(const GroupMark& mark);
  bool send_event(EventMark mark);
  OnAnswer counted(std::function<void(const Answer&)> then = {});

  Api& api_;
  LiveIntake& intake_;
  LaneOptions options_;
  Hooks hooks_;
  std::deque<GroupMark> groups_;
  std::deque<PodMark> first_, others_;
  std::deque<EventMark> events_;
  std::size_t in_flight_ = 0;
  std::uint64_t sequence_ = 0;
  LaneCounters counters_;
  std::shared_ptr<char> life_;
};

}  // namespace ashlar::kube
