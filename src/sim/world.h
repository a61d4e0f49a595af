// World: what happens outside the engine in a simulated run. It submits the jobs of a feed when their time has come, runs what the engine binds for
// as long as it takes, lets nodes fail and return, and tells the engine by events: the EventSource and the Actuator of simulated time. It decides
// nothing. Order within one instant: answers to the last plan, ends, nodes, arrivals. Cost: O(log running) an event; rows of ended jobs are used
// again, so memory is that of the jobs present, not of all jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

#include "engine/ports.h"
#include "sim/catalog.h"
#include "sim/clock.h"
#include "sim/results.h"

namespace ashlar::sim {

/// One job as it will happen: unknown to the engine but for what stands in Submitted.
struct SimJob {
  Millis submit;
  Millis duration;        ///< true run time
  Estimate estimate;      ///< what the engine is told of it
  std::int64_t rank = 0;  ///< Workload::rank
  std::int32_t priority = 0;
  QueueId queue{0u};
  KindId kind;
  std::uint32_t vc = 0;  ///< index into the meter's names
};

/// Fills in the next job in order of submission; false when there are no more.
using JobFeed = std::function<bool(SimJob& out)>;

/// A node comes (back) or goes.
struct NodeChange {
  Millis at;
  NodeId node;
  bool is_there = false;
};

/// How the world behaves where published simulators differ.
struct WorldRules {
  Millis end_lag{0};  ///< a job that starts at t and is never stopped ends at t + duration + end_lag
  /// Work that a stop adds, by the job's cards: of one card, of at most eight, of more.
  Millis restart_of_one{0}, restart_of_eight{0}, restart_of_more{0};
  Millis restart_of(std::int64_t cards) const { return cards <= 1 ? restart_of_one : cards <= 8 ? restart_of_eight : restart_of_more; }
};

/// Who is told what happened; either may be empty.
struct WorldListeners {
  std::function<void(const JobOutcome&)> ended;
  /// Cards in use and jobs waiting from this time on.
  std::function<void(Millis at, std::int64_t busy_cards, std::int64_t waiting_jobs)> load;
};

class World final : public EventSource, public Actuator {
 public:
  World(SimClock& clock, const Catalog& catalog, JobFeed feed, WorldRules rules);

  /// The first events: definitions and nodes, in the order given.
  void open_with(std::vector<Event> events) { opening_ = std::move(events); }
  /// Nodes that fail and return, ascending by time; `facts` by NodeId row must outlive the world.
  void set_node_changes(std::vector<NodeChange> changes, std::span<const NodeFacts> facts);
  void listen(WorldListeners listeners) { listeners_ = std::move(listeners); }

  /// When something will happen next; Millis::max() if never.
  Millis next_event();
  void take(std::vector<Event>& out) override;
  void submit(const Plan& plan) override;

  std::int64_t preemptions() const { return preemptions_; }
  std::int64_t arrived() const { return arrived_; }
  /// Jobs that have arrived and not ended.
  std::int64_t present() const { return arrived_ - ended_; }

 private:
  struct Live {
    SimJob job;
    Millis remaining;
    Millis started_at;
    Millis waiting_since;
    Millis queued;
    std::uint32_t missing = 0;  ///< members not placed; runs while 0
    std::uint32_t run = 0;      ///< grows at each stop, so that an outdated end is known as such; never reset when the row is used again
    std::vector<MemberId> members;
  };
  struct End {
    Millis at;
    std::uint64_t turn = 0;
    JobId job;
    std::uint32_t run = 0;
    friend bool operator>(const End& a, const End& b) { return a.at != b.at ? a.at > b.at : a.turn > b.turn; }
  };

  bool is_current(const End& end) const { return live_[end.job.row()].run == end.run; }
  void drop_outdated_ends();
  void fetch();
  void arrive(std::vector<Event>& out);
  void end_job(const End& end, std::vector<Event>& out);
  void change_node(const NodeChange& change, std::vector<Event>& out);
  void start_job(JobId id, Millis at);
  void stop_job(Live& live, Millis at);
  void evict_job(JobId id, Millis at);
  void forget_nodes(const Live& live);
  void tell_load(Millis at);

  SimClock& clock_;
  const Catalog& catalog_;
  JobFeed feed_;
  WorldRules rules_;
  WorldListeners listeners_;
  std::vector<Event> opening_;
  std::vector<Event> answers_;  ///< to the last plan
  bool has_stops_ = false;      ///< among the answers
  SimJob next_job_;
  bool has_next_job_ = false;
  std::vector<Live> live_;  ///< by JobId
  std::vector<JobId> spare_jobs_;
  std::vector<MemberId> spare_members_;
  std::uint32_t member_rows_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t turns_ = 0;
  std::vector<NodeChange> node_changes_;
  std::size_t next_node_change_ = 0;
  std::span<const NodeFacts> facts_;
  std::vector<NodeId> member_node_;  ///< by MemberId; kept only where nodes may fail
  std::vector<JobId> member_job_;    ///< the same
  std::int64_t preemptions_ = 0, arrived_ = 0, ended_ = 0, busy_cards_ = 0, running_ = 0;
};

}  // namespace ashlar::sim
