// What queues lend, against a plain recursion: an amount is admitted if no limit is exceeded by what counts there, each
// queue below counting as what it uses, or as what it keeps for itself if that is more.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "state/queues/queue_tree.h"

namespace ashlar {
namespace {

constexpr int kQueuesMax = 7;
constexpr std::int64_t kCapacity = 40;

struct Stated {
  int parent = 0;
  QuotaShare share;
  std::int64_t quota = kUnlimited;
};

std::int64_t amount_or(std::int64_t none, int most) {
  return *rc::gen::inRange(0, 3) == 0 ? none : *rc::gen::inRange(0, most);
}

/// A tree of queues with one shared amount, which it keeps by plain recursion.
class PlainTree {
 public:
  PlainTree(const std::vector<Stated>& stated, const QueueTree& tree, const QuotaKey& of)
      : stated_(stated), tree_(tree), of_(of), used_(stated.size()) {}

  void charge(std::size_t queue, std::int64_t amount) { used_[queue] += amount; }
  std::int64_t used(std::size_t queue) const { return used_[queue]; }
  /// Whether each queue from this one up stays within its limit, and each of which more counts with the amount.
  bool admits(std::size_t queue, std::int64_t amount) {
    const std::vector<std::int64_t> before = counted();
    used_[queue] += amount;
    const std::vector<std::int64_t> after = counted();
    used_[queue] -= amount;
    for (std::size_t q = 0; q < stated_.size(); ++q)
      if (after[q] != before[q] && limit(q) != kUnlimited && after[q] > limit(q) && (q != 0 || before[0] > all_used(0)))
        return false;  // what the cluster has is a limit while something of it is kept
    for (std::size_t q = queue;; q = static_cast<std::size_t>(stated_[q].parent)) {
      if (const std::int64_t most = q == 0 ? stated_[q].quota : limit(q); most != kUnlimited)
        if (all_used(q) + amount > most) return false;
      if (q == 0) return true;
    }
  }

 private:
  std::int64_t in_force(std::size_t queue) const {
    return QueueShares::guarantee(*tree_.shares().find(of_), QueueId(queue));
  }
  std::int64_t keeps(std::size_t queue) const {
    const std::int64_t lends = stated_[queue].share.lends;
    return queue == 0 || lends == kUnlimited ? 0 : std::max<std::int64_t>(in_force(queue) - lends, 0);
  }
  bool keeps_any() const {
    for (std::size_t q = 0; q < stated_.size(); ++q)
      if (keeps(q) > 0) return true;
    return false;
  }
  std::int64_t limit(std::size_t queue) const {
    std::int64_t limit = stated_[queue].quota;
    if (stated_[queue].share.borrows != kUnlimited)
      limit = std::min(limit, in_force(queue) + stated_[queue].share.borrows);
    return queue == 0 && keeps_any() ? std::min(limit, kCapacity) : limit;
  }
  std::int64_t counted_of(std::size_t queue) const {
    std::int64_t sum = used_[queue];
    for (std::size_t q = 1; q < stated_.size(); ++q)
      if (static_cast<std::size_t>(stated_[q].parent) == queue) sum += std::max(counted_of(q), keeps(q));
    return sum;
  }
  std::int64_t all_used(std::size_t queue) const {
    std::int64_t sum = used_[queue];
    for (std::size_t q = 1; q < stated_.size(); ++q)
      if (static_cast<std::size_t>(stated_[q].parent) == queue) sum += all_used(q);
    return sum;
  }
  std::vector<std::int64_t> counted() const {
    std::vector<std::int64_t> all;
    for (std::size_t q = 0; q < stated_.size(); ++q) all.push_back(counted_of(q));
    return all;
  }

  const std::vector<Stated>& stated_;
  const QueueTree& tree_;
  QuotaKey of_;
  std::vector<std::int64_t> used_;  ///< by queue, of its own jobs
};

std::vector<Stated> some_queues(const QuotaKey& of) {
  std::vector<Stated> stated(static_cast<std::size_t>(*rc::gen::inRange(2, kQueuesMax + 1)));
  for (std::size_t q = 0; q < stated.size(); ++q) {
    stated[q].share = {.of = of};
    if (q == 0 && *rc::gen::inRange(0, 2) == 0) stated[q].quota = *rc::gen::inRange(20, 60);
    if (q == 0) continue;
    stated[q].parent = *rc::gen::inRange(0, static_cast<int>(q));
    stated[q].share.guarantee = amount_or(QuotaShare::kNotNamed, 20);
    stated[q].share.borrows = amount_or(kUnlimited, 10);
    stated[q].share.lends = amount_or(kUnlimited, 10);
    stated[q].quota = amount_or(kUnlimited, 30);
  }
  return stated;
}

/// Of GPUs on all nodes, or of those of one model, which have a column of their own.
void plays_as_the_recursion(const QuotaKey& of) {
  const std::vector<Stated> stated = some_queues(of);
  const bool is_dimension = of == quota_key(0);
  QueueTree tree;
  for (std::size_t q = 0; q < stated.size(); ++q) {
    QuotaVector quota{kUnlimited, kUnlimited, kUnlimited};
    std::vector<QuotaLimit> limits;
    if (is_dimension)
      quota[0] = stated[q].quota;
    else if (stated[q].quota != kUnlimited)
      limits.push_back({of, stated[q].quota});
    tree.define(QueueId(q), q == 0 ? QueueId::none() : QueueId(static_cast<std::uint32_t>(stated[q].parent)), quota,
                limits, std::vector<QuotaShare>{stated[q].share});
  }
  tree.add_capacity(0, kCapacity);
  PlainTree plain(stated, tree, of);
  const std::size_t key = 0;
  const auto refusal = [&](QueueId queue, std::int64_t amount) {
    return is_dimension ? tree.refusal(queue, {amount, 0, 0}) : tree.refusal(key, queue, amount);
  };
  const auto charge = [&](QueueId queue, std::int64_t amount) {
    if (is_dimension)
      tree.charge(queue, {std::abs(amount), 0, 0}, amount < 0 ? -1 : 1);
    else
      tree.charge(key, queue, amount);
  };
  for (int step = 0; step < 25; ++step) {
    const auto q = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(stated.size())));
    const QueueId queue(q);
    const std::int64_t amount = *rc::gen::inRange(1, 12);
    const bool does = plain.admits(q, amount);
    RC_ASSERT(refusal(queue, amount).has_value() == !does);
    const std::int64_t left = is_dimension ? tree.left(0, queue) : tree.left_by_key(key, queue);
    RC_ASSERT((amount <= left) == does);
    // Above a limit too: limits are lowered, and pods are bound by others.
    const bool takes = *rc::gen::inRange(0, 8) != 0 ? does : true;
    const std::int64_t by = plain.used(q) > 0 && *rc::gen::inRange(0, 3) == 0 ? -plain.used(q) : takes ? amount : 0;
    if (by == 0) continue;
    plain.charge(q, by);
    charge(queue, by);
    RC_ASSERT(tree.is_consistent());
  }
}

RC_GTEST_PROP(Lent, GpusAreAdmittedAsTheRecursionSays, ()) { plays_as_the_recursion(quota_key(0)); }

RC_GTEST_PROP(Lent, GpusOfAModelAreAdmittedAsTheRecursionSays, ()) {
  plays_as_the_recursion({ResourceId::none(), DeviceClassId(3u)});
}

}  // namespace
}  // namespace ashlar
