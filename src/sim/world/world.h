// World: everything outside the engine in a simulated run, as the EventSource and the Actuator of simulated time. It
// submits the jobs of a feed or of a script, answers every action (at once, late, by a refusal, twice), runs what is
// bound, lets nodes fail and return, and reports all of it by events. Cost: O(log running) per event; memory for the
// jobs that are present.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <queue>
#include <set>
#include <span>
#include <vector>

#include "engine/ports.h"
#include "sim/results/results.h"
#include "sim/world/catalog.h"
#include "sim/world/clock.h"
#include "sim/world/grace_periods.h"
#include "sim/world/scripted_event.h"

namespace ashlar::sim {

/// One job as it will happen: the engine knows only what is in Submitted.
struct SimJob {
  Millis submit;
  Millis duration;              ///< true run time; max() = it never ends by itself
  Estimate estimate;            ///< what the engine knows of it
  std::int64_t order_hint = 0;  ///< Workload::order_hint
  std::int32_t priority = 0;
  QueueId queue{0u};
  KindId kind;
  std::uint32_t vc = 0;  ///< index into the meter's names
};

/// Fills in the next job in order of submission; false when there are no more.
using JobFeed = std::function<bool(SimJob& out)>;

/// A node is added (again) or removed.
struct NodeChange {
  Millis at;
  NodeId node;
  bool is_there = false;
};

/// The world's behaviour where published simulators differ.
struct WorldRules {
  Millis end_lag{0};  ///< a job that starts at t and is never stopped ends at t + duration + end_lag
  /// Work that a stop adds, by the job's devices: of one device, of at most eight, of more.
  Millis restart_of_one{0}, restart_of_eight{0}, restart_of_more{0};
  /// a job of the feed that was not placed on arrival is withdrawn when the next one arrives
  bool is_refusal_final = false;
  /// a running gang continues while one member is left; else it starts over once it is whole again
  bool keeps_going = false;
  /// evictions may have a grace, for which their pods run on and keep their devices
  bool has_grace = false;
  /// a stop tells how long the job had still to run only as far as its estimate does; else as it is, as SRTF assumes
  bool tells_by_estimates = false;
  Millis restart_of(std::int64_t devices) const {
    return devices <= 1 ? restart_of_one : devices <= 8 ? restart_of_eight : restart_of_more;
  }
};

/// The fate of an action: when it is carried out, whether it is refused, and when its answer is delivered a second
/// time.
struct Fate {
  Millis after{0};
  bool is_refused = false;  ///< binds only
  Millis reported_again_after = Millis::max();
};
using FateOf = std::function<Fate(const Action&)>;

/// Callbacks for events; either may be empty.
struct WorldListeners {
  std::function<void(const JobOutcome&)> ended;
  /// Devices in use and jobs waiting from this time on.
  std::function<void(Millis at, std::int64_t busy_devices, std::int64_t waiting_jobs)> load;
};

/// It makes no decisions. Order within one instant: answers to the last plan, ends and late answers, nodes, holds, the
/// script, arrivals.
class World final : public EventSource, public Actuator {
 public:
  /// Jobs of a feed; every action is carried out at once.
  World(SimClock& clock, const Catalog& catalog, JobFeed feed, WorldRules rules);
  /// A script in order of time, which must outlive the world; `fate_of` determines what happens to each action. A job
  /// without a run time in the script is ended by the script or never.
  World(SimClock& clock, std::span<const ScriptedEvent> script, FateOf fate_of, WorldRules rules);

  /// At most this many jobs will be present at a time: memory for them is reserved once, to avoid repeated copying.
  void expect(std::size_t jobs) { live_.reserve(jobs); }
  /// The first events: definitions and nodes, in the order given.
  void open_with(std::vector<Event> events) { opening_ = std::move(events); }
  /// Nodes that fail and return, ascending by time; `facts` by NodeId row must outlive the world.
  void set_node_changes(std::vector<NodeChange> changes, std::span<const NodeFacts> facts);
  /// What is held of nodes, ascending by time. The rows 0, 1, ... of jobs and of members are those of the holds, one
  /// member each. Only with a feed, before its first job.
  void set_holds(std::vector<Event> holds);
  void listen(WorldListeners listeners) { listeners_ = std::move(listeners); }

  /// When something will happen next; Millis::max() if never.
  Millis next_event();
  void take(std::vector<Event>& out) override;
  void submit(const Plan& plan) override;

  /// Where a member's pod is that runs on in the grace of an eviction; no node: none does.
  struct Leaving {
    NodeId node;
    DeviceMask devices;
  };
  Leaving leaving(JobId job, MemberId member) const;

  std::int64_t preemptions() const { return preemptions_; }
  std::int64_t arrived() const { return arrived_; }
  /// When the first job of the feed arrived; Millis::max() before that.
  Millis first_arrival() const { return first_arrival_; }
  /// Jobs that have arrived and not ended.
  std::int64_t present() const { return arrived_ - ended_; }

 private:
  struct Live {
    Millis submit;
    Millis duration;
    Estimate estimate;
    KindId kind;
    std::uint32_t vc = 0;
    std::int32_t priority = 0;
    Millis first_start = Millis::max();
    Millis remaining = Millis::max();
    Millis started_at;
    Millis waiting_since;
    Millis queued;
    std::uint32_t bound = 0;  ///< members on a node
    std::uint32_t min = 1;    ///< it starts with this many
    /// incremented at each stop, so that an outdated end is recognised; never reset when the row is reused
    std::uint32_t run = 0;
    Millis ran_before{0};             ///< of its first run, before the script began
    Millis saved_at = Millis::max();  ///< its last checkpoint; max() = it goes on where it was stopped
    Millis restart{0};                ///< run time that each stop costs
    bool is_running = false;          ///< never set for a job that does not end by itself
    boost::container::small_vector<MemberId, 2> members;

    /// Of what is left to run, what the engine can know: as far off as the estimate was. Unknown without one.
    Millis remaining_believed() const {
      if (remaining == Millis::max() || !estimate.is_known() || estimate.p50 == Millis::max()) return Millis::max();
      return std::max(Millis(0), remaining + (estimate.p50 - duration));
    }
    /// What it has run since its last checkpoint.
    Millis lost_if_stopped(Millis at) const {
      return saved_at == Millis::max() ? Millis(0)
                                       : std::clamp(at - saved_at, Millis(0), at - (started_at - ran_before));
    }
  };
  /// The end of a run, or, if `job` is none, the answer in row `run` of late_answers_.
  struct Due {
    Millis at;
    std::uint64_t turn = 0;
    JobId job;
    std::uint32_t run = 0;
    friend bool operator>(const Due& a, const Due& b) { return a.at != b.at ? a.at > b.at : a.turn > b.turn; }
  };
  struct LateAnswer {
    EventBody body;
    std::uint32_t attempt = 0;        ///< which bind of the member it answers
    std::uint32_t changed_nodes = 0;  ///< of its node, when it was requested
    bool is_again = false;            ///< already reported once: reported again only if it still holds
    bool ends_grace = false;          ///< of an eviction, which is carried out then and answered
    Millis after;                     ///< so much later
  };
  /// What the cluster knows of a member; kept only if nodes may fail, answers take time or evictions have a grace.
  struct Placed {
    JobId job;
    NodeId node;
    DeviceMask devices;
    std::uint32_t attempts = 0;  ///< binds so far
    /// this many of them were requested before its job was stopped: those not answered yet never are
    std::uint32_t dropped = 0;
  };
  friend struct ScriptNotes;

  bool is_current(const Due& due) const { return due.job.is_none() || live_[due.job.row()].run == due.run; }
  void drop_outdated_ends();
  void fetch();
  void arrive(std::vector<Event>& out);
  void withdraw_last(std::vector<Event>& out);
  void end_job(const Due& end, std::vector<Event>& out);
  void release_rows(JobId id);
  void change_node(const NodeChange& change, std::vector<Event>& out);
  void happen(const ScriptedEvent& scripted_event, std::vector<Event>& out);
  void carry_out_late(const Action& action, Millis now);
  std::uint32_t keep(LateAnswer answer);
  void answer_late(LateAnswer answer, Millis at);
  void deliver_late(std::uint32_t row, Millis at, std::vector<Event>& out);
  void bind(const Bind& bind, Millis at);
  void unbind(MemberId member, Millis at);
  void lose_node(NodeId node, Millis at, std::vector<Event>& out);
  void start_if_ready(JobId id, Millis at);
  void start_job(JobId id, Millis at);
  void stop_job(Live& live, Millis at);
  void evict_job(JobId id, Millis at);
  /// Carries it out at once; the answer that is heard later.
  Evicted evict(const Evict& action, Millis at);
  /// Whether pods of it run, which have their grace.
  bool has_grace(const Evict& action) const;
  void begin_grace(const Evict& action, const Fate& fate, Millis now);
  void end_grace(const LateAnswer& answer, std::uint32_t row, Millis at, std::vector<Event>& out);
  /// Whether pods that are still there keep the bind from being carried out.
  bool must_wait(const Bind& bind) const;
  /// Whether a pod that the eviction stops has one of these devices.
  bool holds(const Evict& eviction, NodeId node, const DeviceMask& devices) const;
  /// Binds that waited for pods that are gone now.
  void bind_waiting(Millis at, std::vector<Event>& out);
  void forget_nodes(const Live& live);
  void drop_binds(const Live& live);
  void drop_bind(MemberId member);
  void tell_load(Millis at);
  bool is_there(NodeId node) const { return node.row() < is_node_there_.size() && is_node_there_[node.row()] != 0; }
  /// A feed says only by losses which nodes are gone.
  bool is_gone(NodeId node) const { return catalog_ == nullptr && !is_there(node); }
  std::uint32_t losses_of(NodeId node) const { return node.row() < node_losses_.size() ? node_losses_[node.row()] : 0; }
  std::int64_t devices_of(const Live& live) const {
    return live.kind.is_none() ? 0 : catalog_->kind(live.kind).devices;
  }

  SimClock& clock_;
  const Catalog* catalog_ = nullptr;
  JobFeed feed_;
  FateOf fate_of_;
  WorldRules rules_;
  WorldListeners listeners_;
  std::vector<Event> opening_;
  std::vector<Event> answers_;  ///< to the last plan
  bool has_stops_ = false;      ///< among the answers
  SimJob next_job_;
  bool has_next_job_ = false;
  JobId last_arrived_;
  Millis first_arrival_ = Millis::max();
  std::span<const ScriptedEvent> script_;
  std::size_t next_scripted_event_ = 0;
  std::set<MemberId> refused_next_;
  std::vector<Live> live_;  ///< by JobId
  std::vector<JobId> spare_jobs_;
  std::vector<MemberId> spare_members_;
  std::uint32_t member_rows_ = 0;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<LateAnswer> late_answers_;
  std::vector<std::uint32_t> spare_answers_;
  GracePeriods grace_;
  std::uint64_t turns_ = 0;
  std::vector<NodeChange> node_changes_;
  std::size_t next_node_change_ = 0;
  std::vector<Event> holds_;
  std::size_t next_hold_ = 0;
  std::span<const NodeFacts> facts_;
  bool follows_members_ = false;
  std::vector<Placed> placed_;               ///< by MemberId, if it follows them
  std::vector<std::uint8_t> is_node_there_;  ///< by NodeId, according to the script; empty with a feed
  /// by NodeId: how often it was removed, so that one that came back is known to be another
  std::vector<std::uint32_t> node_losses_;
  std::int64_t preemptions_ = 0, arrived_ = 0, ended_ = 0, busy_devices_ = 0, running_ = 0;
};

}  // namespace ashlar::sim
