// Evictions: pods that were stopped for others are evicted through the API server, by its rules (budgets of
// disruption). What was decided for their places waits until they are gone. One that may not be evicted, or has not
// left a minute after its grace, stays; the pods that were to take its place are given up, and tried again later.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kubeclient/api.h"
#include "live/lead/log.h"
#include "live/track/tracker.h"
#include "live/write/commit/commit_options.h"
#include "live/write/commit/commit_work.h"
#include "live/write/request_lane.h"
#include "model/plan.h"

namespace ashlar::kube {

class Evictions {
 public:
  struct Hooks {
    std::function<bool()> may_write;          ///< false: not the leader (any more)
    std::function<const State&()> state;      ///< with all places decided
    std::function<void(PodSlot)> look_again;  ///< the wait of that pod's binding may have ended
    OnLog log;
    std::string identity = {};  ///< of this scheduler, for events
  };
  Evictions(Api& api, Tracker& tracker, Hooks hooks);
  ~Evictions();
  Evictions(const Evictions&) = delete;
  Evictions& operator=(const Evictions&) = delete;

  /// The plan has stopped a job, or a member of one. Its pods are evicted; those of the job that gets the place wait
  /// for it.
  void stop(const Evict& evict);
  /// What the binding of a pod that the plan has just placed waits for, before and beside `work`.
  std::shared_ptr<CommitWork> work_of(PodSlot slot, std::shared_ptr<CommitWork> work);
  void end_plan() { of_plan_.clear(); }
  /// Sends what is due, and looks for those that have not left in time.
  void pump();
  /// A pod that was leaving is gone, or stays.
  void note_left();

  const EvictionCounters& counters() const { return counters_; }

 private:
  struct Victim {
    PodSlot slot = kNoPod;
    std::uint32_t generation = 0;
    StopReason reason = StopReason::kNone;
    bool is_accepted = false;
    int failures = 0;
    Millis due;  ///< of the next request, monotonic
  };
  /// Those that are stopped together for one job, or of one job with its queue. A binding that waits for them has it
  /// too.
  struct Departure {
    std::vector<Victim> victims;
    std::string broken;  ///< why they do not all leave; empty: they do
  };
  using DeparturePtr = std::shared_ptr<Departure>;
  class Work;

  bool is_leaving(const Victim& victim) const;
  CommitWait wait_of(PodSlot slot, const Departure* departure) const;
  /// Whether one more of that namespace may be under way: webhooks may let all of a namespace hang.
  bool has_share(const PooledString& ns) const;
  void send(const DeparturePtr& departure, std::size_t number);
  void take_answer(const DeparturePtr& departure, std::size_t number, const Answer& answer);
  /// By its condition and an event: people, and the next leader, see why it leaves.
  void mark(const Victim& victim);
  void give_up(Departure& departure, std::string words);
  void find_late();
  void look_again();
  void arm();

  Api& api_;
  Tracker& tracker_;
  Hooks hooks_;
  EvictionCounters counters_;
  RequestLane lane_;
  std::vector<DeparturePtr> departures_;
  std::map<JobId, DeparturePtr> of_plan_;
  std::map<PooledString, std::size_t> under_way_;  ///< requests of each namespace's evictions
  std::map<PodSlot, std::uint32_t> waiting_;       ///< pods whose bindings wait, with their generation
  std::uint64_t timer_ = 0, events_ = 0;
  bool is_armed_ = false;
  std::shared_ptr<char> life_;  ///< timers that fire after the end of this object find it gone
};

}  // namespace ashlar::kube
