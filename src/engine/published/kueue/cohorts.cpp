#include "engine/published/kueue/cohorts.h"

#include <algorithm>

#include "engine/quota.h"
#include "engine/victims/borrowing.h"

namespace ashlar::kueue {
namespace {

/// Without a limit stays so.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  if (a == kUnlimited || b == kUnlimited) return kUnlimited;
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (a > 0 ? kUnlimited : INT64_MIN) : sum;
}
std::int64_t minus(std::int64_t a, std::int64_t b) { return a == kUnlimited ? kUnlimited : a - b; }

}  // namespace

Cohorts::Cohorts(const State& state, const PendingQueue& pending) : state_(state) {
  const QueueTree& tree = state.queues();
  std::size_t rows = tree.rows();
  pending.each_class([&](ClassId, const PendingQueue::Class& job_class) {
    rows = std::max<std::size_t>(rows, job_class.key.queue.row() + 1);
  });
  children_.resize(rows);
  for (std::size_t row = 0; row < rows; ++row)
    if (QueueId(row) != QueueTree::kRoot) children_[tree.parent(QueueId(row)).row()].push_back(QueueId(row));
  for (const QueueShares::Column& shared : tree.shares().columns()) {
    Column column;
    column.of = shared.of;
    column.resource = shared.of.resource;
    for (std::size_t row = 0; row < rows; ++row) {
      const QueueId queue(row);
      column.nominal.push_back(QueueShares::stated(shared, queue));
      column.lends.push_back(QueueShares::lends(shared, queue));
      column.borrows.push_back(QueueShares::borrows(shared, queue));
    }
    column.subtree.resize(rows);
    column.local.resize(rows);
    column.more.resize(rows);
    sum_up(column, QueueTree::kRoot);
    columns_.push_back(std::move(column));
  }
}

void Cohorts::sum_up(Column& column, QueueId queue) const {
  const std::size_t row = queue.row();
  std::int64_t sum = 0;
  for (const QueueId child : children_[row]) {
    sum_up(column, child);
    sum = plus(sum, minus(column.subtree[child.row()], column.local[child.row()]));
  }
  const std::int64_t stated = column.nominal[row];
  if (children_[row].empty())
    column.subtree[row] = stated == QuotaShare::kNotNamed ? kUnlimited : stated;
  else
    column.subtree[row] = stated == QuotaShare::kNotNamed ? sum : stated;
  const std::int64_t lends = column.lends[row];
  column.local[row] = lends == kUnlimited ? 0 : std::max<std::int64_t>(0, minus(column.subtree[row], lends));
}

Amounts Cohorts::requested(JobId job) const { return amounts_of(quota_counters_needed(state_, job)); }

Amounts Cohorts::amounts_of(std::span<const std::int64_t> counters) const {
  Amounts amounts;
  for (const QueueShares::Column& shared : state_.queues().shares().columns())
    amounts.push_back(amount_of_column(state_.queues(), shared, counters));
  return amounts;
}

Amounts Cohorts::held(JobId job) const {
  std::vector<std::int64_t> by_key(state_.queues().keys().size());
  QuotaVector sum{};
  state_.each_member(job, [&](MemberId id, const Member& m) {
    if (!m.is_placed()) return;
    add_saturated(sum, state_.quota_of_member(m));
    add_by_key(state_, id, m.node, m.devices, by_key);
  });
  std::vector<std::int64_t> counters(sum.begin(), sum.end());
  counters.insert(counters.end(), by_key.begin(), by_key.end());
  return amounts_of(counters);
}

QueueId Cohorts::parent(QueueId queue) const {
  const QueueId above = state_.queues().parent(queue);
  return above == QueueTree::kRoot ? QueueId::none() : above;
}

void Cohorts::add(QueueId queue, const Amounts& amounts, int sign) {
  for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].more[queue.row()] += sign * amounts[c];
}

std::int64_t Cohorts::nominal(std::size_t column, QueueId queue) const {
  const std::int64_t stated = columns_[column].nominal[queue.row()];
  return stated == QuotaShare::kNotNamed ? kUnlimited : stated;
}

std::int64_t Cohorts::used(std::size_t column, QueueId queue) const {
  const Column& c = columns_[column];
  const QueueTree& tree = state_.queues();
  std::int64_t own = (queue.row() < tree.rows() ? tree.used(c.of, queue) : 0) + c.more[queue.row()];
  std::int64_t below = 0;
  for (const QueueId child : children_[queue.row()]) {
    if (child.row() < tree.rows()) own -= tree.used(c.of, child);  // of the cohort itself
    below += std::max<std::int64_t>(0, used(column, child) - c.local[child.row()]);
  }
  return own + below;
}

std::int64_t Cohorts::unused_local(std::size_t column, QueueId queue) const {
  const std::int64_t local = columns_[column].local[queue.row()];
  return local == kUnlimited ? kUnlimited : std::max<std::int64_t>(0, local - used(column, queue));
}

std::int64_t Cohorts::available(std::size_t column, QueueId queue) const {
  return std::max<std::int64_t>(0, left(column, queue));
}

std::int64_t Cohorts::left(std::size_t column, QueueId queue) const {
  const Column& c = columns_[column];
  const std::int64_t sub = c.subtree[queue.row()], local = c.local[queue.row()], use = used(column, queue);
  const QueueId above = parent(queue);
  if (above.is_none()) return minus(sub, use);
  std::int64_t from_above = left(column, above);
  if (const std::int64_t borrows = c.borrows[queue.row()]; borrows != kUnlimited)
    from_above = std::min(from_above, plus(minus(sub, local) - std::max<std::int64_t>(0, use - local), borrows));
  return plus(unused_local(column, queue), from_above);
}

std::int64_t Cohorts::keepable(std::size_t column, QueueId queue, bool with_borrowing) const {
  const std::int64_t own = minus(nominal(column, queue), used(column, queue));
  return with_borrowing ? plus(own, columns_[column].borrows[queue.row()]) : own;
}

std::int64_t Cohorts::potential(std::size_t column, QueueId queue) const {
  return potential_of(columns_[column], queue);
}

std::int64_t Cohorts::potential_of(const Column& column, QueueId queue) const {
  const QueueId above = parent(queue);
  if (above.is_none()) return column.subtree[queue.row()];
  return std::min(plus(column.local[queue.row()], potential_of(column, above)),
                  plus(column.subtree[queue.row()], column.borrows[queue.row()]));
}

bool Cohorts::is_over(QueueId queue, std::span<const std::size_t> columns) const {
  return std::ranges::any_of(columns, [&](std::size_t c) { return used(c, queue) > subtree(c, queue); });
}

int Cohorts::height_of(QueueId cohort) const {
  int below = 0;
  for (const QueueId child : children_[cohort.row()])
    below = std::max(below, children_[child.row()].empty() ? 0 : height_of(child));
  return below + 1;
}

Cohorts::Height Cohorts::height_with(std::size_t column, QueueId queue, std::int64_t amount) const {
  const QueueId first = parent(queue);
  if (first.is_none()) return {0, true};
  if (used(column, queue) + amount <= nominal(column, queue)) return {0, false};
  std::int64_t left = amount - unused_local(column, queue);
  QueueId cohort = first;
  while (true) {
    const QueueId above = parent(cohort);
    if (above.is_none()) return {height_of(cohort), true};
    if (used(column, cohort) + left <= subtree(column, cohort)) return {height_of(cohort), false};
    left -= unused_local(column, cohort);
    cohort = above;
  }
}

double Cohorts::share(QueueId queue) const {
  const QueueId above = parent(queue);
  if (above.is_none()) return 0;
  double most = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    double borrowed = 0, might = 0;
    for (std::size_t other = 0; other < columns_.size(); ++other) {
      if (resource(other) != resource(c)) continue;
      if (subtree(other, queue) != kUnlimited)
        borrowed += static_cast<double>(std::max<std::int64_t>(0, used(other, queue) - subtree(other, queue)));
      might += static_cast<double>(potential(other, above));
    }
    if (might > 0) most = std::max(most, borrowed / might);
  }
  return most * static_cast<double>(QueueRank::kWeightOne) / static_cast<double>(state_.queues().rank(queue).weight);
}

}  // namespace ashlar::kueue
