// Trial: try placements, evictions, lifted holds and blocks on the real state and undo them exactly; it cannot fail.
// Leaving the scope without commit() undoes its steps backwards, indexes and digest included. Cost per step: that of
// State::place (about 100 ns for an 8-device member); opening a trial is free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "state/ledger.h"

namespace ashlar {

class Trial {
 public:
  /// A waiting member was assumed on a node.
  struct Placement {
    MemberId member;
    NodeId node;
    DeviceMask devices;
  };
  /// A placed member was taken off its node.
  struct Eviction {
    MemberId member;
    NodeId node;
    DeviceMask devices;
    DeviceGrantsId grants;
    Member::Phase phase = Member::Phase::kWaiting;  ///< before
  };
  /// Capacity of a node is kept from all jobs: amounts and ports, or on these devices.
  struct Block {
    NodeId node;
    DeviceMask devices;
    std::uint32_t demand = 0;  ///< row of blocked_
  };
  /// Members of holds keep nothing of a node, for a job that may use what is held.
  struct Lift {
    std::uint32_t first = 0, count = 0;  ///< rows of lifted_
  };
  /// They keep again what that job leaves.
  struct Return {
    std::uint32_t first = 0, count = 0;
  };
  /// A job that is not started is expected to have ended by another time than before.
  struct Expectation {
    JobId job;
    Millis before;
  };
  /// What a placed job uses of its queue's limits counts once more, or once less if `sign` is -1.
  struct QuotaCharge {
    JobId job;
    int sign = 1;
  };
  /// What jobs of a queue use of its limits counts as given back.
  struct QuotaReturn {
    QueueId queue;
    QuotaVector amounts{};
  };
  using Step = std::variant<Placement, Eviction, Block, Lift, Return, Expectation, QuotaCharge, QuotaReturn>;

  explicit Trial(State& state) : ledger_(state) {}
  Trial(Trial&& other) noexcept
      : ledger_(other.ledger_),
        steps_(std::exchange(other.steps_, {})),
        blocked_(std::exchange(other.blocked_, {})),
        lifted_(std::exchange(other.lifted_, {})) {}
  Trial& operator=(Trial&&) = delete;
  Trial(const Trial&) = delete;
  ~Trial() { rollback_to(0); }

  void place(MemberId member, NodeId node, const DeviceMask& devices) {
    ledger_.place(member, node, devices, Member::Phase::kAssumed);
    steps_.emplace_back(Placement{member, node, devices});
  }
  void evict(MemberId member) {
    const Member before = ledger_.state().member(member);
    ledger_.unplace(member);
    steps_.emplace_back(Eviction{member, before.node, before.devices, before.grants, before.phase});
  }
  void evict(JobId job) {
    for (MemberId m = state().job(job).first; !m.is_none(); m = state().member(m).next)
      if (state().member(m).is_placed()) evict(m);
  }
  void expect_end(JobId job, Millis late_end) {
    steps_.emplace_back(Expectation{job, state().job(job).ends_by});
    ledger_.expect_end(job, late_end);
  }
  /// The job's usage counts as given back, or counts again, with its members where they are. Each is followed by the
  /// other before the job is evicted. Not for a trial that is committed.
  void give_back_quota(JobId job) { charge_quota(job, -1); }
  void take_quota_again(JobId job) { charge_quota(job, 1); }
  /// The same as giving back the usage of several jobs of one queue, if no limits depend on the node: these amounts are
  /// their sum.
  void give_back_quota(QueueId queue, const QuotaVector& amounts) {
    ledger_.charge_quota(queue, amounts, -1);
    steps_.emplace_back(QuotaReturn{queue, amounts});
  }
  /// Placed members of yielding holds, all on one node.
  void lift(std::span<const MemberId> members) {
    ledger_.lift(members);
    steps_.emplace_back(list<Lift>(members));
  }
  void put_back(std::span<const MemberId> lifted) {
    ledger_.put_back(lifted);
    steps_.emplace_back(list<Return>(lifted));
  }
  void block(NodeId node, Demand demand, const DeviceMask& devices) {
    ledger_.allocate(node, demand, devices);
    steps_.emplace_back(Block{node, devices, static_cast<std::uint32_t>(blocked_.size())});
    blocked_.push_back(std::move(demand));
  }
  /// Frees what is blocked by the steps from this checkpoint on, and leaves the others as they are. Checkpoints taken
  /// since the first of those blocks are void. Nothing may be blocked at commit().
  void unblock(std::size_t from = 0) {
    if (blocked_.empty()) return;
    std::size_t left = blocked_.size();
    const auto first = steps_.begin() + static_cast<std::ptrdiff_t>(from);
    steps_.erase(std::remove_if(first, steps_.end(),
                                [&](const Step& step) {
                                  const auto* block = std::get_if<Block>(&step);
                                  if (block == nullptr) return false;
                                  ledger_.release(block->node, blocked_[block->demand], block->devices);
                                  left = std::min<std::size_t>(left, block->demand);
                                  return true;
                                }),
                 steps_.end());
    blocked_.resize(left);
  }

  std::size_t checkpoint() const { return steps_.size(); }
  void rollback_to(std::size_t checkpoint) {
    while (steps_.size() > checkpoint) {
      std::visit([&](const auto& step) { undo(step); }, steps_.back());
      steps_.pop_back();
    }
  }
  /// The steps stay applied, and are listed for the caller.
  std::vector<Step> commit() {
    ASHLAR_CHECK(blocked_.empty());
    lifted_.clear();
    return std::exchange(steps_, {});
  }

  const std::vector<Step>& steps() const { return steps_; }
  State& state() { return ledger_.state(); }

 private:
  void charge_quota(JobId job, int sign) {
    ledger_.charge_quota(job, sign);
    steps_.emplace_back(QuotaCharge{job, sign});
  }
  void undo(const QuotaCharge& step) { ledger_.charge_quota(step.job, -step.sign); }
  void undo(const QuotaReturn& step) { ledger_.charge_quota(step.queue, step.amounts, 1); }
  void undo(const Placement& step) { ledger_.unplace(step.member); }
  void undo(const Eviction& step) { ledger_.place(step.member, step.node, step.devices, step.phase, step.grants); }
  void undo(const Lift& step) {
    ledger_.put_back(listed(step));
    lifted_.resize(step.first);
  }
  void undo(const Expectation& step) { ledger_.expect_end(step.job, step.before); }
  void undo(const Return& step) {
    ledger_.lift(listed(step));
    lifted_.resize(step.first);
  }
  void undo(const Block& step) {
    ledger_.release(step.node, blocked_[step.demand], step.devices);
    blocked_.resize(step.demand);
  }

  template <class S>
  S list(std::span<const MemberId> members) {
    const S step{static_cast<std::uint32_t>(lifted_.size()), static_cast<std::uint32_t>(members.size())};
    lifted_.insert(lifted_.end(), members.begin(), members.end());
    return step;
  }
  template <class S>
  std::span<const MemberId> listed(const S& step) const {
    return std::span<const MemberId>(lifted_).subspan(step.first, step.count);
  }

  Ledger ledger_;
  std::vector<Step> steps_;
  std::vector<Demand> blocked_;   ///< demands of the blocks among the steps, in their order
  std::vector<MemberId> lifted_;  ///< of the lifts and returns among the steps, in their order
};

/// Calls `visit(const Trial::Placement&)` for each placement among the steps.
template <class Visit>
void each_placement(std::span<const Trial::Step> steps, Visit&& visit) {
  for (const Trial::Step& step : steps)
    if (const auto* placement = std::get_if<Trial::Placement>(&step)) visit(*placement);
}

}  // namespace ashlar
