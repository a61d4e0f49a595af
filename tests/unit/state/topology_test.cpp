// Topology, buckets, timeline and queue tree: the parts of the state, each alone.
#include "state/cluster/topology.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "base/rng.h"
#include "state/queues/queue_tree.h"
#include "state/time/timeline.h"

namespace ashlar {
namespace {

std::vector<NodeId> nodes(std::span<const NodeId> span) { return {span.begin(), span.end()}; }
DomainId domain(std::uint32_t row) { return DomainId(row); }

Topology two_racks() {
  Topology t;
  t.define_levels(2, 1);
  for (std::uint32_t n = 0; n < 4; ++n) {
    const std::vector<DomainId> domains{domain(0), domain(n / 2), domain(n % 2)};
    t.place(NodeId(n), domains);
  }
  return t;
}

TEST(Topology, KnowsTheNodesOfADomainInAscendingOrder) {
  const Topology t = two_racks();
  EXPECT_EQ(nodes(t.nodes_of(LevelId(1u), domain(1))), (std::vector{NodeId(2u), NodeId(3u)}));
  EXPECT_EQ(nodes(t.nodes_of(LevelId(2u), domain(1))), (std::vector{NodeId(1u), NodeId(3u)}));
  EXPECT_EQ(t.domain_of(LevelId(1u), NodeId(2u)), domain(1));
  EXPECT_EQ(t.level_count(), 3u);
  EXPECT_EQ(t.nested_count(), 2u);
}

TEST(Topology, GroupsNodesByTheirInnermostNestedDomain) {
  const Topology t = two_racks();
  EXPECT_EQ(t.group_of(NodeId(0u)), t.group_of(NodeId(1u)));
  EXPECT_NE(t.group_of(NodeId(1u)), t.group_of(NodeId(2u)));
  EXPECT_EQ(t.group_count(), 2u);
}

TEST(Topology, GroupsNodesWithoutADomainByRows) {
  Topology t;
  for (std::uint32_t n = 0; n < 2 * Topology::kRowsPerChunk; ++n) t.place(NodeId(n), {});
  EXPECT_EQ(t.group_count(), 2u);
  EXPECT_EQ(t.nodes_of_group(t.group_of(NodeId(0u))).size(), Topology::kRowsPerChunk);
}

TEST(Topology, MovesANodeOutOfItsFormerDomains) {
  Topology t = two_racks();
  const std::vector<DomainId> elsewhere{domain(0), domain(5), DomainId::none()};
  t.place(NodeId(0u), elsewhere);
  EXPECT_EQ(nodes(t.nodes_of(LevelId(1u), domain(0))), (std::vector{NodeId(1u)}));
  EXPECT_EQ(nodes(t.nodes_of(LevelId(1u), domain(5))), (std::vector{NodeId(0u)}));
  EXPECT_TRUE(t.domain_of(LevelId(2u), NodeId(0u)).is_none());
  EXPECT_EQ(t.nodes_of_group(t.group_of(NodeId(0u))).size(), 1u);
}

TEST(Topology, ChangesItsShapeVersionOnlyWhenANodeMoves) {
  Topology t = two_racks();
  const std::uint64_t version = t.shape_version();
  t.place(NodeId(0u), std::vector<DomainId>{domain(0), domain(0), domain(0)});
  EXPECT_EQ(t.shape_version(), version);
  t.remove(NodeId(0u));
  EXPECT_GT(t.shape_version(), version);
}

TEST(Topology, ForgetsARemovedNode) {
  Topology t = two_racks();
  t.remove(NodeId(3u));
  t.remove(NodeId(3u));
  EXPECT_TRUE(t.group_of(NodeId(3u)).is_none());
  EXPECT_EQ(nodes(t.nodes_of(LevelId(1u), domain(1))), (std::vector{NodeId(2u)}));
}

TEST(Timeline, FindsTheFirstTimeAtWhichEnoughIsFree) {
  Timeline timeline;
  timeline.add_end({Millis(300), 8, JobId(1u)});
  timeline.add_end({Millis(100), 2, JobId(2u)});
  timeline.add_end({Millis(200), 4, JobId(3u)});
  EXPECT_EQ(timeline.earliest(1, 1).at, Millis(0));
  EXPECT_EQ(timeline.earliest(1, 3).at, Millis(100));
  const Timeline::Window window = timeline.earliest(1, 6);
  EXPECT_EQ(window.at, Millis(200));
  EXPECT_EQ(window.extra, 1);
  EXPECT_EQ(timeline.earliest(1, 16).at, Millis::max());
}

TEST(Timeline, NeverCountsOnJobsOfUnknownDuration) {
  Timeline timeline;
  timeline.add_end({Millis::max(), 8, JobId(1u)});
  EXPECT_EQ(timeline.earliest(0, 1).at, Millis::max());
}

TEST(Timeline, ForgetsAnEndThatIsRemoved) {
  Timeline timeline;
  timeline.add_end({Millis(100), 8, JobId(1u)});
  timeline.add_end({Millis(100), 8, JobId(2u)});
  timeline.remove_end({Millis(100), 8, JobId(1u)});
  ASSERT_EQ(timeline.ends().size(), 1u);
  EXPECT_EQ(timeline.ends().front().job, JobId(2u));
}

std::vector<Timeline::End> listed(const Timeline& timeline) {
  std::vector<Timeline::End> ends;
  for (const Timeline::End& end : timeline.ends()) ends.push_back(end);
  return ends;
}

TEST(Timeline, ListsEndsInOrderHoweverTheyComeAndGo) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    Timeline timeline;
    std::set<Timeline::End> naive;
    std::size_t wanted = 0;
    for (int step = 0; step < 4000; ++step) {
      if (step % 500 == 0) wanted = rng.below(1500);
      if (naive.size() < wanted) {
        const Timeline::End end{Millis(static_cast<std::int64_t>(rng.below(300))),
                                static_cast<std::int64_t>(rng.below(3)), JobId(static_cast<std::uint32_t>(step))};
        timeline.add_end(end);
        naive.insert(end);
      } else if (!naive.empty()) {
        auto it = naive.begin();
        if (seed % 2 == 0) std::advance(it, static_cast<std::ptrdiff_t>(rng.below(naive.size())));
        timeline.remove_end(*it);
        naive.erase(it);
      }
      if (step % 97 != 0) continue;
      ASSERT_EQ(timeline.ends().size(), naive.size()) << "seed " << seed;
      ASSERT_TRUE(listed(timeline) == std::vector(naive.begin(), naive.end())) << "seed " << seed << " step " << step;
    }
  }
}

TEST(TimelineDeathTest, RemovingAnEndThatIsNotThereIsABug) {
  Timeline timeline;
  EXPECT_DEATH(timeline.remove_end({Millis(100), 8, JobId(1u)}), "this must hold");
}

QuotaVector gpus(std::int64_t milli) { return {milli, 0, 0}; }
constexpr QueueId kOrg{1u}, kTeam{2u}, kOtherQueue{3u};

QueueTree org_with_teams() {
  QueueTree tree;
  tree.define(kOrg, QueueId(0u), {10'000, kUnlimited, kUnlimited});
  tree.define(kTeam, kOrg, {8'000, kUnlimited, kUnlimited});
  tree.define(kOtherQueue, kOrg, {8'000, kUnlimited, kUnlimited});
  return tree;
}

TEST(QueueTree, ChargesAQueueAndItsAncestors) {
  QueueTree tree = org_with_teams();
  for (int i = 0; i < 3; ++i) tree.charge(kTeam, gpus(2'000), 1);
  EXPECT_EQ(tree.used(kTeam)[0], 6'000);
  EXPECT_EQ(tree.used(kOrg)[0], 6'000);
  EXPECT_EQ(tree.used(QueueId(0u))[0], 6'000);
  EXPECT_EQ(tree.used(kOtherQueue)[0], 0);
  for (int i = 0; i < 3; ++i) tree.charge(kTeam, gpus(2'000), -1);
  EXPECT_EQ(tree.used(QueueId(0u))[0], 0);
}

TEST(QueueTree, NamesTheLimitThatBinds) {
  QueueTree tree = org_with_teams();
  tree.charge(kTeam, gpus(8'000), 1);
  EXPECT_FALSE(tree.refusal(kOtherQueue, gpus(2'000)));
  const auto refusal = tree.refusal(kOtherQueue, gpus(4'000));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, ReasonCode::kQuotaExhausted);
  EXPECT_EQ(refusal->subject, kOrg.value);
  EXPECT_EQ(refusal->numbers, (std::array<std::int64_t, 3>{0, 8'000, 10'000}));
}

TEST(QueueTree, SaysWhenEvenTheEmptyQueueIsTooSmall) {
  QueueTree tree = org_with_teams();
  tree.charge(kOtherQueue, gpus(8'000), 1);
  const auto refusal = tree.refusal(kTeam, gpus(9'000));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, ReasonCode::kExceedsQuota);
  EXPECT_EQ(refusal->subject, kTeam.value);
}

TEST(QueueTree, AQueueWithoutALimitRefusesNothing) {
  QueueTree tree;
  tree.charge(QueueId(9u), gpus(1'000'000'000), 1);
  EXPECT_FALSE(tree.refusal(QueueId(9u), gpus(1'000'000'000)));
  EXPECT_FALSE(tree.refusal(QueueId(77u), gpus(1)));
}

TEST(QueueTree, MovesUsageWhenAQueueGetsAnotherParent) {
  QueueTree tree = org_with_teams();
  tree.charge(kTeam, gpus(3'000), 1);
  tree.define(kTeam, QueueId(0u), gpus(kUnlimited));
  EXPECT_EQ(tree.used(kOrg)[0], 0);
  EXPECT_EQ(tree.used(QueueId(0u))[0], 3'000);
  tree.define(kTeam, kOrg, gpus(kUnlimited));
  EXPECT_EQ(tree.used(kOrg)[0], 3'000);
}

TEST(QueueTree, TakesNoCycleForAParent) {
  QueueTree tree = org_with_teams();
  tree.define(kOrg, kTeam, gpus(kUnlimited));
  EXPECT_EQ(tree.parent(kOrg), QueueId(0u));
  EXPECT_EQ(tree.parent(kTeam), kOrg);
}

TEST(QueueTree, AChildDefinedBeforeItsParentMovesToItWithItsUsage) {
  QueueTree tree;
  tree.define(kTeam, kOrg, gpus(kUnlimited));
  tree.charge(kTeam, gpus(3'000), 1);
  EXPECT_EQ(tree.parent(kTeam), QueueId(0u));
  tree.define(kOrg, QueueId(0u), {2'000, kUnlimited, kUnlimited});
  EXPECT_EQ(tree.parent(kTeam), kOrg);
  EXPECT_EQ(tree.used(kOrg)[0], 3'000);
  EXPECT_EQ(tree.used(QueueId(0u))[0], 3'000);
  EXPECT_EQ(tree.refusal(kTeam, gpus(1'000))->subject, kOrg.value);
}

TEST(QueueTree, AParentThatClosedACycleIsTriedAgainWhenTheCycleIsGone) {
  QueueTree tree = org_with_teams();
  tree.define(kOrg, kTeam, gpus(kUnlimited));
  EXPECT_EQ(tree.parent(kOrg), QueueId(0u));
  tree.define(kTeam, QueueId(0u), gpus(kUnlimited));
  EXPECT_EQ(tree.parent(kOrg), kTeam);
}

TEST(QueueTree, CountsTheQueuesBelowAgainstTheDepth) {
  QueueTree tree;
  const auto chain = [&](std::uint32_t first, std::uint32_t last, QueueId top) {
    for (std::uint32_t q = first; q <= last; ++q)
      tree.define(QueueId(q), q == first ? top : QueueId(q - 1), gpus(kUnlimited));
  };
  chain(1, 10, QueueId(0u));
  chain(11, 17, QueueId(10u));  // the last but one is the sixteenth
  EXPECT_EQ(tree.parent(QueueId(16u)), QueueId(15u));
  EXPECT_EQ(tree.parent(QueueId(17u)), QueueId(0u)) << "too deep";
  tree.define(QueueId(11u), QueueId(9u), gpus(kUnlimited));
  EXPECT_EQ(tree.parent(QueueId(17u)), QueueId(16u));
  tree.define(QueueId(11u), QueueId(10u), gpus(kUnlimited));
  EXPECT_EQ(tree.parent(QueueId(11u)), QueueId(0u)) << "seven queues from here on, ten above";
}

/// The same rules without an index: usage is summed anew, and who may move is found by trying everybody.
struct NaiveTree {
  std::map<std::uint32_t, std::uint32_t> wanted, parent;  // of known queues; 0 is the root
  std::map<std::uint32_t, std::int64_t> charged;

  bool is_below(std::uint32_t queue, std::uint32_t above) const {
    for (; queue != 0; queue = parent.contains(queue) ? parent.at(queue) : 0)
      if (queue == above) return true;
    return above == 0;
  }
  int depth(std::uint32_t queue) const {
    int depth = 0;
    for (; queue != 0; queue = parent.contains(queue) ? parent.at(queue) : 0) ++depth;
    return depth;
  }
  bool may_hang(std::uint32_t queue, std::uint32_t under) const {
    if (under == 0 || parent.at(queue) == under) return true;
    if (!parent.contains(under) || is_below(under, queue)) return false;
    int deepest = 0;
    for (const auto& [q, p] : parent)
      if (is_below(q, queue)) deepest = std::max(deepest, depth(q) - depth(queue) + 1);
    return depth(under) + deepest <= QueueTree::kDepthMax;
  }
  void define(std::uint32_t queue, std::uint32_t under) {
    wanted[queue] = under;
    parent.try_emplace(queue, 0);
    parent[queue] = may_hang(queue, under) ? under : 0;
    for (const auto& [q, w] : wanted)
      if (q != queue && parent[q] != w && may_hang(q, w)) parent[q] = w;
  }
  std::int64_t used(std::uint32_t queue) const {
    std::int64_t sum = 0;
    for (const auto& [q, amount] : charged) sum += is_below(q, queue) ? amount : 0;
    return sum;
  }
};

TEST(QueueTree, IsWhatANaiveTreeIsWhateverIsDefinedInWhateverOrder) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    const auto queues = static_cast<std::uint32_t>(3 + rng.below(seed % 2 == 0 ? 6 : 40));
    QueueTree tree;
    NaiveTree naive;
    for (int step = 0; step < 120; ++step) {
      const auto queue = static_cast<std::uint32_t>(1 + rng.below(queues));
      if (rng.below(3) == 0) {
        const auto amount = static_cast<std::int64_t>(rng.below(9));
        tree.charge(QueueId(queue), gpus(amount), 1);
        naive.charged[queue] += amount;
      } else {
        // long chains too
        const auto under = static_cast<std::uint32_t>(rng.below(2) == 0 ? queue - 1 : rng.below(queues + 1));
        tree.define(QueueId(queue), QueueId(under), gpus(kUnlimited));
        naive.define(queue, under);
      }
      ASSERT_TRUE(tree.is_consistent()) << "seed " << seed << " step " << step;
      for (const auto& [q, p] : naive.parent) ASSERT_EQ(tree.parent(QueueId(q)), QueueId(p)) << "seed " << seed;
      for (std::uint32_t q = 0; q < tree.rows(); ++q)
        ASSERT_EQ(tree.used(QueueId(q))[0], naive.used(q)) << "seed " << seed << " step " << step << " queue " << q;
    }
  }
}

TEST(QueueTree, LimitsAnythingByDeviceClass) {
  constexpr DeviceClassId kH100{0u};
  const QuotaKey gpus_on_h100{ResourceId::none(), kH100}, pods{resource::kPods, {}};
  const QuotaVector none{kUnlimited, kUnlimited, kUnlimited};
  QueueTree tree;
  const std::vector<QuotaLimit> limits{{gpus_on_h100, 6000}, {pods, 2}};
  tree.define(kOrg, QueueId(0u), none, limits);
  tree.define(kTeam, kOrg, none);
  EXPECT_TRUE(tree.is_limited(kTeam));
  EXPECT_FALSE(tree.is_limited(QueueId(0u)));
  tree.charge(std::size_t{0}, kTeam, 4000);
  tree.charge(std::size_t{1}, kTeam, 2);
  EXPECT_EQ(tree.used(0, kOrg), 4000);
  EXPECT_EQ(tree.used(1, kOrg), 2);
  EXPECT_FALSE(tree.refusal(0, kTeam, 2000));
  const auto refusal = tree.refusal(0, kTeam, 4000);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(*refusal, (Reason{ReasonCode::kQuotaExhausted, kOrg.value, {quota_number(gpus_on_h100), 4000, 6000}}));
  EXPECT_EQ(tree.refusal(1, kTeam, 3)->code, ReasonCode::kExceedsQuota);
  tree.define(kTeam, QueueId(0u), none);
  EXPECT_EQ(tree.used(0, kOrg), 0) << "usage moves with the queue";
  EXPECT_EQ(tree.used(0, QueueId(0u)), 4000);
  tree.define(kOrg, QueueId(0u), none);
  EXPECT_FALSE(tree.is_limited(kOrg)) << "what is not named is unlimited";
}

TEST(QueueTree, HasADigestOfWhatIsUsed) {
  QueueTree tree = org_with_teams();
  const std::uint64_t empty = tree.digest();
  tree.charge(kTeam, gpus(1'000), 1);
  const std::uint64_t used = tree.digest();
  EXPECT_NE(used, empty);
  tree.charge(kTeam, gpus(1'000), -1);
  tree.charge(kOtherQueue, gpus(1'000), 1);
  EXPECT_NE(tree.digest(), used);
  tree.charge(kOtherQueue, gpus(1'000), -1);
  EXPECT_EQ(tree.digest(), empty);
}

TEST(Quota, OfAMemberCountsDevicesCoresAndMemory) {
  Demand demand{.amounts = {{resource::kCpu, 4000}, {resource::kMemory, 1 << 30}},
                .devices = {2, MilliGpu(1000), MiB(0)}};
  EXPECT_EQ(quota_of(demand), (QuotaVector{2000, 4000, 1 << 30}));
  demand.devices = {1, MilliGpu(250), MiB(0)};
  EXPECT_EQ(quota_of(demand)[0], 250);
}

}  // namespace
}  // namespace ashlar
