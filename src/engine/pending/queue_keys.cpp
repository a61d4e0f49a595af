#include "engine/pending/queue_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/grown.h"
#include "state/cluster/capacity.h"

namespace ashlar {
namespace {

constexpr QueueId kRoot{0u};

struct Path {
  std::array<QueueId, QueueTree::kDepthMax + 1> queues;  ///< from the queue up
  std::size_t length = 0;

  QueueId from_root(std::size_t level) const { return queues[length - 1 - std::min(level, length - 1)]; }
};

Path path_of(const QueueKeys& keys, QueueId queue) {
  Path path;
  for (QueueId q = queue; !q.is_none(); q = keys.parent(q)) {
    ASHLAR_CHECK(path.length < path.queues.size());
    path.queues[path.length++] = q;
  }
  return path;
}

std::vector<std::int64_t> capacities_of(const Cluster& cluster, std::span<const QuotaKey> keys) {
  std::vector<std::int64_t> capacities;
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    capacities.push_back(capacity_of(cluster, quota_key(static_cast<std::int64_t>(d))));
  for (const QuotaKey& key : keys) capacities.push_back(capacity_of(cluster, key));
  return capacities;
}

/// Taken off the key of a queue that stays inside its guarantees.
constexpr std::int64_t kInside = std::int64_t{1} << 62;

}  // namespace

QueueId QueueKeys::parent(QueueId queue) const {
  if (queue == kRoot) return QueueId::none();
  return queue.row() < parents_.size() ? parents_[queue.row()] : kRoot;
}

std::strong_ordering QueueKeys::compare(QueueId a, QueueId b) const {
  if (a == b || !are_compared()) return std::strong_ordering::equal;
  const Path of_a = path_of(*this, a), of_b = path_of(*this, b);
  for (std::size_t level = 1; level < std::max(of_a.length, of_b.length); ++level) {
    const auto order = key(of_a.from_root(level)) <=> key(of_b.from_root(level));
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

std::vector<QueueId> QueueKeys::rows_to_look_at(const State& state, bool are_all) const {
  std::vector<QueueId> rows;
  if (are_all) {
    rows.reserve(parents_.size());
    for (std::size_t row = 0; row < parents_.size(); ++row) rows.emplace_back(row);
    return rows;
  }
  for (const QueueId changed : state.queues().usage_changes())
    for (QueueId q = changed; !q.is_none(); q = parent(q)) rows.push_back(q);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

void QueueKeys::keep_history(const State& state, std::span<const QueueId> rows, Millis now) {
  const QueueTree& queues = state.queues();
  std::vector<std::int64_t> held;
  for (const QueueId queue : rows) {
    held.assign(queues.used(queue).begin(), queues.used(queue).end());
    for (std::size_t k = 0; k < queues.keys().size(); ++k) held.push_back(queues.used(k, queue));
    history_.hold(queue, held, now);
  }
  for (const QueueTree::RecordedUsage& recorded : queues.recorded_usage()) {
    const auto number = static_cast<std::size_t>(quota_number(recorded.of));
    const auto key = static_cast<std::size_t>(std::ranges::find(queues.keys(), recorded.of) - queues.keys().begin());
    const std::size_t counter = number < kQuotaDimensions ? number : kQuotaDimensions + key;
    const double more = history_.record(recorded.queue, counter, recorded.amount, now);
    for (QueueId q = queues.parent(recorded.queue); !q.is_none(); q = queues.parent(q))
      history_.add(q, counter, more, now);
  }
}

QueueKeys::News QueueKeys::look(const State& state, Millis now) {
  const QueueTree& queues = state.queues();
  News news;
  news.is_tree_other = std::exchange(tree_seen_, queues.change_count()) != queues.change_count();
  bool are_all = news.is_tree_other || parents_.size() != queues.rows();
  if (are_all) {
    parents_.resize(queues.rows());
    for (std::size_t row = 0; row < parents_.size(); ++row) parents_[row] = queues.parent(QueueId(row));
  }
  const std::uint64_t facts = state.cluster().facts_change_count();
  if (std::exchange(facts_seen_, facts) != facts || capacity_.size() != kQuotaDimensions + queues.keys().size()) {
    std::vector<std::int64_t> capacity = capacities_of(state.cluster(), queues.keys());
    std::swap(capacity_, capacity);
    are_all = capacity_ != capacity || are_all;
  }
  if (history_.is_kept()) keep_history(state, rows_to_look_at(state, are_all), now);
  if (history_.is_step_due(now) || (history_.is_kept() && !queues.recorded_usage().empty())) {
    history_.take_step(now);
    are_all = true;
  }
  for (const QueueId queue : rows_to_look_at(state, are_all)) {
    ++computed_count_;
    const OrderKey now = policy_->key(standing_of(queues, queue));
    bool is_other = now != key(queue);
    if (policy_->prefers_guaranteed) {
      std::vector<std::int64_t> left = left_of_guarantees(queues, queue);
      std::vector<std::int64_t>& known = grown(left_, queue.row());
      is_other = std::exchange(known, std::move(left)) != known || is_other;
    }
    if (is_other) news.keys.push_back({queue, now});
  }
  return news;
}

QueueStanding QueueKeys::standing_of(const QueueTree& queues, QueueId queue) {
  const auto nearest = [&](QueueId from, const auto& limit_of) {
    std::int64_t limit = kUnlimited;
    for (QueueId q = from; !q.is_none() && limit == kUnlimited; q = queues.parent(q)) limit = limit_of(q);
    return limit;
  };
  const auto guarantee = [&](const QuotaKey& of) {
    const QueueShares::Column* column = queue == kRoot ? nullptr : queues.shares().find(of);
    return column == nullptr ? std::int64_t{0} : QueueShares::guarantee(*column, queue);
  };
  uses_.clear();
  const auto add = [&](std::size_t counter, const QuotaKey& of, std::int64_t used, std::int64_t capacity,
                       const auto& limit_of) {
    const std::int64_t own = nearest(queue, limit_of), above = nearest(queues.parent(queue), limit_of);
    const bool always_counts = quota_number(of) < static_cast<std::int64_t>(kQuotaDimensions);
    if (own == kUnlimited && !always_counts && queues.shares().find(of) == nullptr) return;
    uses_.push_back({.used = used,
                     .limit = own == kUnlimited ? capacity : own,
                     .guarantee = guarantee(of),
                     .of_parent = above == kUnlimited ? capacity : above,
                     .average = history_.average(queue, counter)});
  };
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    add(d, quota_key(static_cast<std::int64_t>(d)), queues.used(queue)[d], capacity_[d],
        [&](QueueId q) { return queues.quota(q)[d]; });
  for (std::size_t k = 0; k < queues.keys().size(); ++k)
    add(kQuotaDimensions + k, queues.keys()[k], queues.used(k, queue), capacity_[kQuotaDimensions + k],
        [&](QueueId q) { return queues.limit(k, q); });
  return {uses_, queues.rank(queue), history_.is_kept()};
}

std::vector<std::int64_t> QueueKeys::left_of_guarantees(const QueueTree& queues, QueueId queue) const {
  std::vector<std::int64_t> left;
  if (queue == kRoot) return left;  // no other is its sibling
  for (const QueueShares::Column& column : queues.shares().columns()) {
    const std::int64_t guarantee = QueueShares::guarantee(column, queue);
    if (guarantee == 0 && QueueShares::stated(column, queue) == QuotaShare::kNotNamed) continue;
    const auto number = static_cast<std::size_t>(quota_number(column.of));
    const bool is_dimension = number < kQuotaDimensions;
    const auto key = static_cast<std::size_t>(std::ranges::find(queues.keys(), column.of) - queues.keys().begin());
    left.resize(kQuotaDimensions + queues.keys().size(), kUnlimited);
    left[is_dimension ? number : kQuotaDimensions + key] =
        guarantee - (is_dimension ? queues.used(queue)[number] : queues.used(key, queue));
  }
  return left;
}

OrderKey QueueKeys::key_with(QueueId queue, ClassId first) const {
  OrderKey with = key(queue);
  if (!policy_->prefers_guaranteed || queue.row() >= left_.size() || left_[queue.row()].empty()) return with;
  const std::vector<std::int64_t>& left = left_[queue.row()];
  const std::vector<std::int64_t>* needs = first.row() < needs_.size() ? &needs_[first.row()] : nullptr;
  for (std::size_t c = 0; c < left.size(); ++c)
    if (left[c] < (needs != nullptr && c < needs->size() ? (*needs)[c] : 0)) return with;
  with.major -= kInside;
  return with;
}

void QueueKeys::set(QueueId queue, OrderKey key) { grown(keys_, queue.row()) = key; }

}  // namespace ashlar
