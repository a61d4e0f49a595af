#include "state/queues/queue_tree.h"

#include <algorithm>

#include "base/check.h"
#include "base/digest.h"

namespace ashlar {
namespace {
constexpr QueueId kRoot{0u};
}

QuotaVector quota_of(const Demand& demand) {
  return {demand.devices.milli_total(), amount_of(demand, resource::kCpu), amount_of(demand, resource::kMemory)};
}

QueueTree::QueueTree() { define(kRoot, QueueId::none(), kNoLimits); }

void QueueTree::ensure_row(QueueId queue) {
  if (queue.row() < parent_.size()) return;
  parent_.resize(queue.row() + 1, kRoot);
  quota_.resize(queue.row() + 1, kNoLimits);
  used_.resize(queue.row() + 1, {});
  is_known_.resize(queue.row() + 1, 0);
  parent_[0] = QueueId::none();
}

void QueueTree::define(QueueId queue, QueueId parent, const QuotaVector& quota) {
  ensure_row(queue);
  if (queue != kRoot) {
    int depth = 1;
    bool is_cycle = parent.is_none() || !is_known(parent);
    for (QueueId q = parent; !is_cycle && q != kRoot; q = parent_[q.row()])
      is_cycle = q == queue || ++depth > kDepthMax;
    const QueueId new_parent = is_cycle ? kRoot : parent;
    const QuotaVector usage = used_[queue.row()];
    const QueueId old_parent = parent_[queue.row()];
    if (is_known(queue) && old_parent != new_parent) {
      charge(old_parent, usage, -1);
      charge(new_parent, usage, 1);
    } else if (!is_known(queue) && new_parent != kRoot) {  // an unknown queue was charged through the root
      for (QueueId q = new_parent; q != kRoot; q = parent_[q.row()])
        for (std::size_t d = 0; d < kQuotaDimensions; ++d) used_[q.row()][d] += usage[d];
    }
    parent_[queue.row()] = new_parent;
  }
  quota_[queue.row()] = quota;
  is_known_[queue.row()] = 1;
  ++change_count_;
}

void QueueTree::charge(QueueId queue, const QuotaVector& amounts, std::int64_t times) {
  ensure_row(queue);
  for (QueueId q = queue; !q.is_none(); q = parent_[q.row()])
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) used_[q.row()][d] += amounts[d] * times;
}

std::optional<Reason> QueueTree::refusal(QueueId queue, const QuotaVector& amounts) const {
  if (queue.row() >= parent_.size()) return std::nullopt;
  std::optional<Reason> exhausted;
  for (QueueId q = queue; !q.is_none(); q = parent_[q.row()]) {
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      const std::int64_t limit = quota_[q.row()][d];
      if (limit == kUnlimited || amounts[d] == 0) continue;
      const auto dimension = static_cast<std::int64_t>(d);
      if (amounts[d] > limit) return Reason{ReasonCode::kExceedsQuota, q.value, {dimension, amounts[d], limit}};
      if (!exhausted && amounts[d] > limit - used_[q.row()][d])
        exhausted = Reason{ReasonCode::kQuotaExhausted, q.value, {dimension, used_[q.row()][d], limit}};
    }
  }
  return exhausted;
}

bool QueueTree::has_limits() const { return std::any_of(quota_.begin(), quota_.end(), limits); }

std::uint64_t QueueTree::digest() const {
  std::uint64_t sum = 0;
  for (std::size_t q = 0; q < parent_.size(); ++q)
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      if (used_[q][d] != 0)
        sum += mix64(static_cast<std::uint64_t>(used_[q][d]) * 0x9e3779b97f4a7c15ull + q * kQuotaDimensions + d);
  return sum;
}

}  // namespace ashlar
