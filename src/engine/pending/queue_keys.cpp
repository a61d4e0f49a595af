#include "engine/pending/queue_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/grown.h"
#include "engine/quota.h"

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

QuotaVector capacity_of(const Cluster& cluster) {
  const auto sum = [](const auto& column) {
    std::int64_t all = 0;
    for (const std::int64_t of_node : column) add_saturated(all, of_node);
    return all;
  };
  const auto of = [&](ResourceId r) {
    return r.row() < cluster.resource_count() ? sum(cluster.allocatable(r)) : std::int64_t{0};
  };
  return {sum(cluster.devices()) * kWholeDevice, of(resource::kCpu), of(resource::kMemory)};
}

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

QueueKeys::News QueueKeys::look(const State& state) {
  const QueueTree& queues = state.queues();
  News news;
  news.is_tree_other = std::exchange(tree_seen_, queues.change_count()) != queues.change_count();
  bool are_all = news.is_tree_other || parents_.size() != queues.rows();
  if (are_all) {
    parents_.resize(queues.rows());
    for (std::size_t row = 0; row < parents_.size(); ++row) parents_[row] = queues.parent(QueueId(row));
  }
  if (std::exchange(facts_seen_, state.cluster().facts_change_count()) != state.cluster().facts_change_count()) {
    const QuotaVector capacity = capacity_of(state.cluster());
    are_all = std::exchange(capacity_, capacity) != capacity || are_all;
  }
  for (const QueueId queue : rows_to_look_at(state, are_all)) {
    const OrderKey now = key_of(queues, queue);
    if (now != key(queue)) news.keys.push_back({queue, now});
  }
  return news;
}

OrderKey QueueKeys::key_of(const QueueTree& queues, QueueId queue) {
  const auto nearest = [&](const auto& limit_of) {
    std::int64_t limit = kUnlimited;
    for (QueueId q = queue; !q.is_none() && limit == kUnlimited; q = queues.parent(q)) limit = limit_of(q);
    return limit;
  };
  uses_.clear();
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
    const std::int64_t limit = nearest([&](QueueId q) { return queues.quota(q)[d]; });
    uses_.push_back({queues.used(queue)[d], limit == kUnlimited ? capacity_[d] : limit});
  }
  for (std::size_t k = 0; k < queues.keys().size(); ++k)
    if (const std::int64_t limit = nearest([&](QueueId q) { return queues.limit(k, q); }); limit != kUnlimited)
      uses_.push_back({queues.used(k, queue), limit});
  ++computed_count_;
  return policy_->key(uses_);
}

void QueueKeys::set(QueueId queue, OrderKey key) { grown(keys_, queue.row()) = key; }

}  // namespace ashlar
