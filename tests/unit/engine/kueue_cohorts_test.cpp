// What Kueue's queues have left: the example of the documentation, and against the limits themselves on drawn trees.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "../state/small_state.h"
#include "engine/published/kueue/cohorts.h"
#include "policy/profile.h"
#include "state/state.h"

namespace ashlar::kueue {
namespace {

/// A queue of one resource: cores, in thousandths.
struct Drawn {
  std::size_t parent = 0;  ///< 0 is the root
  std::int64_t nominal = QuotaShare::kNotNamed, lends = kUnlimited, borrows = kUnlimited;
  std::int64_t used = 0;
};

class Tree {
 public:
  explicit Tree(const std::vector<Drawn>& queues)
      : pending_(*find_order("priority-age"), default_queue_order(), Millis(0)) {
    for (std::size_t i = 1; i < queues.size(); ++i) {
      QueueDefined defined{QueueId(i), QueueId(queues[i].parent), {kUnlimited, kUnlimited, kUnlimited}};
      defined.shares = {{{resource::kCpu, {}}, queues[i].nominal, queues[i].borrows, queues[i].lends}};
      tell(state_, defined, Millis(0));
    }
    cohorts_.emplace(state_, pending_);
    for (std::size_t i = 1; i < queues.size(); ++i) cohorts_->add(QueueId(i), {queues[i].used}, 1);
  }
  Cohorts& cohorts() { return *cohorts_; }

 private:
  State state_;
  PendingQueue pending_;
  std::optional<Cohorts> cohorts_;
};

TEST(KueueCohorts, LendWhatTheyDoNotKeep) {
  Tree tree({{}, {}, {.parent = 1, .nominal = 4, .lends = 1}, {.parent = 1, .nominal = 4, .used = 5}});
  EXPECT_EQ(tree.cohorts().subtree(0, QueueId(1u)), 5);
  EXPECT_EQ(tree.cohorts().available(0, QueueId(2u)), 3);
  EXPECT_EQ(tree.cohorts().available(0, QueueId(3u)), 0);
  EXPECT_EQ(tree.cohorts().potential(0, QueueId(2u)), 8);
  EXPECT_EQ(tree.cohorts().potential(0, QueueId(3u)), 5);
}

TEST(KueueCohorts, TellHowFarUpAJobBorrows) {
  Tree tree(
      {{}, {}, {.parent = 1}, {.parent = 2, .nominal = 2}, {.parent = 2, .nominal = 2}, {.parent = 1, .nominal = 9}});
  EXPECT_EQ(tree.cohorts().height_with(0, QueueId(3u), 2).height, 0);
  EXPECT_EQ(tree.cohorts().height_with(0, QueueId(3u), 3).height, 1);
  EXPECT_FALSE(tree.cohorts().height_with(0, QueueId(3u), 4).is_whole_tree);
  EXPECT_EQ(tree.cohorts().height_with(0, QueueId(3u), 5).height, 2);
  EXPECT_TRUE(tree.cohorts().height_with(0, QueueId(3u), 5).is_whole_tree);
}

/// The same from the definitions, with that much more used by one queue.
class ByDefinition {
 public:
  ByDefinition(const std::vector<Drawn>& queues, std::size_t queue, std::int64_t more) : queues_(queues) {
    queues_[queue].used += more;
  }
  /// Whether it breaks no limit on the way up from the queue.
  bool is_allowed(std::size_t queue) const {
    for (std::size_t x = queue; x != 0; x = queues_[x].parent) {
      if (queues_[x].parent == 0) return used(x) <= subtree(x);
      if (local(x) >= used(x)) return true;
      if (queues_[x].borrows != kUnlimited && used(x) > subtree(x) + queues_[x].borrows) return false;
    }
    return true;
  }

 private:
  bool is_leaf(std::size_t x) const {
    return std::ranges::none_of(queues_, [&](const Drawn& q) { return &q != queues_.data() && q.parent == x; });
  }
  std::int64_t subtree(std::size_t x) const {
    if (is_leaf(x)) return queues_[x].nominal;
    std::int64_t sum = 0;
    for (std::size_t c = 1; c < queues_.size(); ++c)
      if (queues_[c].parent == x) sum += subtree(c) - local(c);
    return sum;
  }
  std::int64_t local(std::size_t x) const {
    return queues_[x].lends == kUnlimited ? 0 : std::max<std::int64_t>(0, subtree(x) - queues_[x].lends);
  }
  std::int64_t used(std::size_t x) const {
    if (is_leaf(x)) return queues_[x].used;
    std::int64_t sum = 0;
    for (std::size_t c = 1; c < queues_.size(); ++c)
      if (queues_[c].parent == x) sum += std::max<std::int64_t>(0, used(c) - local(c));
    return sum;
  }
  std::vector<Drawn> queues_;
};

RC_GTEST_PROP(KueueCohorts, HaveAsMuchLeftAsTheLimitsAllow, ()) {
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(2, 9));
  std::vector<Drawn> queues(count);
  for (std::size_t i = 1; i < count; ++i) {
    queues[i].parent = static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(i)));
    if (*rc::gen::inRange(0, 2) == 0) queues[i].lends = *rc::gen::inRange(0, 5);
    if (*rc::gen::inRange(0, 2) == 0) queues[i].borrows = *rc::gen::inRange(0, 5);
  }
  for (std::size_t i = 1; i < count; ++i) {
    const bool is_leaf = std::none_of(queues.begin() + 1, queues.end(), [&](const Drawn& q) { return q.parent == i; });
    if (!is_leaf) continue;
    queues[i].nominal = *rc::gen::inRange(0, 7);
  }
  for (std::size_t i = 1; i < count; ++i) {
    if (queues[i].nominal == QuotaShare::kNotNamed) continue;
    queues[i].used = *rc::gen::inRange(0, 7);
    while (!ByDefinition(queues, i, 0).is_allowed(i)) --queues[i].used;
  }
  Tree tree(queues);
  for (std::size_t i = 1; i < count; ++i) {
    if (queues[i].nominal == QuotaShare::kNotNamed) continue;
    const std::int64_t left = tree.cohorts().available(0, QueueId(i));
    RC_ASSERT(left >= 0);
    RC_ASSERT(ByDefinition(queues, i, left).is_allowed(i));
    RC_ASSERT(!ByDefinition(queues, i, left + 1).is_allowed(i));
  }
}

}  // namespace
}  // namespace ashlar::kueue
