#include "state/queues/queue_shares.h"

#include <algorithm>
#include <numeric>

#include "base/grown.h"

namespace ashlar {
namespace {

using Wide = __int128;

constexpr std::size_t kTop = 0;

/// Queues with those above each of them before it.
std::vector<std::size_t> from_the_root(std::span<const QueueId> parents) {
  std::vector<std::size_t> depths(parents.size()), order(parents.size());
  for (std::size_t row = 0; row < parents.size(); ++row)
    for (QueueId q = parents[row]; !q.is_none(); q = parents[q.row()]) ++depths[row];
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return depths[row]; });
  return order;
}

std::int64_t sum_of(std::int64_t a, std::int64_t b) { return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a; }

std::int64_t shown(Wide sum) { return sum > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(sum); }

/// What all queues may be sure of together.
std::int64_t of_root(const QueueShares::Column& column) {
  const std::int64_t named = QueueShares::stated(column, QueueId(kTop));
  return named == QuotaShare::kNotNamed ? column.capacity : std::min(named, column.capacity);
}

std::int64_t in_proportion(std::int64_t amount, std::int64_t part, Wide whole) {
  return static_cast<std::int64_t>(Wide{amount} * part / whole);
}

}  // namespace

void QueueShares::define(QueueId queue, std::span<const QuotaShare> shares) {
  for (Column& column : columns_) {
    if (queue.row() < column.guarantees.size()) column.guarantees[queue.row()] = QuotaShare::kNotNamed;
    if (queue.row() < column.borrows.size()) column.borrows[queue.row()] = column.lends[queue.row()] = kUnlimited;
  }
  for (const QuotaShare& share : shares) {
    auto column = std::ranges::find(columns_, share.of, &Column::of);
    if (column == columns_.end()) column = columns_.insert(columns_.end(), Column{.of = share.of});
    if (queue.row() >= column->guarantees.size()) {
      column->guarantees.resize(queue.row() + 1, QuotaShare::kNotNamed);
      column->borrows.resize(queue.row() + 1, kUnlimited);
      column->lends.resize(queue.row() + 1, kUnlimited);
    }
    column->guarantees[queue.row()] = share.guarantee;
    column->borrows[queue.row()] = share.borrows;
    column->lends[queue.row()] = share.lends;
  }
}

const QueueShares::Column* QueueShares::find(const QuotaKey& key) const {
  const auto column = std::ranges::find(columns_, key, &Column::of);
  return column == columns_.end() ? nullptr : &*column;
}

bool QueueShares::add_capacity(std::size_t column, std::int64_t by) {
  Column& c = columns_[column];
  const std::int64_t capacity = capacity_sums_.add(column, c.capacity, by);
  const std::int64_t least = std::min(c.capacity, capacity);
  // what the root borrows is beyond what all nodes have
  const bool is_other =
      c.capacity != capacity && (c.keeps_any || c.top_sum > least || borrows(c, QueueId(kTop)) != kUnlimited);
  c.capacity = capacity;
  if (!c.in_force.empty()) c.in_force[kTop] = of_root(c);
  return is_other;
}

void QueueShares::renew(std::span<const QueueId> parents) {
  if (!std::ranges::equal(parents, parents_seen_)) {
    parents_seen_.assign(parents.begin(), parents.end());
    order_ = from_the_root(parents);
  }
  std::vector<std::int64_t> wanted;
  std::vector<Wide> below;  // sums of the queues just below, which may be beyond int64
  for (Column& column : columns_) {
    wanted.assign(parents.size(), 0);
    below.assign(parents.size(), 0);
    for (auto row = order_.rbegin(); row != order_.rend(); ++row) {
      const std::int64_t named = stated(column, QueueId(*row));
      wanted[*row] = named == QuotaShare::kNotNamed ? shown(below[*row]) : named;
      if (*row != kTop) below[parents[*row].row()] += wanted[*row];
    }
    column.top_sum = shown(below[kTop]);
    column.in_force.assign(parents.size(), 0);
    for (const std::size_t row : order_) {
      if (row == kTop) {
        column.in_force[row] = of_root(column);
        continue;
      }
      const std::size_t above = parents[row].row();
      const bool are_too_many = below[above] > column.in_force[above];
      column.in_force[row] =
          are_too_many ? in_proportion(wanted[row], column.in_force[above], below[above]) : wanted[row];
    }
    column.reserved.assign(parents.size(), 0);
    column.keeps_any = false;
    for (std::size_t row = 0; row < column.lends.size() && row < parents.size(); ++row) {
      if (row == kTop || column.lends[row] == kUnlimited) continue;
      column.reserved[row] = std::max<std::int64_t>(column.in_force[row] - column.lends[row], 0);
      column.keeps_any = column.keeps_any || column.reserved[row] > 0;
    }
  }
}

std::int64_t QueueShares::limit(const Column& column, QueueId queue) {
  const std::int64_t beyond = borrows(column, queue);
  const std::int64_t most = beyond == kUnlimited ? kUnlimited : sum_of(guarantee(column, queue), beyond);
  return column.keeps_any && queue.row() == kTop ? std::min(most, column.capacity) : most;
}

std::int64_t QueueShares::limit_as_stated(const Column& column, QueueId queue) {
  const std::int64_t beyond = borrows(column, queue);
  return beyond == kUnlimited ? kUnlimited : sum_of(stated(column, queue), beyond);
}

}  // namespace ashlar
