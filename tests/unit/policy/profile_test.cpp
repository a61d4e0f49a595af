// The built-in profiles.
#include "policy/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/nearest_name.h"

namespace ashlar {
namespace {

using ::testing::HasSubstr;

TEST(Profiles, EveryBuiltInNameMakesACompleteProfile) {
  EXPECT_EQ(builtin_profile_names().front(), "ashlar");
  for (const std::string_view name : builtin_profile_names()) {
    const Result<Profile> p = builtin_profile(name);
    ASSERT_TRUE(p.ok()) << name;
    EXPECT_EQ(p->name, name);
    EXPECT_NE(p->order, nullptr);
    EXPECT_NE(p->device, nullptr);
    EXPECT_FALSE(p->feasible.empty());
    EXPECT_LE(p->tiers.size(), Profile::kTiersMax);
    EXPECT_TRUE(p->placement == PlacementRule::kConsolidate || !p->tiers.empty()) << name;
  }
}

TEST(Profiles, TheDefaultIsWhatTheDesignSays) {
  const Profile p = *builtin_profile("ashlar");
  EXPECT_EQ(p.feasible.size(), feasible_policies().size());
  ASSERT_EQ(p.tiers.size(), 3u);
  EXPECT_EQ(p.tiers[0].front()->name, "prefer");
  EXPECT_EQ(p.tiers[1].front()->name, "best-fit-domain");
  EXPECT_EQ(p.tiers[2].front()->name, "pack-tight");
  EXPECT_EQ(p.order->name, "priority-age");
  EXPECT_EQ(p.blocking, Blocking::kEasy);
  EXPECT_TRUE(p.is_allowed_live());
}

TEST(Profiles, OnlyThoseThatPreemptByQuotaBreakTheLaws) {
  for (const std::string_view name : builtin_profile_names()) {
    const Profile p = *builtin_profile(name);
    EXPECT_EQ(p.is_allowed_live(), name != "srtf" && name != "tiresias") << name;
    EXPECT_TRUE(p.victim == VictimRule::kNone || p.stops_in_turns() || p.order->running != nullptr) << name;
  }
}

TEST(Profiles, AMisspeltNameIsAnsweredWithTheNearestOne) {
  const Result<Profile> p = builtin_profile("best-fti");
  ASSERT_FALSE(p.ok());
  EXPECT_THAT(p.error().message, HasSubstr("unknown profile \"best-fti\"; did you mean \"best-fit\"?"));
  EXPECT_THAT(builtin_profile("zzzzzzzzzzzz").error().message, HasSubstr("known: ashlar, spread, fgd"));
}

TEST(NearestName, CountsEdits) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
  EXPECT_EQ(edit_distance("fdg", "fgd"), 1u) << "neighbours swapped";
}

}  // namespace
}  // namespace ashlar
