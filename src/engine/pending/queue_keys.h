// QueueKeys: the present key of every queue by the profile's queue-order policy, and the order of queues that follows:
// keys are compared level by level, from below the root. Where siblings tie, the queues below them are compared as if
// they were siblings; jobs of an inner queue itself stand there with its own key. Cost of a change of usage: one key
// for each level.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/grown.h"
#include "engine/pending/usage_history.h"
#include "engine/pending/waiting.h"
#include "policy/queue_order_policy.h"
#include "state/state.h"

namespace ashlar {

class QueueKeys {
 public:
  /// `half_life` of what queues have used, for policies that ask for that.
  QueueKeys(const QueueOrderPolicy& policy, Millis half_life)
      : policy_(&policy), history_(policy.follows_history ? half_life : Millis(0)) {}

  /// Whether queues are compared at all.
  bool are_compared() const { return policy_->key != nullptr; }
  const QueueOrderPolicy& policy() const { return *policy_; }
  OrderKey key(QueueId queue) const { return queue.row() < keys_.size() ? keys_[queue.row()] : OrderKey{}; }
  /// With that class's jobs first in the queue: those that stay inside guarantees go before all others, if the policy
  /// says so.
  OrderKey key_with(QueueId queue, ClassId first) const;
  /// What a job of the class needs, by counter: the dimensions, then the keys of quotas.
  void note_needs(ClassId id, std::vector<std::int64_t> needs) { grown(needs_, id.row()) = std::move(needs); }
  /// None for the root.
  QueueId parent(QueueId queue) const;
  /// Which of two queues goes first; equal: their jobs are compared. Cost: O(depth).
  std::strong_ordering compare(QueueId a, QueueId b) const;

  /// What has changed since the last look.
  struct News {
    struct Changed {
      QueueId queue;
      OrderKey key;
    };
    std::vector<Changed> keys;   ///< ascending
    bool is_tree_other = false;  ///< queues have moved, or limits have changed
  };
  /// Finds it without changing any key. Cost: O(depth) for each queue whose usage changed; O(queues) after a change of
  /// the tree, of a limit or of the cluster's capacity, and where a step of the history begins.
  News look(const State& state, Millis now);
  void set(QueueId queue, OrderKey key);
  /// Number of keys computed so far.
  std::uint64_t computed_count() const { return computed_count_; }  // for tests
  /// After the keys were read back.
  void forget_tree() { parents_.clear(); }

 private:
  friend struct EngineFields;
  std::vector<QueueId> rows_to_look_at(const State& state, bool are_all) const;
  void keep_history(const State& state, std::span<const QueueId> rows, Millis now);
  QueueStanding standing_of(const QueueTree& queues, QueueId queue);
  /// What is left of the guarantees that the queue names, by counter; empty: it names none.
  std::vector<std::int64_t> left_of_guarantees(const QueueTree& queues, QueueId queue) const;

  const QueueOrderPolicy* policy_;
  UsageHistory history_;
  std::vector<OrderKey> keys_;  ///< by queue
  std::uint64_t tree_seen_ = 0;
  // what follows from the state
  std::vector<QueueId> parents_;
  std::vector<std::int64_t> capacity_;  ///< of all nodes, by counter: the dimensions, then the keys of quotas
  std::uint64_t facts_seen_ = 0;
  std::uint64_t computed_count_ = 0;
  std::vector<QueueUse> uses_;                    ///< of the queue whose key is computed
  std::vector<std::vector<std::int64_t>> left_;   ///< by queue, of guarantees
  std::vector<std::vector<std::int64_t>> needs_;  ///< by class
};

}  // namespace ashlar
