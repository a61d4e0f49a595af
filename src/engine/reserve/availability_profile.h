// AvailabilityProfile: when slots of one kind open, by the expected ends of running jobs: for each node, and for each
// domain of the levels that were asked for as a StepFunction. It follows the change logs of cluster and timeline.
// Cost: O(members of the node + levels x log slots), some 0.2 us, for each node on which a job has started or ended
// since; O(nodes) at first, or after more changes than the logs remember.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/reserve/put_off_ends.h"
#include "engine/reserve/slots.h"
#include "engine/reserve/step_function.h"

namespace ashlar {

class AvailabilityProfile {
 public:
  explicit AvailabilityProfile(SlotKind kind) : kind_(std::move(kind)) {}
  const SlotKind& kind() const { return kind_; }

  /// As of these ends; those that were put off must be so up to the same time.
  void bring_up(const State& state, const PutOffEnds& put_off, const EndsAt& ends);
  /// The cluster has forgotten changes that were undone exactly: those that come next are others.
  void forget_undone_changes(const Cluster& cluster) {
    cluster_seen_ = std::min(cluster_seen_, cluster.change_count());
  }
  /// Whether that costs less than a look at all nodes.
  bool is_close(const State& state, const PutOffEnds& put_off, const EndsAt& ends) const;
  /// The first time by which that many slots are open in one domain; max() if never. After bring_up() of this state.
  /// Cost: O(domains), or O(blocks of the step function).
  Millis earliest(const State& state, const SlotRequest& request);

 private:
  struct Level {
    LevelId level;                     ///< none: the whole cluster
    std::vector<DomainId> domain_of;   ///< [node] in which it is counted
    std::vector<StepFunction> opened;  ///< [domain]
  };

  /// When the slots of a node open, ascending; max() = never.
  std::span<const Millis> slots_of(NodeId node) const {
    return std::span(opens_).subspan(node.row() * stride_, stride_);
  }
  bool must_start(const State& state, const PutOffEnds& put_off, const EndsAt& ends) const;
  void start_anew(const State& state);
  /// Makes a list of the nodes of that job.
  void touch(const State& state, JobId job);
  /// When the slots of the node open, in slots_.
  void list_slots(const State& state, NodeId node);
  /// False if the node has more slots than any before.
  bool update(const State& state, NodeId node);
  void write(NodeId node);
  /// Counts that job, or none, as one that does not end, instead of the former one.
  void let_last(const State& state, JobId job);
  Millis first_open(const State& state, const SlotRequest& request);
  void build(const State& state, Level& level) const;
  Level& built(const State& state, LevelId level);

  SlotKind kind_;
  EndsAt ends_;
  bool is_started_ = false;
  JobId lasting_;                                                          ///< its end is not counted at present
  std::uint64_t cluster_seen_ = 0, timeline_seen_ = 0, put_off_seen_ = 0;  ///< changes up to which this is current
  std::size_t stride_ = 0;                                                 ///< slots of a node, at most
  std::vector<Millis> opens_;                                              ///< [node x stride]
  std::vector<Level> levels_;                                              ///< those asked for
  std::vector<NodeId> touched_;
  std::vector<Millis> slots_;
  std::vector<std::pair<Millis, std::int32_t>> freed_;
};

}  // namespace ashlar
