// Trial: try placements and evictions on the real state and undo them exactly. The journal is the list of what was done; leaving the scope without
// keep() undoes it backwards, indexes and digest included. Trials nest: an inner keep() hands its work to the outer trial. Cannot fail.
// Cost per step: that of State::place (about 100 ns for an 8-card member); opening a trial is free.
#pragma once

#include <cstddef>
#include <vector>

#include "state/state.h"

namespace ashlar {

class Trial {
 public:
  explicit Trial(State& state) : state_(&state) {}
  Trial(Trial&& other) noexcept : state_(other.state_), steps_(std::move(other.steps_)) { other.steps_.clear(); }
  Trial& operator=(Trial&&) = delete;
  Trial(const Trial&) = delete;
  ~Trial() { rollback_to(0); }

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
    for (MemberId m = state_->job(job).first; !m.is_none(); m = state_->member(m).next) if (state_->member(m).is_placed()) evict(m);
  }

  std::size_t checkpoint() const { return steps_.size(); }
  void rollback_to(std::size_t checkpoint) {
    while (steps_.size() > checkpoint) {
      const Step& step = steps_.back();
      if (step.is_take) state_->unplace(step.member);
      else state_->place(step.member, step.node, step.cards, step.phase_before);
      steps_.pop_back();
    }
  }
  /// What was done stays done.
  void keep() { steps_.clear(); }
  /// What was done becomes part of the outer trial.
  void keep_in(Trial& outer) {
    outer.steps_.insert(outer.steps_.end(), steps_.begin(), steps_.end());
    steps_.clear();
  }

  struct Step {
    MemberId member;
    NodeId node;
    CardMask cards;
    bool is_take = true;
    Member::Phase phase_before = Member::Phase::kWaiting;
  };
  const std::vector<Step>& steps() const { return steps_; }
  State& state() { return *state_; }

 private:
  State* state_;
  std::vector<Step> steps_;
};

}  // namespace ashlar
