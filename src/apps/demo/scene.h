// scene: the state of the demo: its jobs, where their members are, and what is said about those that wait, under any
// scheduler. Fed by the watches of a real cluster (scene_watch.h) or by a simulation (simulated_play.h); provides what
// the view draws and what the comparison counts. Times are those of its source, in milliseconds.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "apps/demo/script.h"

namespace ashlar::demo {

/// One job of the script in its present state.
struct Job {
  Act act;
  std::string pod_prefix;  ///< pods are PREFIX-0, PREFIX-1, ...
  Millis created_at;
  int bound = 0;
  Millis first_bound_at, last_bound_at;
  std::vector<int> node_of_member;             ///< node number, -1 = waits
  std::vector<Millis> bound_at_of_member;      ///< where it has a node
  std::vector<std::string> devices_of_member;  ///< text of ashlar.dev/cards, empty if there is none
  std::string waits_because;                   ///< the message of its condition
  bool is_over = false;
  bool is_bound() const { return bound == act.members; }
  int racks() const;  ///< distinct racks of its members
};

class Scene {
 public:
  /// The job of an act, created now; its pods are NAME-0, NAME-1, ...
  void add(const Act& act, Millis now);
  void add(const Job& job) { jobs_.push_back(job); }
  std::vector<Job>& jobs() { return jobs_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  /// A member has a node; `devices` as the scheduler named them, empty if it did not. Only the first time counts.
  void bind(Job& job, std::size_t member, int node, std::string devices, Millis now);
  /// Why the job waits; reported again only if it changes.
  void note_wait(Job& job, const std::string& words);
  /// All its jobs have ended.
  bool is_over() const;

  /// The latest events, newest last.
  const std::deque<std::string>& news() const { return news_; }
  /// Events so far, of which news() keeps the latest.
  std::size_t reported() const { return reported_; }
  void tell(const std::string& line);

 private:
  std::vector<Job> jobs_;
  std::deque<std::string> news_;
  std::size_t reported_ = 0;
};

}  // namespace ashlar::demo
