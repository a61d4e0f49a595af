// QueueShares: what queues are sure to get of each counter, how much more they may use, and what they keep of it while
// they do not use it. Where the guarantees below a queue come to more than its own, or than the cluster has, each of
// them is lowered in proportion. Cost of a change: O(queues) for each counter; of usage: O(depth), where any is kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/exact_sums.h"
#include "base/id.h"
#include "model/quota.h"

namespace ashlar {

class QueueShares {
 public:
  /// One counter.
  struct Column {
    QuotaKey of;
    std::int64_t capacity = 0;  ///< what all nodes have of it, as far as it can be shown (ExactSums)
    // by queue, as far as there is any
    std::vector<std::int64_t> guarantees;  ///< as stated, or QuotaShare::kNotNamed
    std::vector<std::int64_t> borrows, lends;
    std::vector<std::int64_t> in_force;  ///< the guarantees after they were lowered; of an inner queue that names none
                                         ///< what those below it come to
    std::int64_t top_sum = 0;            ///< of the guarantees just below the root, before they are lowered
    bool keeps_any = false;              ///< a queue does not lend all of its guarantee
    std::vector<std::int64_t> reserved;  ///< what the queue does not lend of what is in force
    std::vector<std::int64_t> idle;      ///< of that, what neither it nor a queue below uses or keeps
    std::vector<std::int64_t> kept;      ///< what is idle of all queues below
  };

  bool is_empty() const { return columns_.empty(); }
  std::span<const Column> columns() const { return columns_; }
  /// Replaces what the queue states. The caller renews what is in force.
  void define(QueueId queue, std::span<const QuotaShare> shares);
  /// Null: no queue shares that.
  const Column* find(const QuotaKey& key) const;
  /// The nodes have so much more of that column, or less. True if that may change what is in force.
  bool add_capacity(std::size_t column, std::int64_t by);
  /// Computes what is in force; `parents` by queue, none for the root in row 0. What is kept is counted next.
  void renew(std::span<const QueueId> parents);
  /// Counts what is kept of a column anew, by `used_of(queue)`.
  template <class UsedOf>
  void count_kept(std::size_t column, UsedOf&& used_of) {
    Column& c = columns_[column];
    c.idle.assign(c.reserved.size(), 0);
    c.kept.assign(c.reserved.size(), 0);
    for (auto row = order_.rbegin(); c.keeps_any && row != order_.rend(); ++row) {
      c.idle[*row] = idle_of(c, *row, used_of(QueueId(*row)));
      if (const QueueId above = parents_seen_[*row]; !above.is_none())
        c.kept[above.row()] += c.kept[*row] + c.idle[*row];
    }
  }
  /// Usage of the queue, and of those above it, has changed.
  template <class UsedOf>
  void follow_usage(std::size_t column, QueueId queue, UsedOf&& used_of) {
    Column& c = columns_[column];
    if (!c.keeps_any) return;
    std::int64_t more = 0;
    for (QueueId q = queue; !q.is_none(); q = parents_seen_[q.row()]) {
      c.kept[q.row()] += more;
      const std::int64_t idle = idle_of(c, q.row(), used_of(q));
      more += idle - c.idle[q.row()];
      c.idle[q.row()] = idle;
    }
  }
  bool keeps_any() const {
    return std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return c.keeps_any; });
  }

  static std::int64_t guarantee(const Column& column, QueueId queue) {
    return queue.row() < column.in_force.size() ? column.in_force[queue.row()] : 0;
  }
  static std::int64_t stated(const Column& column, QueueId queue) {
    return queue.row() < column.guarantees.size() ? column.guarantees[queue.row()] : QuotaShare::kNotNamed;
  }
  static std::int64_t borrows(const Column& column, QueueId queue) {
    return queue.row() < column.borrows.size() ? column.borrows[queue.row()] : kUnlimited;
  }
  static std::int64_t lends(const Column& column, QueueId queue) {
    return queue.row() < column.lends.size() ? column.lends[queue.row()] : kUnlimited;
  }
  /// What queues below it keep of its limit.
  static std::int64_t kept(const Column& column, QueueId queue) {
    return column.keeps_any && queue.row() < column.kept.size() ? column.kept[queue.row()] : 0;
  }
  /// What it keeps of the limits above it.
  static std::int64_t idle(const Column& column, QueueId queue) {
    return column.keeps_any && queue.row() < column.idle.size() ? column.idle[queue.row()] : 0;
  }
  /// The same if it used that much, and queues below it kept so much more.
  static std::int64_t idle_with(const Column& column, QueueId queue, std::int64_t used, std::int64_t kept_more) {
    return column.keeps_any && queue.row() < column.reserved.size() ? idle_of(column, queue.row(), used + kept_more)
                                                                    : 0;
  }
  /// The most that the queue may use of it by what it borrows, and all queues where any keeps something; kUnlimited: no
  /// limit.
  static std::int64_t limit(const Column& column, QueueId queue);
  /// The same of a queue that states a guarantee, if it were in force as it is stated.
  static std::int64_t limit_as_stated(const Column& column, QueueId queue);

 private:
  friend struct StateFields;
  static std::int64_t idle_of(const Column& column, std::size_t row, std::int64_t used) {
    return std::max<std::int64_t>(column.reserved[row] - used - column.kept[row], 0);
  }

  std::vector<Column> columns_;  ///< in order of appearance
  ExactSums capacity_sums_;      ///< of the columns' capacities, by their number
  // not kept in a snapshot
  std::vector<QueueId> parents_seen_;
  std::vector<std::size_t> order_;  ///< queues with those above each of them before it, by parents_seen_
};

}  // namespace ashlar
