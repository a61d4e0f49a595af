// QueueTree: a tree of queues with a limit per dimension (milli-GPU, milli-cores, bytes of memory), further limits by
// key (any resource, by device class), guarantees, and what is used now. A job is charged to its queue and to every
// ancestor; row 0 is the root. Cost of a charge: O(depth) for the dimensions, and for each key that any queue names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/exact_sums.h"
#include "base/id.h"
#include "model/demand.h"
#include "model/event.h"
#include "model/plan.h"
#include "state/queues/queue_shares.h"

namespace ashlar {

/// The usage of one member with this demand in each quota dimension.
QuotaVector quota_of(const Demand& demand);

class QueueTree {
 public:
  static constexpr int kDepthMax = 16;  ///< limit on queues below one another; keeps charging cheap
  static constexpr QueueId kRoot{0u};

  QueueTree();
  /// New or changed queue. While its parent is not known, or would close a cycle or make the tree too deep, it is a
  /// child of the root; it moves to its parent, with its usage, as soon as that is possible.
  void define(QueueId queue, QueueId parent, const QuotaVector& quota, std::span<const QuotaLimit> limits = {},
              std::span<const QuotaShare> shares = {}, QueueRank rank = {}, QueueGate gate = {},
              const StopRules& stops = {});
  /// The nodes have so much more, or less, of that column of shares().
  void add_capacity(std::size_t column, std::int64_t by);
  bool is_known(QueueId queue) const { return queue.row() < is_known_.size() && is_known_[queue.row()] != 0; }
  std::size_t rows() const { return parent_.size(); }
  /// One that has no row yet, since nothing was charged to it, hangs under the root.
  QueueId parent(QueueId queue) const { return queue.row() < parent_.size() ? parent_[queue.row()] : kRoot; }
  /// Whether `queue` is that one, or below it.
  bool is_within(QueueId queue, QueueId ancestor) const {
    for (; !queue.is_none(); queue = parent(queue))
      if (queue == ancestor) return true;
    return false;
  }
  /// What the queue may use at most, of what it borrows too.
  const QuotaVector& quota(QueueId queue) const { return in_force_[queue.row()]; }
  const QuotaVector& stated_quota(QueueId queue) const { return quota_[queue.row()]; }
  const QueueShares& shares() const { return shares_; }
  const QueueRank& rank(QueueId queue) const { return ranks_[queue.row()]; }
  const QueueGate& gate(QueueId queue) const { return gates_[queue.row()]; }
  /// Whom its jobs may stop. The times for which its own are protected are as stated.
  const StopRules& stops(QueueId queue) const {
    static constexpr StopRules kDefault;
    return queue.row() < stops_.size() ? stops_[queue.row()] : kDefault;
  }
  /// For how long a job of the queue runs before one of its queue, or of others, may stop it: as stated by the first
  /// queue, from its own upwards, that states it.
  Millis protected_from_own(QueueId queue) const { return protection(queue, &StopRules::protected_from_own); }
  Millis protected_from_others(QueueId queue) const { return protection(queue, &StopRules::protected_from_others); }
  /// The first, from the queue upwards, of which nothing starts; which refuses jobs submitted then; which is stopped.
  QueueId held_above(QueueId queue) const;
  QueueId refusing_above(QueueId queue, Millis submitted) const;
  QueueId stopped_above(QueueId queue) const;
  /// Whether any queue is. O(1) where all are open.
  bool is_any(QueueGate::Is gate) const;
  const QuotaVector& used(QueueId queue) const { return used_[queue.row()]; }

  /// The keys that a queue has ever limited or shared, in order of appearance. Usage of a new one is 0 until it is
  /// charged.
  std::span<const QuotaKey> keys() const { return keys_; }
  std::int64_t stated_limit(std::size_t key, QueueId queue) const {
    return queue.row() < key_limits_[key].size() ? key_limits_[key][queue.row()] : kUnlimited;
  }
  /// As quota().
  std::int64_t limit(std::size_t key, QueueId queue) const {
    const std::int64_t stated = stated_limit(key, queue);
    const QueueShares::Column* column = shares_.is_empty() ? nullptr : shares_.find(keys_[key]);
    return column == nullptr ? stated : std::min(stated, QueueShares::limit(*column, queue));
  }
  std::int64_t used(std::size_t key, QueueId queue) const {
    return queue.row() < key_used_[key].size() ? key_used_[key][queue.row()] : 0;
  }

  /// What counts against the limit of the queue: what it uses, and what queues below it keep of their guarantees.
  std::int64_t counted(std::size_t dimension, QueueId queue) const {
    return used_[queue.row()][dimension] + kept(quota_key(static_cast<std::int64_t>(dimension)), queue);
  }
  std::int64_t counted_by_key(std::size_t key, QueueId queue) const {
    return used(key, queue) + kept(keys_[key], queue);
  }
  /// What the queue keeps for itself of the limits above it.
  std::int64_t idle(const QuotaKey& of, QueueId queue) const {
    const QueueShares::Column* column = shares_.is_empty() ? nullptr : shares_.find(of);
    return column == nullptr ? 0 : QueueShares::idle(*column, queue);
  }
  /// What it would keep if it used so much less, and queues below it kept so much more.
  std::int64_t idle_without(const QuotaKey& of, QueueId queue, std::int64_t used_less, std::int64_t kept_more) const {
    const QueueShares::Column* column = shares_.is_empty() ? nullptr : shares_.find(of);
    return column == nullptr ? 0 : QueueShares::idle_with(*column, queue, used(of, queue) - used_less, kept_more);
  }
  /// The most of it that could be added to the queue within all limits, what it keeps for itself first.
  std::int64_t left(std::size_t dimension, QueueId queue) const;
  std::int64_t left_by_key(std::size_t key, QueueId queue) const;
  /// What the queue uses of anything that is limited or shared.
  std::int64_t used(const QuotaKey& of, QueueId queue) const;
  /// What the queue states, with the parent where it stands.
  QueueDefined definition(QueueId queue) const;

  /// Adds the amounts to the queue and its ancestors, or gives them back if `sign` is -1.
  void charge(QueueId queue, const QuotaVector& amounts, int sign);
  /// The same of one key.
  void charge(std::size_t key, QueueId queue, std::int64_t amount);
  /// The first limit, from the queue upwards, that these amounts would exceed; nothing if they fit. Reason
  /// kQuotaExhausted, kKeptByGuarantees if they would not with what queues below keep for themselves, or kExceedsQuota
  /// if even the empty queue could not admit them. What is more than the cluster has is not refused here.
  std::optional<Reason> refusal(QueueId queue, const QuotaVector& amounts) const;
  /// The same for an amount of one key.
  std::optional<Reason> refusal(std::size_t key, QueueId queue, std::int64_t amount) const;
  /// Whether any queue has a limit on a dimension.
  bool has_limits() const;
  /// Whether this queue, or one above it, has a limit. Cost: O(depth).
  bool is_limited(QueueId queue) const {
    for (QueueId q = queue; !q.is_none() && q.row() < parent_.size(); q = parent_[q.row()])
      if (limits(in_force_[q.row()])) return true;
    return is_limited_by_key(queue);
  }
  /// Whether this queue, or one above it, has a limit by key.
  bool is_limited_by_key(QueueId queue) const {
    if (keys_.empty()) return false;
    for (QueueId q = queue; !q.is_none() && q.row() < parent_.size(); q = parent_[q.row()])
      for (std::size_t k = 0; k < keys_.size(); ++k)
        if (limit(k, q) != kUnlimited) return true;
    return false;
  }
  /// What the queue is to have used so far, for orders that follow that.
  struct RecordedUsage {
    QueueId queue;
    QuotaKey of;
    std::int64_t amount = 0;  ///< see QueueUsage
  };
  void record_usage(QueueId queue, const QueueUsage& usage);
  /// What was recorded since the last forget_usage_changes.
  std::span<const RecordedUsage> recorded_usage() const { return recorded_usage_; }
  /// Queues whose usage was charged or given back since the last forget_usage_changes, once each; with it changed what
  /// is used above them.
  std::span<const QueueId> usage_changes() const { return usage_changes_; }
  void forget_usage_changes();
  /// Grows when a limit or the shape of the tree changes: jobs that waited for quota may be re-evaluated.
  std::uint64_t change_count() const { return change_count_; }
  std::uint64_t digest() const;
  /// Recounts which queues are not below their parents, and whether one of them could be. For checks.
  bool is_consistent() const;

 private:
  friend struct StateFields;
  static constexpr QuotaVector kNoLimits{kUnlimited, kUnlimited, kUnlimited};
  static bool limits(const QuotaVector& quota) {
    return std::any_of(quota.begin(), quota.end(), [](std::int64_t limit) { return limit != kUnlimited; });
  }
  template <class Is>
  QueueId first_above(QueueId queue, Is&& is) const {
    for (QueueId q = queue; !q.is_none() && q.row() < parent_.size(); q = parent_[q.row()])
      if (is(gates_[q.row()])) return q;
    return QueueId::none();
  }
  Millis protection(QueueId queue, Millis StopRules::*of) const;
  void ensure_row(QueueId queue);
  std::int64_t kept(const QuotaKey& of, QueueId queue) const {
    const QueueShares::Column* column = shares_.is_empty() ? nullptr : shares_.find(of);
    return column == nullptr ? 0 : QueueShares::kept(*column, queue);
  }
  /// The least over the limits from the queue upwards, by `limit_of(queue)` and `counted_of(queue)`.
  template <class LimitOf, class CountedOf>
  std::int64_t least_left(const QuotaKey& of, QueueId queue, LimitOf&& limit_of, CountedOf&& counted_of) const;
  /// Usage of what is shared has changed from that queue up.
  void follow_usage(QueueId queue);
  /// The row of the key, which may be new.
  std::size_t key_row(const QuotaKey& key);
  void renew_shares();
  void note_usage_change(QueueId queue) {
    if (std::exchange(is_usage_changed_[queue.row()], std::uint8_t{1}) == 0) usage_changes_.push_back(queue);
  }
  /// Whether the queue, with those below it, may be a child of that one.
  bool may_hang(QueueId queue, QueueId parent) const;
  /// Number of queues below one another from this one on.
  int height(QueueId queue) const;
  void hang(QueueId queue, QueueId parent);
  /// What counts usage of a queue: a dimension, then the keys.
  static std::uint64_t sum_cell(std::size_t counter, QueueId queue) {
    return (static_cast<std::uint64_t>(counter) << 32) + queue.value;
  }
  std::int64_t& shown(std::size_t counter, QueueId queue) {
    return counter < kQuotaDimensions ? used_[queue.row()][counter]
                                      : key_used_[counter - kQuotaDimensions][queue.row()];
  }
  /// Adds to what the queue and its ancestors use, by sums of any size.
  void add_used(std::size_t counter, QueueId queue, ExactSums::Wide by);
  void ensure_used(std::size_t key);
  bool are_sums_sound() const;
  std::vector<QueueId> counted_displaced() const;

  std::vector<QueueId> parent_;
  std::vector<QueueId> wanted_parent_;  ///< as defined; its parent is this or the root
  std::vector<QueueId> displaced_;      ///< known queues whose parent is not the wanted one, ascending
  std::vector<QuotaVector> quota_;      ///< as stated
  QueueShares shares_;
  std::vector<QueueRank> ranks_;
  std::vector<QueueGate> gates_;
  std::size_t gated_ = 0;  ///< of those: not open
  std::vector<StopRules> stops_;
  std::vector<QuotaVector> in_force_;  ///< quota_, or less by what the queue borrows
  std::vector<QuotaVector> used_;
  ExactSums used_sums_;  ///< of used_ and key_used_
  std::vector<std::uint8_t> is_known_;
  std::vector<QuotaKey> keys_;
  std::vector<std::vector<std::int64_t>> key_limits_, key_used_;  ///< [key][queue], as far as there is any
  std::vector<RecordedUsage> recorded_usage_;
  std::vector<QueueId> usage_changes_;          ///< not kept in a snapshot: a new reader looks at all queues
  std::vector<std::uint8_t> is_usage_changed_;  ///< by queue: listed
  std::uint64_t change_count_ = 0;
};

}  // namespace ashlar
