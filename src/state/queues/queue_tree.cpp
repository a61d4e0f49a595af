#include "state/queues/queue_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/digest.h"

namespace ashlar {
namespace {

/// Of a queue below that one: the number of queues from there up, without the root.
int depth_below(const std::vector<QueueId>& parents, QueueId parent) {
  int depth = 1;
  for (; parent != QueueTree::kRoot; parent = parents[parent.row()]) ++depth;
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
  in_force_.resize(queue.row() + 1, kNoLimits);
  ranks_.resize(queue.row() + 1);
  gates_.resize(queue.row() + 1);
  stops_.resize(queue.row() + 1);
  used_.resize(queue.row() + 1, {});
  is_known_.resize(queue.row() + 1, 0);
  is_usage_changed_.resize(queue.row() + 1, 0);
  parent_[0] = wanted_parent_[0] = QueueId::none();
  if (!shares_.is_empty()) renew_shares();
}

void QueueTree::forget_usage_changes() {
  for (const QueueId queue : usage_changes_) is_usage_changed_[queue.row()] = 0;
  usage_changes_.clear();
  recorded_usage_.clear();
}

void QueueTree::record_usage(QueueId queue, const QueueUsage& usage) {
  if (quota_number(usage.of) >= static_cast<std::int64_t>(kQuotaDimensions)) key_row(usage.of);
  std::erase_if(recorded_usage_, [&](const RecordedUsage& r) { return r.queue == queue && r.of == usage.of; });
  recorded_usage_.push_back({queue, usage.of, usage.amount});
}

std::size_t QueueTree::key_row(const QuotaKey& key) {
  const auto row = static_cast<std::size_t>(std::ranges::find(keys_, key) - keys_.begin());
  if (row == keys_.size()) {
    keys_.push_back(key);
    key_limits_.emplace_back();
    key_used_.emplace_back();
  }
  return row;
}

void QueueTree::renew_shares() {
  shares_.renew(parent_);
  in_force_ = quota_;
  for (const QueueShares::Column& column : shares_.columns()) {
    const std::int64_t dimension = quota_number(column.of);
    if (dimension >= static_cast<std::int64_t>(kQuotaDimensions)) continue;  // see limit()
    for (std::size_t row = 0; row < in_force_.size(); ++row) {
      std::int64_t& limit = in_force_[row][static_cast<std::size_t>(dimension)];
      limit = std::min(limit, QueueShares::limit(column, QueueId(row)));
    }
  }
  for (std::size_t column = 0; column < shares_.columns().size(); ++column)
    shares_.count_kept(column, [&](QueueId q) { return used(shares_.columns()[column].of, q); });
}

void QueueTree::follow_usage(QueueId queue) {
  if (!shares_.keeps_any()) return;
  for (std::size_t column = 0; column < shares_.columns().size(); ++column)
    shares_.follow_usage(column, queue, [&](QueueId q) { return used(shares_.columns()[column].of, q); });
}

QueueId QueueTree::held_above(QueueId queue) const {
  return first_above(queue, [](const QueueGate& gate) { return gate.starts_nothing(); });
}

QueueId QueueTree::refusing_above(QueueId queue, Millis submitted) const {
  return first_above(queue, [&](const QueueGate& gate) { return gate.refuses(submitted); });
}

QueueId QueueTree::stopped_above(QueueId queue) const {
  return first_above(queue, [](const QueueGate& gate) { return gate.is == QueueGate::Is::kStopped; });
}

bool QueueTree::is_any(QueueGate::Is gate) const {
  return gated_ > 0 && std::ranges::any_of(gates_, [&](const QueueGate& of) { return of.is == gate; });
}

Millis QueueTree::protection(QueueId queue, Millis StopRules::*of) const {
  for (QueueId q = queue; !q.is_none(); q = parent(q))
    if (q.row() < stops_.size() && stops_[q.row()].*of != StopRules::kAsAbove) return stops_[q.row()].*of;
  return Millis(0);
}

template <class LimitOf, class CountedOf>
std::int64_t QueueTree::least_left(const QuotaKey& of, QueueId queue, LimitOf&& limit_of,
                                   CountedOf&& counted_of) const {
  const QueueShares::Column* column = shares_.is_empty() ? nullptr : shares_.find(of);
  const auto used_within = [&](QueueId q, std::int64_t limit) {  // of the root without what the cluster has
    const auto number = static_cast<std::size_t>(quota_number(of));
    const auto key = static_cast<std::size_t>(std::ranges::find(keys_, of) - keys_.begin());
    if (q != kRoot) return limit;
    return number < kQuotaDimensions ? quota_[q.row()][number] : stated_limit(key, q);
  };
  std::int64_t least = kUnlimited, own = 0;  // what the queues so far keep for themselves
  for (QueueId q = queue; !q.is_none() && q.row() < parent_.size(); q = parent_[q.row()]) {
    const bool keeps_any = column != nullptr && QueueShares::kept(*column, q) > 0;
    if (const std::int64_t limit = keeps_any ? limit_of(q) : used_within(q, limit_of(q)); limit != kUnlimited) {
      const std::int64_t left = limit - counted_of(q);
      // what it keeps for itself does not count against what others keep
      least = std::min(least, own > 0 ? own + std::max<std::int64_t>(left, 0) : left);
      if (const std::int64_t most = used_within(q, limit); own > 0 && most != kUnlimited)
        least = std::min(least, most - used(of, q));
    }
    if (column != nullptr) own += QueueShares::idle(*column, q);
  }
  return least;
}

std::int64_t QueueTree::left(std::size_t dimension, QueueId queue) const {
  return least_left(
      quota_key(static_cast<std::int64_t>(dimension)), queue, [&](QueueId q) { return in_force_[q.row()][dimension]; },
      [&](QueueId q) { return counted(dimension, q); });
}

std::int64_t QueueTree::left_by_key(std::size_t key, QueueId queue) const {
  return least_left(
      keys_[key], queue, [&](QueueId q) { return limit(key, q); }, [&](QueueId q) { return counted_by_key(key, q); });
}

void QueueTree::add_capacity(std::size_t column, std::int64_t by) {
  if (by == 0 || !shares_.add_capacity(column, by)) return;
  renew_shares();
  ++change_count_;
}

void QueueTree::define(QueueId queue, QueueId parent, const QuotaVector& quota, std::span<const QuotaLimit> limits,
                       std::span<const QuotaShare> shares, QueueRank rank, QueueGate gate, const StopRules& stops) {
  ensure_row(queue);
  const bool is_new = std::exchange(is_known_[queue.row()], std::uint8_t{1}) == 0;
  for (std::vector<std::int64_t>& of_key : key_limits_)
    if (queue.row() < of_key.size()) of_key[queue.row()] = kUnlimited;
  for (const QuotaLimit& limit : limits) {
    const std::size_t key = key_row(limit.of);
    if (queue.row() >= key_limits_[key].size()) key_limits_[key].resize(queue.row() + 1, kUnlimited);
    key_limits_[key][queue.row()] = limit.limit;
  }
  quota_[queue.row()] = quota;
  ranks_[queue.row()] = rank;
  gated_ += gate.is_open() ? 0 : 1;
  gated_ -= gates_[queue.row()].is_open() ? 0 : 1;
  gates_[queue.row()] = gate;
  stops_[queue.row()] = stops;
  for (const QuotaShare& share : shares)
    if (quota_number(share.of) >= static_cast<std::int64_t>(kQuotaDimensions)) key_row(share.of);
  shares_.define(queue, shares);
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
  if (shares_.is_empty())
    in_force_[queue.row()] = quota;
  else
    renew_shares();
}

std::int64_t QueueTree::used(const QuotaKey& of, QueueId queue) const {
  const auto number = static_cast<std::size_t>(quota_number(of));
  if (number < kQuotaDimensions) return used_[queue.row()][number];
  const auto key = static_cast<std::size_t>(std::ranges::find(keys_, of) - keys_.begin());
  return key < keys_.size() ? used(key, queue) : 0;
}

QueueDefined QueueTree::definition(QueueId queue) const {
  QueueDefined defined{queue, parent_[queue.row()], quota_[queue.row()]};
  for (std::size_t k = 0; k < keys_.size(); ++k)
    if (stated_limit(k, queue) != kUnlimited) defined.limits.push_back({keys_[k], stated_limit(k, queue)});
  for (const QueueShares::Column& column : shares_.columns()) {
    const QuotaShare share{column.of, QueueShares::stated(column, queue), QueueShares::borrows(column, queue),
                           QueueShares::lends(column, queue)};
    if (share != QuotaShare{.of = column.of}) defined.shares.push_back(share);
  }
  defined.rank = ranks_[queue.row()];
  defined.gate = gate(queue);
  defined.stops = stops(queue);
  return defined;
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
  QueueTree again = *this;
  again.renew_shares();
  const auto keeps_the_same = [](const QueueShares::Column& a, const QueueShares::Column& b) {
    return a.in_force == b.in_force && a.idle == b.idle && a.kept == b.kept;
  };
  return displaced_ == counted_displaced() && std::none_of(displaced_.begin(), displaced_.end(), may_move) &&
         are_sums_sound() && (shares_.is_empty() || in_force_ == again.in_force_) &&
         std::ranges::equal(shares_.columns(), again.shares_.columns(), keeps_the_same);
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
  follow_usage(queue);
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
  follow_usage(queue);
}

namespace {

/// An amount that is added to a queue, at a limit from it upwards. Queues on the way keep some of it for themselves:
/// only the rest `counts` against what others keep.
struct AtLimit {
  std::int64_t amount = 0, counts = 0, used = 0, kept = 0;
  std::int64_t limit = 0;   ///< at most what the cluster has, where any is kept
  std::int64_t stated = 0;  ///< of the root: without what the cluster has, which placing shows
  std::int64_t ever = 0;    ///< with guarantees as they are stated: more nodes may bring them into force

  std::optional<Reason> refusal(QueueId queue, std::int64_t number) const {
    const std::int64_t most = queue == QueueTree::kRoot ? stated : limit;
    if (amount > std::max(most, ever)) return Reason{ReasonCode::kExceedsQuota, queue.value, {number, amount, most}};
    if (most != kUnlimited && amount > most - used)
      return Reason{ReasonCode::kQuotaExhausted, queue.value, {number, used, limit}};
    if (kept > 0 && counts > 0 && counts > limit - used - kept)
      return Reason{ReasonCode::kKeptByGuarantees, queue.value, {number, kept, limit}};
    return std::nullopt;
  }
};

/// The most that the queue could use of a column if its guarantee were in force as stated; 0 where it states none.
std::int64_t most_as_stated(const QueueShares::Column* column, QueueId queue, std::int64_t quota) {
  if (column == nullptr || QueueShares::stated(*column, queue) == QuotaShare::kNotNamed) return 0;
  return std::min(quota, QueueShares::limit_as_stated(*column, queue));
}

/// What could never be admitted goes before what waits.
void note(std::optional<Reason>& first, const std::optional<Reason>& refusal) {
  if (refusal && (!first || (refusal->code == ReasonCode::kExceedsQuota && first->code != refusal->code)))
    first = refusal;
}

}  // namespace

std::optional<Reason> QueueTree::refusal(std::size_t key, QueueId queue, std::int64_t amount) const {
  if (amount == 0 || queue.row() >= parent_.size()) return std::nullopt;
  const QueueShares::Column* column = shares_.is_empty() ? nullptr : shares_.find(keys_[key]);
  const std::int64_t number = quota_number(keys_[key]);
  std::optional<Reason> first;
  std::int64_t counts = amount;  // the rest is what queues below keep for it
  for (QueueId q = queue; !q.is_none(); q = parent_[q.row()]) {
    if (const std::int64_t most = limit(key, q), stated = stated_limit(key, q); most != kUnlimited)
      note(first,
           AtLimit{amount, counts, used(key, q), kept(keys_[key], q), most, stated, most_as_stated(column, q, stated)}
               .refusal(q, number));
    if (column != nullptr) counts -= std::min(counts, QueueShares::idle(*column, q));
  }
  return first;
}

std::optional<Reason> QueueTree::refusal(QueueId queue, const QuotaVector& amounts) const {
  if (queue.row() >= parent_.size()) return std::nullopt;
  const bool keeps_any = shares_.keeps_any();
  std::optional<Reason> first;
  QuotaVector counts = amounts;
  for (QueueId q = queue; !q.is_none(); q = parent_[q.row()]) {
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      const std::int64_t limit = in_force_[q.row()][d];
      if (amounts[d] == 0) continue;
      const auto dimension = static_cast<std::int64_t>(d);
      const QuotaKey of = quota_key(dimension);
      const QueueShares::Column* column = shares_.is_empty() ? nullptr : shares_.find(of);
      if (limit != kUnlimited)
        note(first, AtLimit{amounts[d], counts[d], used_[q.row()][d], keeps_any ? kept(of, q) : 0, limit,
                            quota_[q.row()][d], most_as_stated(column, q, quota_[q.row()][d])}
                        .refusal(q, dimension));
      if (keeps_any && column != nullptr) counts[d] -= std::min(counts[d], QueueShares::idle(*column, q));
    }
  }
  return first;
}

bool QueueTree::has_limits() const { return std::any_of(in_force_.begin(), in_force_.end(), limits); }

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
