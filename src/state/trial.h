// Trial: try placements and evictions on the real state and undo them exactly. The journal is the list of what was done; leaving the scope without
// commit() undoes it backwards, indexes and digest included. Trials nest: an inner commit() hands its work to the outer trial. Cannot fail.
// Cost per step: that of State::place (about 100 ns for an 8-device member); opening a trial is free.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "state/state.h"

namespace ashlar {

class Trial {
 public:
  explicit Trial(State& state) : state_(&state) {}
  Trial(Trial&& other) noexcept : state_(other.state_), steps_(std::exchange(other.steps_, {})), blocked_(std::exchange(other.blocked_, {})) {}
  Trial& operator=(Trial&&) = delete;
  Trial(const Trial&) = delete;
  ~Trial() {
    unblock();
    rollback_to(0);
  }

  /// Assumes a waiting member on a node.
  void place(MemberId member, NodeId node, const DeviceMask& devices) {
    state_->place(member, node, devices, Member::Phase::kAssumed);
    steps_.push_back({member, node, devices, true, Member::Phase::kWaiting});
  }
  /// Takes a placed member off its node.
  void evict(MemberId member) {
    const Member before = state_->member(member);
    state_->unplace(member);
    steps_.push_back({member, before.node, before.devices, false, before.phase});
  }
  void evict(JobId job) {
    for (MemberId m = state_->job(job).first; !m.is_none(); m = state_->member(m).next)
      if (state_->member(m).is_placed()) evict(m);
  }

  /// Keeps capacity of a node from everybody until unblock(); not a step, cannot be committed.
  void block(NodeId node, Demand demand, const DeviceMask& devices) {
    state_->cluster.allocate(node, demand, devices);
    blocked_.push_back({node, std::move(demand), devices});
  }
  void unblock() {
    for (const Blocked& w : blocked_) state_->cluster.release(w.node, w.demand, w.devices);
    blocked_.clear();
  }

  std::size_t checkpoint() const { return steps_.size(); }
  void rollback_to(std::size_t checkpoint) {
    while (steps_.size() > checkpoint) {
      const Step& step = steps_.back();
      if (step.is_placement)
        state_->unplace(step.member);
      else
        state_->place(step.member, step.node, step.devices, step.phase_before);
      steps_.pop_back();
    }
  }
  struct Step {
    MemberId member;
    NodeId node;
    DeviceMask devices;
    bool is_placement = true;
    Member::Phase phase_before = Member::Phase::kWaiting;
  };
  /// What was done stays done, and is listed for whoever wants to know.
  std::vector<Step> commit() { return std::exchange(steps_, {}); }
  /// What was done becomes part of the outer trial.
  void commit_to(Trial& outer) {
    outer.steps_.insert(outer.steps_.end(), steps_.begin(), steps_.end());
    steps_.clear();
  }

  const std::vector<Step>& steps() const { return steps_; }
  State& state() { return *state_; }

 private:
  State* state_;
  std::vector<Step> steps_;
  struct Blocked {
    NodeId node;
    Demand demand;
    DeviceMask devices;
  };
  std::vector<Blocked> blocked_;
};

}  // namespace ashlar
