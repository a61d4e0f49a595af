// Which key the queue-order policies give a queue: by-job none, least-share its dominant share.
#include "policy/queue_order/queue_order.h"

#include <gtest/gtest.h>

#include <vector>

#include "policy/profile.h"

namespace ashlar {
namespace {

std::int64_t share(const std::vector<QueueUse>& uses) {
  const OrderKey key = least_share(uses);
  EXPECT_EQ(key, (OrderKey{key.major, 0})) << "like the key of a queue that is not defined yet";
  return key.major;
}

TEST(LeastShare, IsUsageOverTheLimitOfTheDominantResource) {
  EXPECT_EQ(share({}), 0);
  EXPECT_EQ(share({{0, 8000}, {0, 64'000}}), 0);
  EXPECT_EQ(share({{2000, 8000}, {8000, 64'000}}), kWholeShare / 4);
  EXPECT_EQ(share({{2000, 8000}, {48'000, 64'000}}), kWholeShare / 4 * 3);
  EXPECT_EQ(share({{12'000, 8000}}), kWholeShare / 2 * 3) << "beyond a limit that was lowered";
}

TEST(LeastShare, OfWhatIsNotAllowedAtAllIsTheLargest) {
  EXPECT_EQ(share({{0, 0}}), 0);
  EXPECT_EQ(share({{1, 0}}), INT64_MAX);
  EXPECT_EQ(share({{INT64_MAX / 4, 1}}), INT64_MAX) << "saturates";
}

TEST(QueueOrders, AreFoundByNameAndTheDefaultComparesNoQueues) {
  for (const QueueOrderPolicy& p : queue_order_policies()) EXPECT_EQ(find_queue_order(p.name), &p);
  EXPECT_EQ(find_queue_order("nonsense"), nullptr);
  EXPECT_EQ(default_queue_order().name, "by-job");
  EXPECT_EQ(default_queue_order().key, nullptr);
  for (const std::string_view name : builtin_profile_names())
    EXPECT_EQ(builtin_profile(name).value().queue_order, &default_queue_order()) << name;
}

TEST(QueueOrders, DoNotGoWithPreemptionByCount) {
  Profile profile = *builtin_profile("srtf");
  EXPECT_FALSE(validate(profile));
  profile.queue_order = find_queue_order("least-share");
  ASSERT_TRUE(validate(profile));
  EXPECT_EQ(validate(profile)->key, "queueOrder");
  EXPECT_NE(validate(profile)->text.find("only the queue order by-job, not least-share"), std::string::npos);
}

}  // namespace
}  // namespace ashlar
