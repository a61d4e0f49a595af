// CaseWorld: what is outside the engine while a case is played: the happenings of the file, the answers to binds and evictions, and the jobs' ends.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "engine/ports.h"
#include "sim/case/case_file.h"
#include "sim/clock.h"
#include "state/state.h"

namespace ashlar::sim {

class CaseWorld final : public EventSource, public Actuator {
 public:
  CaseWorld(const CaseFile& file, SimClock& clock, const State& state) : file_(file), clock_(clock), state_(state), runs_(file.names.jobs.size()) {}

  void take(std::vector<Event>& out) override;
  void submit(const Plan& plan) override;

  /// Starts and stops the jobs' own clocks by what is bound now.
  void observe();
  /// The next time at which something happens by itself; Millis::max() if never.
  Millis next_at() const;
  /// Every job that has been submitted, in order.
  const std::vector<JobId>& submitted() const { return submitted_; }
  /// When the job ended; Millis::max() while it has not.
  Millis ended_at(JobId job) const { return runs_[job.row()].ended_at; }

 private:
  struct Run {
    Millis left = Millis::max();
    Millis since;
    bool is_running = false;
    bool is_submitted = false;
    std::uint32_t turn = 0;  ///< an end that was planned for an earlier turn is void
    Millis ended_at = Millis::max();
  };
  struct End {
    JobId job;
    std::uint32_t turn = 0;
  };
  using Pending = std::variant<EventBody, End>;

  void deliver(const EventBody& body, std::vector<Event>& out);
  bool is_bound(JobId job) const;

  const CaseFile& file_;
  SimClock& clock_;
  const State& state_;
  std::vector<Run> runs_;
  std::vector<JobId> submitted_;
  std::set<MemberId> rejected_next_;
  std::multimap<Millis, Pending> pending_;  ///< equal times in the order of coming
  std::size_t next_happening_ = 0;
};

}  // namespace ashlar::sim
