#include "state/queues/queue_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/digest.h"

namespace ashlar {
namespace {
constexpr QueueId kRoot{0u};

/// Of a queue below that one: the number of queues from there up, without the root.
int depth_below(const std::vector<QueueId>& parents, QueueId parent) {
  int depth = 1;
  for (; parent != kRoot; parent = parents[parent.row()]) ++depth;
  return depth;
}
}  // namespace

QuotaVector quota_of(const Demand& demand) {
  return {demand.devices.milli_total(), amount_of(demand, resource::kCpu), amount_of(demand, resource::kMemory)};
}

QueueTree::QueueTree() { define(kRoot, QueueId::none(), kNoLimits); }

void QueueTree::ensure_row(QueueId queue) {
  if (queue.row() < parent_.size()) return;
  parent_.resize(queue.row() + 1, kRoot);
  wanted_parent_.resize(queue.row() + 1, kRoot);
  quota_.resize(queue.row() + 1, kNoLimits);
  used_.resize(queue.row() + 1, {});
  is_known_.resize(queue.row() + 1, 0);
  is_usage_changed_.resize(queue.row() + 1, 0);
  parent_[0] = wanted_parent_[0] = QueueId::none();
}

void QueueTree::forget_usage_changes() {
  for (const QueueId queue : usage_changes_) is_usage_changed_[queue.row()] = 0;
  usage_changes_.clear();
}

void QueueTree::define(QueueId queue, QueueId parent, const QuotaVector& quota, std::span<const QuotaLimit> limits) {
  ensure_row(queue);
  const bool is_new = std::exchange(is_known_[queue.row()], std::uint8_t{1}) == 0;
  for (std::vector<std::int64_t>& of_key : key_limits_)
    if (queue.row() < of_key.size()) of_key[queue.row()] = kUnlimited;
  for (const QuotaLimit& limit : limits) {
    const auto key = static_cast<std::size_t>(std::find(keys_.begin(), keys_.end(), limit.of) - keys_.begin());
    if (key == keys_.size()) {
      keys_.push_back(limit.of);
      key_limits_.emplace_back();
      key_used_.emplace_back();
    }
    if (queue.row() >= key_limits_[key].size()) key_limits_[key].resize(queue.row() + 1, kUnlimited);
    key_limits_[key][queue.row()] = limit.limit;
  }
  quota_[queue.row()] = quota;
  ++change_count_;
  if (queue != kRoot) {
    wanted_parent_[queue.row()] = parent.is_none() ? kRoot : parent;
    // Others may hang below it now, or where it was; none of them can make room for another.
    const QueueId wanted = wanted_parent_[queue.row()];
    // Below a new one there is none, so its height need not be counted.
    const bool may = is_new && wanted != queue ? is_known(wanted) && depth_below(parent_, wanted) <= kDepthMax
                                               : may_hang(queue, wanted);
    hang(queue, may ? wanted : kRoot);
    std::erase(displaced_, queue);
    std::erase_if(displaced_, [&](QueueId q) {
      const bool may = may_hang(q, wanted_parent_[q.row()]);
      if (may) hang(q, wanted_parent_[q.row()]);
      return may;
    });
    if (parent_[queue.row()] != wanted)
      displaced_.insert(std::lower_bound(displaced_.begin(), displaced_.end(), queue), queue);
  }
}

bool QueueTree::may_hang(QueueId queue, QueueId parent) const {
  if (parent == kRoot || parent == parent_[queue.row()]) return true;
  if (!is_known(parent)) return false;
  int above = 0;
  for (QueueId q = parent; q != kRoot; q = parent_[q.row()], ++above)
    if (q == queue) return false;
  return above + height(queue) <= kDepthMax;
}

int QueueTree::height(QueueId queue) const {
  int most = 1;
  for (std::size_t row = 0; row < parent_.size(); ++row) {
    int below = 1;
    QueueId q(row);
    for (; !q.is_none() && q != queue; q = parent_[q.row()]) ++below;
    if (q == queue) most = std::max(most, below);
  }
  return most;
}

void QueueTree::hang(QueueId queue, QueueId parent) {
  const QueueId before = std::exchange(parent_[queue.row()], parent);
  if (before == parent) return;
  note_usage_change(before);
  note_usage_change(parent);
  for (std::size_t counter = 0; counter < kQuotaDimensions + keys_.size(); ++counter) {
    if (counter >= kQuotaDimensions && used(counter - kQuotaDimensions, queue) == 0) continue;
    const ExactSums::Wide usage = used_sums_.value(sum_cell(counter, queue), shown(counter, queue));
    add_used(counter, before, -usage);
    add_used(counter, parent, usage);
  }
}

std::vector<QueueId> QueueTree::counted_displaced() const {
  std::vector<QueueId> displaced;
  const std::size_t rows = std::min({parent_.size(), wanted_parent_.size(), is_known_.size()});  // corrupt ones differ
  for (std::size_t row = 1; row < rows; ++row)
    if (is_known_[row] != 0 && parent_[row] != wanted_parent_[row]) displaced.emplace_back(row);
  return displaced;
}

bool QueueTree::is_consistent() const {
  const auto may_move = [&](QueueId queue) { return may_hang(queue, wanted_parent_[queue.row()]); };
  return displaced_ == counted_displaced() && std::none_of(displaced_.begin(), displaced_.end(), may_move) &&
         are_sums_sound();
}

namespace {

/// False, and nothing is added, if a sum is beyond what a column shows.
bool add_within_shown(QuotaVector& used, const QuotaVector& by) {
  QuotaVector sums{};
  bool are_shown = true;
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
    const bool is_beyond = __builtin_add_overflow(used[d], by[d], &sums[d]);
    are_shown = are_shown && !is_beyond && sums[d] >= -ExactSums::kShownMax && sums[d] <= ExactSums::kShownMax;
  }
  if (are_shown) used = sums;
  return are_shown;
}

}  // namespace

void QueueTree::charge(QueueId queue, const QuotaVector& amounts, int sign) {
  ensure_row(queue);
  note_usage_change(queue);
  QuotaVector by = amounts;
  for (std::int64_t& amount : by) amount *= sign;
  for (QueueId q = queue; !q.is_none(); q = parent_[q.row()]) {
    QuotaVector& used = used_[q.row()];
    if (used_sums_.beyond.empty() && add_within_shown(used, by)) continue;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) used[d] = used_sums_.add(sum_cell(d, q), used[d], by[d]);
  }
}

void QueueTree::ensure_used(std::size_t key) {
  if (key_used_[key].size() < parent_.size()) key_used_[key].resize(parent_.size());
}

void QueueTree::add_used(std::size_t counter, QueueId queue, ExactSums::Wide by) {
  if (counter >= kQuotaDimensions) ensure_used(counter - kQuotaDimensions);
  for (QueueId q = queue; !q.is_none(); q = parent_[q.row()]) {
    const std::uint64_t cell = sum_cell(counter, q);
    std::int64_t& used = shown(counter, q);
    used = used_sums_.set(cell, used_sums_.value(cell, used) + by);
  }
}

bool QueueTree::are_sums_sound() const {
  return used_sums_.is_sound([&](std::uint64_t cell) {
    const std::size_t counter = cell >> 32;
    const QueueId queue(static_cast<std::uint32_t>(cell));
    if (queue.row() >= used_.size() || counter >= kQuotaDimensions + key_used_.size()) return std::int64_t{0};
    return counter < kQuotaDimensions ? used_[queue.row()][counter] : used(counter - kQuotaDimensions, queue);
  });
}

void QueueTree::charge(std::size_t key, QueueId queue, std::int64_t amount) {
  if (amount == 0) return;
  ensure_row(queue);
  note_usage_change(queue);
  ensure_used(key);
  for (QueueId q = queue; !q.is_none(); q = parent_[q.row()]) {
    std::int64_t& used = key_used_[key][q.row()];
    used = used_sums_.add(sum_cell(kQuotaDimensions + key, q), used, amount);
  }
}

std::optional<Reason> QueueTree::refusal(std::size_t key, QueueId queue, std::int64_t amount) const {
  if (amount == 0 || queue.row() >= parent_.size()) return std::nullopt;
  std::optional<Reason> exhausted;
  for (QueueId q = queue; !q.is_none(); q = parent_[q.row()]) {
    const std::int64_t most = limit(key, q), number = quota_number(keys_[key]);
    if (most == kUnlimited) continue;
    if (amount > most) return Reason{ReasonCode::kExceedsQuota, q.value, {number, amount, most}};
    if (!exhausted && amount > most - used(key, q))
      exhausted = Reason{ReasonCode::kQuotaExhausted, q.value, {number, used(key, q), most}};
  }
  return exhausted;
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
  std::uint64_t sum = used_sums_.digest();
  for (std::size_t q = 0; q < parent_.size(); ++q)
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      if (used_[q][d] != 0)
        sum += mix64(static_cast<std::uint64_t>(used_[q][d]) * 0x9e3779b97f4a7c15ull + q * kQuotaDimensions + d);
  for (std::size_t k = 0; k < keys_.size(); ++k)
    for (std::size_t q = 0; q < key_used_[k].size(); ++q)
      if (key_used_[k][q] != 0)
        sum += mix64(hash_combine(static_cast<std::uint64_t>(quota_number(keys_[k])), q) +
                     static_cast<std::uint64_t>(key_used_[k][q]) * 0x9e3779b97f4a7c15ull);
  return sum;
}

}  // namespace ashlar
