// Bytes of a profile that no build writes: each is reported for what it is.
#include <gtest/gtest.h>

#include "policy/score/fgd/mix_limit.h"
#include "random_world.h"
#include "store/codec.h"
#include "store/fields.h"

namespace ashlar::store {
namespace {

std::string error_of(const std::string& bytes) {
  const Result<Profile> read = profile_of(bytes);
  return read.ok() ? "" : read.error().message;
}

std::string error_of_profile(const std::function<void(Profile&)>& change) {
  Profile profile = profile_named("fgd");
  change(profile);
  return error_of(bytes_of(profile));
}

std::string error_of_class(const std::function<void(FgdClass&)>& change) {
  return error_of_profile([&](Profile& p) { change(p.mix.classes.back()); });
}

TEST(ProfileBytes, every_field_comes_back) {
  Profile profile = profile_named("fgd");
  profile.name = "mine";
  profile.order = find_order("srtf");
  profile.blocking = Blocking::kEasyByCount;
  profile.placement = PlacementRule::kConsolidate;
  profile.victim = VictimRule::kByQuotaUnverified;
  profile.grace = Millis(4321);
  profile.cadence = Millis(1234);
  profile.seed = 99;
  for (const bool is_default : {false, true}) {
    profile.is_default_domain_search = is_default;
    const Result<Profile> read = profile_of(bytes_of(profile));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->name, "mine");
    EXPECT_EQ(read->order->name, "srtf");
    EXPECT_EQ(read->blocking, Blocking::kEasyByCount);
    EXPECT_EQ(read->placement, PlacementRule::kConsolidate);
    EXPECT_EQ(read->victim, VictimRule::kByQuotaUnverified);
    EXPECT_EQ(read->grace, Millis(4321));
    EXPECT_EQ(read->cadence, Millis(1234));
    EXPECT_EQ(read->seed, 99u);
    EXPECT_EQ(read->is_default_domain_search, is_default);
    ASSERT_EQ(read->mix.classes.size(), 3u);
    EXPECT_EQ(read->mix.classes[1].cpu_milli, 1000);
    EXPECT_EQ(read->mix.classes[1].devices, 2);
    EXPECT_EQ(read->mix.classes[1].milli_each, 1000);
    EXPECT_EQ(read->mix.classes[1].models, std::vector<DeviceClassId>{DeviceClassId(1)});
    EXPECT_EQ(read->mix.classes[1].frequency, 0.3);
  }
}

TEST(ProfileBytes, the_order_of_queues_comes_back) {
  EXPECT_EQ(profile_of(bytes_of(profile_named(kByShare)))->queue_order->name, "least-share");
  EXPECT_EQ(profile_of(bytes_of(profile_named("ashlar")))->queue_order->name, "by-job");
}

// A rule that was added since is no fault of the log's; what the engine relies on is.
TEST(ProfileBytes, a_profile_that_cannot_decide_is_refused) {
  EXPECT_EQ(error_of_profile([](Profile& p) { p.feasible.pop_back(); }), "");
  EXPECT_EQ(error_of_profile([](Profile& p) { p.victim = VictimRule::kByQuotaUnverified; }).substr(0, 86),
            "the profile cannot decide: victim: by-quota-unverified needs an order of running jobs,");
  EXPECT_EQ(error_of_profile([](Profile& p) { p.grace = Millis(-1); }), "the profile's grace is impossible");
  EXPECT_EQ(error_of_profile([](Profile& p) {
              p.tiers.front() = {find_score("fgd"), find_score("random")};
            }),
            "the profile cannot decide: random must be alone in its tier");
}

TEST(ProfileBytes, a_mix_holds_so_many_classes) {
  const auto error_of_classes = [](std::size_t count) {
    return error_of_profile([&](Profile& p) { p.mix.classes.resize(count, p.mix.classes.front()); });
  };
  EXPECT_EQ(error_of_classes(kMixClassesMax), "");
  EXPECT_EQ(error_of_classes(kMixClassesMax + 1), "the profile's mix has more than 1024 classes");
}

TEST(ProfileBytes, policies_of_another_build_are_named) {
  const Profile profile = profile_named("fgd");
  const auto error_without = [&](std::string_view name) {
    std::string bytes = bytes_of(profile);
    const std::string written = static_cast<char>(name.size()) + std::string(name);
    const std::size_t at = bytes.find(written, profile.name.size() + 1);
    EXPECT_NE(at, std::string::npos) << name;
    bytes[at + 1] = '?';
    return error_of(bytes);
  };
  const auto told = [](const char* kind, std::string_view name) {
    return "the profile uses the " + std::string(kind) + " policy \"?" + std::string(name.substr(1)) +
           "\", which this build does not have";
  };
  EXPECT_EQ(error_without(profile.feasible.front()->name), told("feasible", profile.feasible.front()->name));
  EXPECT_EQ(error_without(profile.feasible.back()->name), told("feasible", profile.feasible.back()->name));
  EXPECT_EQ(error_without(profile.tiers.front().front()->name), told("score", profile.tiers.front().front()->name));
  EXPECT_EQ(error_without(profile.order->name), told("order", profile.order->name));
}

TEST(ProfileBytes, cut_bytes_are_told_with_their_place) {
  const std::string bytes = bytes_of(profile_named("ashlar"));
  EXPECT_EQ(error_of(""), "at byte 0: the bytes end early");
  EXPECT_EQ(error_of(bytes.substr(0, bytes.size() - 1)),
            "at byte " + std::to_string(bytes.size() - 1) + ": the bytes end early");
}

TEST(ProfileBytes, a_key_holds_so_many_tiers) {
  EXPECT_EQ(error_of_profile([](Profile& p) { p.tiers.assign(Profile::kTiersMax, p.tiers.front()); }), "");
  EXPECT_EQ(error_of_profile([](Profile& p) { p.tiers.assign(Profile::kTiersMax + 1, p.tiers.front()); }),
            "the profile has more than 4 tiers");
}

TEST(ProfileBytes, numbers_that_cannot_be_are_refused) {
  constexpr std::int64_t kYear = 366ll * 24 * 3600 * 1000;
  for (const std::int64_t cadence : {std::int64_t{0}, kYear})
    EXPECT_EQ(error_of_profile([&](Profile& p) { p.cadence = Millis(cadence); }), "");
  for (const std::int64_t cadence : {std::int64_t{-1}, kYear + 1})
    EXPECT_EQ(error_of_profile([&](Profile& p) { p.cadence = Millis(cadence); }),
              "the profile's cadence is impossible");
  EXPECT_EQ(error_of_profile([](Profile& p) {
              p.grace = Profile::kGraceMax;
              p.order = find_order("srtf");
              p.victim = VictimRule::kByQuotaUnverified;
            }),
            "");
  for (const Millis grace : {Millis(-1), Profile::kGraceMax + Millis(1)})
    EXPECT_EQ(error_of_profile([&](Profile& p) { p.grace = grace; }), "the profile's grace is impossible");
  EXPECT_EQ(error_of_class([](FgdClass& c) { c = {0, 0, 0, {}, 0}; }), "");
  EXPECT_EQ(error_of_class([](FgdClass& c) { c = {kNumberMax, kDevicesPerNodeMax, kWholeDevice, {}, 1}; }), "");
  const FgdClass impossible[] = {
      {-1, 0, 0, {}, 0}, {INT64_MAX, 0, 0, {}, 0},        {0, -1, 0, {}, 0},     {0, kDevicesPerNodeMax + 1, 0, {}, 0},
      {0, 0, -1, {}, 0}, {0, 0, kWholeDevice + 1, {}, 0}, {0, 0, 0, {}, -0.001}, {0, 0, 0, {}, 1.001}};
  for (const FgdClass& c : impossible)
    EXPECT_EQ(error_of_class([&](FgdClass& changed) { changed = c; }), "the profile's mix has an impossible class");
}

}  // namespace
}  // namespace ashlar::store
