// Trial: try placements and evictions on the real state and undo them exactly. The journal is the list of what was done; leaving the scope without
// keep() undoes it backwards, indexes and digest included. Trials nest: an inner keep() hands its work to the outer trial. Cannot fail.
// Cost per step: that of State::place (about 100 ns for an 8-card member); opening a trial is free.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "state/state.h"

namespace ashlar {

class Trial {
 public:
  explicit Trial(State& state) : state_(&state) {}
  Trial(Trial&& other) noexcept : state_(other.state_), steps_(std::exchange(other.steps_, {})), withheld_(std::exchange(other.withheld_, {})) {}
  Trial& operator=(Trial&&) = delete;
  Trial(const Trial&) = delete;
  ~Trial() {
    hand_out();
    rollback_to(0);
  }

  /// Assumes a waiting member on a node.
  void take(MemberId member, NodeId node, const CardMask& cards) {
    state_->place(member, node, cards, Member::Phase::kAssumed);
    steps_.push_back({member, node, cards, true, Member::Phase::kWaiting});
  }
  /// Takes a placed member off its node.
  void evict(MemberId member) {
    const Member before = state_->member(member);
    state_->unplace(member);
    steps_.push_back({member, before.node, before.cards, false, before.phase});
  }
  void evict(JobId job) {
    for (MemberId m = state_->job(job).first; !m.is_none(); m = state_->member(m).next)
      if (state_->member(m).is_placed()) evict(m);
  }

  /// Keeps capacity of a node from everybody until hand_out(); not a step, cannot be kept.
  void withhold(NodeId node, Demand demand, const CardMask& cards) {
    state_->cluster.allocate(node, demand, cards);
    withheld_.push_back({node, std::move(demand), cards});
  }
  void hand_out() {
    for (const Withheld& w : withheld_) state_->cluster.release(w.node, w.demand, w.cards);
    withheld_.clear();
  }

  std::size_t checkpoint() const { return steps_.size(); }
  void rollback_to(std::size_t checkpoint) {
    while (steps_.size() > checkpoint) {
      const Step& step = steps_.back();
      if (step.is_take)
        state_->unplace(step.member);
      else
        state_->place(step.member, step.node, step.cards, step.phase_before);
      steps_.pop_back();
    }
  }
  struct Step {
    MemberId member;
    NodeId node;
    CardMask cards;
    bool is_take = true;
    Member::Phase phase_before = Member::Phase::kWaiting;
  };
  /// What was done stays done, and is listed for whoever wants to know.
  std::vector<Step> keep() { return std::exchange(steps_, {}); }
  /// What was done becomes part of the outer trial.
  void keep_in(Trial& outer) {
    outer.steps_.insert(outer.steps_.end(), steps_.begin(), steps_.end());
    steps_.clear();
  }

  const std::vector<Step>& steps() const { return steps_; }
  State& state() { return *state_; }

 private:
  State* state_;
  std::vector<Step> steps_;
  struct Withheld {
    NodeId node;
    Demand demand;
    CardMask cards;
  };
  std::vector<Withheld> withheld_;
};

}  // namespace ashlar
