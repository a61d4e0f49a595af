// cohorts: what queues may still use as Kueue counts it: each has a nominal quota, its guarantee; what it does not use
// of that is lent to the cohorts above it, up to what it lends; and it borrows from there, up to what it borrows.
// Example: A has 4 and lends 1, B has 4: A keeps 3 for itself, so the cohort has 5. While B uses 5, A has 3 left.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "state/state.h"

namespace ashlar::kueue {

/// Of each column of QueueTree::shares.
using Amounts = std::vector<std::int64_t>;

class Cohorts {
 public:
  /// Reads the queues of that state as they are at each call; those there are now.
  Cohorts(const State& state, const PendingQueue& pending);

  /// What the job's members that are needed together request; what its placed members use.
  Amounts requested(JobId job) const;
  Amounts held(JobId job) const;
  /// The cohort of a queue; none: it is in no cohort.
  QueueId parent(QueueId queue) const;
  std::span<const QueueId> children(QueueId queue) const { return children_[queue.row()]; }
  bool is_cohort(QueueId queue) const { return !children_[queue.row()].empty(); }
  bool is_within(QueueId queue, QueueId cohort) const { return state_.queues().is_within(queue, cohort); }
  std::size_t columns() const { return columns_.size(); }
  /// Columns of one resource are its flavors.
  ResourceId resource(std::size_t column) const { return columns_[column].resource; }

  /// Counts that much more as used by the queue, until it is taken back.
  void add(QueueId queue, const Amounts& amounts, int sign);
  /// Of a queue that names nothing of the column: no limit.
  std::int64_t nominal(std::size_t column, QueueId queue) const;
  std::int64_t subtree(std::size_t column, QueueId queue) const { return columns_[column].subtree[queue.row()]; }
  std::int64_t used(std::size_t column, QueueId queue) const;
  /// What it does not use of what it keeps for itself.
  std::int64_t unused_local(std::size_t column, QueueId queue) const;
  std::int64_t available(std::size_t column, QueueId queue) const;
  /// What a job that waits may keep from others: of what the queue may borrow, or of its own.
  std::int64_t keepable(std::size_t column, QueueId queue, bool with_borrowing) const;
  /// The most that it could ever have.
  std::int64_t potential(std::size_t column, QueueId queue) const;
  /// Whether it uses more than its own of one of these columns.
  bool is_over(QueueId queue, std::span<const std::size_t> columns) const;
  /// How far up the tree it borrows with that much more: 0 if it does not.
  struct Height {
    int height = 0;
    bool is_whole_tree = false;
  };
  Height height_with(std::size_t column, QueueId queue, std::int64_t amount) const;
  /// What the queue, or cohort, borrows over what it might have, over its weight; 0 if nothing.
  double share(QueueId queue) const;

 private:
  struct Column {
    QuotaKey of;
    ResourceId resource;
    std::vector<std::int64_t> nominal, lends, borrows;  ///< [queue]
    std::vector<std::int64_t> subtree, local;           ///< [queue]
    std::vector<std::int64_t> more;                     ///< [queue], see add
  };
  Amounts amounts_of(std::span<const std::int64_t> counters) const;
  void sum_up(Column& column, QueueId queue) const;
  /// Below 0: others have it, or it is lent no more.
  std::int64_t left(std::size_t column, QueueId queue) const;
  int height_of(QueueId cohort) const;
  std::int64_t potential_of(const Column& column, QueueId queue) const;

  const State& state_;
  std::vector<std::vector<QueueId>> children_;  ///< [queue]
  std::vector<Column> columns_;
};

}  // namespace ashlar::kueue
