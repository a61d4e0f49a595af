// Pods with writes before their binding: in order, then the wait, then the binding; and all of it taken back when a pod
// is given up.
#include "commit_bench.h"

namespace ashlar::kube {
namespace {

TEST_F(Preparation, WritesInOrderAndBindsThen) {
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  const std::vector<std::string> all = server.seen({""});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].starts_with("PATCH " + Volumes::path(0) + " p0"));
  EXPECT_TRUE(all[1].starts_with("PATCH " + Volumes::path(1) + " p0"));
  EXPECT_TRUE(all[2].starts_with("POST"));
  EXPECT_EQ(wants["p0"].ended, 1) << "its reservation ends with the binding";
  EXPECT_EQ(wants["p0"].given_up, 0);
  EXPECT_EQ(binder->counters().writes, 2u);
}

TEST_F(Preparation, APodWithoutAnySendsItsBindingOnly) {
  wants.clear();
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(server.seen({""}).size(), 1u);
}

TEST_F(Preparation, APodThatOnlyWaitsWritesNothing) {
  wants["p0"] = {.volumes = 0, .wait = {WaitState::kNotYet, "claim ns/data is not bound"}};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  EXPECT_EQ(phase(), Phase::kAssumed);
  EXPECT_TRUE(binder->is_idle()) << "conditions may be written meanwhile";
  EXPECT_EQ(binder->in_window(), 0u) << "it takes no place of others";
  wants["p0"].wait = {};
  binder->look_again(tracker.pods().find(PooledString("ns"), PooledString("p0")));
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(server.seen({""}).size(), 1u);
}

TEST_F(Preparation, IsLookedAtOnceASecondWithoutAReport) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  wants["p0"].wait = {};
  server.poll_for(Millis(20));
  binder->pump();
  EXPECT_EQ(binder->waiting(), 1u);
  skipped = Millis(1'100);
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
}

TEST_F(Preparation, PodsThatComeToWaitDoNotPutOffTheNextLook) {
  binder = binder_with({.look_every = Millis(60'000)});
  for (const char* name : {"p0", "p1"})
    wants[name] = {.volumes = 0, .wait = {WaitState::kNotYet, "claim ns/data is not bound"}};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  skipped = Millis(40'000);
  see(pod("p1", 1));
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return binder->waiting() == 2; }));
  wants["p0"].wait = {};
  skipped = Millis(61'000);
  binder->pump();
  EXPECT_EQ(binder->waiting(), 1u);
}

TEST_F(Preparation, OfManyThatWaitATenthIsLookedAtAtATime) {
  binder = binder_with({.look_every = Millis(60'000)});
  wants.clear();
  for (int i = 0; i < 50; ++i) {
    see(pod("p" + std::to_string(i), 0));
    wants["p" + std::to_string(i)] = {.volumes = 0, .wait = {WaitState::kNotYet, "claim ns/data is not bound"}};
  }
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return binder->waiting() == 50; }));
  const auto looked = [&] {
    int sum = 0;
    for (const auto& [name, wanted] : wants) sum += wanted.looked;
    return sum;
  };
  ASSERT_EQ(looked(), 50);
  for (int part = 1; part <= 10; ++part) {
    skipped = Millis(54'500 + 6'500 * part);
    binder->pump();
    EXPECT_EQ(looked(), 50 + 5 * part);
  }
  for (const auto& [name, wanted] : wants) EXPECT_EQ(wanted.looked, 2) << name;
}

TEST_F(Preparation, WhenTheSecondWriteIsRefusedTheFirstIsTakenBack) {
  server.change([&] { volumes.answer("PATCH", 1, {422}); });
  place();
  expect_held("volume pv-1: HTTP 422: no");
  EXPECT_EQ(wants["p0"].given_up, 1);
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "");
  EXPECT_EQ(owner(1), "");
  EXPECT_EQ(binder->counters().writes_taken_back, 1u);
}

TEST_F(Preparation, AWaitThatTakesTooLongIsTakenBackAndTheConditionSaysWhy) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  skipped = Millis(599'000);
  server.poll_for(Millis(20));
  binder->pump();
  EXPECT_EQ(phase(), Phase::kAssumed);
  skipped = Millis(601'500);
  expect_held("claim ns/data is not bound, after 600 s");
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "");
  EXPECT_EQ(owner(1), "");
  EXPECT_EQ(binder->counters().writes_taken_back, 2u);
}

TEST_F(Preparation, AWaitThatCannotComeTrueEndsAtOnce) {
  wants["p0"].wait = {WaitState::kBroken, "claim ns/data was removed"};
  place();
  expect_held("claim ns/data was removed");
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(sent("GET", 2), 0u) << "there are two writes";
}

TEST_F(Preparation, AWriteWhoseAnswerIsLostIsReadAgainAndNotWrittenTwice) {
  server.change([&] { volumes.answer("PATCH", 0, {Volumes::kLost}); });
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(sent("PATCH", 0), 1u);
  EXPECT_EQ(sent("GET", 0), 1u);
}

TEST_F(Preparation, AnAnswerThatShowsNoVolumeConfirmsNothing) {
  server.change([&] {
    volumes.answer("PATCH", 0, {Volumes::kPage});
    volumes.answer("GET", 0, {Volumes::kPage, 503});
  });
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(sent("GET", 0), 3u);
}

TEST_F(Preparation, AWriteThatIsFoundUndoneIsSentAgainTwiceAndGivenUp) {
  server.change([&] { volumes.answer("PATCH", 0, {409, 409, 409}); });
  place();
  expect_held("volume pv-0: HTTP 409: no");
  EXPECT_EQ(sent("PATCH", 0), 3u);
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(sent("PATCH", 0), 3u) << "there is nothing to take back";
}

TEST_F(Preparation, AWriteIsMadeOfItsOwnObjectNotOfTheLast) {
  server.change([&] { volumes.answer("PATCH", 0, {409}); });
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(wants["p0"].read, (std::vector<std::string>{"", Volumes::body(""), ""}));
}

TEST_F(Preparation, AnObjectThatIsAnothersOrGoneEndsItAtOnce) {
  server.change([&] {
    volumes.answer("PATCH", 0, {409});
    volumes.owners[Volumes::path(0)] = "another";
  });
  place();
  expect_held("volume pv-0 was changed by another writer");
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "another") << "what others wrote stays";
  gone(pod("p0", 1));
  wants["p0"] = {};
  server.change([&] {
    volumes.owners.clear();
    volumes.answer("PATCH", 0, {404});
    volumes.answer("GET", 0, {404, 404});
  });
  place();
  expect_held("volume pv-0 does not exist");
  ASSERT_TRUE(is_taken_back());
}

TEST_F(Preparation, AThrottledWriteIsSentAgainAndGivenUpAfterHalfAMinute) {
  server.change([&] { volumes.answer("PATCH", 0, {429}); });
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(sent("PATCH", 0), 2u);
  EXPECT_EQ(sent("GET", 0), 0u);
  gone(pod("p0", 1));
  wants["p0"] = {};
  server.forget();
  server.change([&] { volumes.answer("PATCH", 0, std::vector<int>(1'000, 429)); });
  place();
  ASSERT_TRUE(until([&] { return sent("PATCH", 0) == 1; }));
  ASSERT_TRUE(until([&] { return binder->in_flight() == 0; }));
  skipped = Millis(31'000);
  expect_held("volume pv-0: HTTP 429: no");
}

TEST_F(Preparation, APodThatIsDeletedMeanwhileLeavesNothingBehind) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  gone(pod("p0", 1));
  skipped = Millis(1'100);
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "");
  EXPECT_EQ(owner(1), "");
  step();
  EXPECT_EQ(idle_devices("n"), 8);
  EXPECT_EQ(server.count({"POST"}), 0u);
}

TEST_F(Preparation, APodThatIsDeletedWhileAWriteIsUnderWayLeavesNothingBehind) {
  server.hold();
  place();
  ASSERT_TRUE(server.until([&] { return server.count({"PATCH"}) == 1; }));
  gone(pod("p0", 1));
  server.let_go();
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "");
  EXPECT_EQ(sent("PATCH", 1), 0u);
}

TEST_F(Preparation, OfANodeThatIsRemovedItIsTakenBackAndDecidedAgain) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  gone(node("n", 8));
  EXPECT_EQ(phase(), Phase::kWaiting) << "it was bound nowhere, and need not wait for an answer";
  see(node("m", 8));
  skipped = Millis(1'100);
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "");
  wants["p0"] = {};
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(where("p0"), "m");
}

TEST_F(Preparation, ANewPlaceIsPreparedOnlyWhenTheLastIsTakenBack) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  server.change([&] { volumes.answer("GET", 1, {503, 503}); });
  gone(node("n", 8));
  see(node("m", 8));
  skipped = Millis(1'100);
  binder->pump();
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return sent("GET", 1) == 1; }));
  EXPECT_EQ(sent("PATCH", 0), 1u);
  wants["p0"].wait = {};
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  const std::vector<std::string> first = server.seen({"PATCH", Volumes::path(0)});
  ASSERT_EQ(first.size(), 3u) << "written, taken back, written";
  EXPECT_EQ(owner(0), "p0");
  EXPECT_EQ(owner(1), "p0");
}

TEST_F(Preparation, AChangeByItsOwnerWhileItWaitsIsDecidedOnAgain) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  see(with(pod("p0", 1), "licence", "yes"));
  skipped = Millis(1'100);
  ASSERT_TRUE(until([&] { return phase() == Phase::kWaiting; }));
  ASSERT_TRUE(is_taken_back());
}

TEST_F(Preparation, NothingIsWrittenWhileTheRightToWriteIsAway) {
  wants["p0"].wait = {WaitState::kBroken, "claim ns/data was removed"};
  server.hold();
  place();
  ASSERT_TRUE(server.until([&] { return server.count({"PATCH"}) == 1; }));
  is_leading = false;
  server.let_go();
  ASSERT_TRUE(server.until([&] { return binder->in_flight() == 0; }));
  server.poll_for(Millis(50));
  binder->pump();
  EXPECT_EQ(sent("PATCH", 0), 1u);
  EXPECT_EQ(sent("PATCH", 1), 0u);
  is_leading = true;
  expect_held("claim ns/data was removed");
  is_leading = false;
  server.poll_for(Millis(50));
  binder->pump();
  const std::size_t written = sent("PATCH", 0) + sent("PATCH", 1);
  server.poll_for(Millis(50));
  binder->pump();
  EXPECT_EQ(sent("PATCH", 0) + sent("PATCH", 1), written);
  is_leading = true;
  ASSERT_TRUE(is_taken_back());
}

TEST_F(Preparation, WithTheLeadershipAllEndsAndTheNextLeaderFindsWhatIsWritten) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  server.forget();
  binder.reset();
  EXPECT_EQ(wants["p0"].ended, 1);
  server.poll_for(Millis(50));
  EXPECT_EQ(server.seen({""}).size(), 0u);
  EXPECT_EQ(owner(0), "p0");
  binder = binder_with({});
}

TEST_F(Preparation, AnUndoThatIsRefusedIsLoggedAndTheOthersAreTakenBack) {
  wants["p0"].wait = {WaitState::kBroken, "claim ns/data was removed"};
  server.change([&] { volumes.answer("PATCH", 1, {200, 403}); });
  place();
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "");
  EXPECT_EQ(owner(1), "p0");
  EXPECT_EQ(binder->counters().writes_left, 1u);
  ASSERT_FALSE(warnings.empty());
  EXPECT_EQ(warnings.back(), "what was written to volume pv-1 for pod ns/p0 cannot be taken back: HTTP 403: no");
}

TEST_F(Preparation, AnUndoIsReadAgainAfterAConflictThrottledAndUnknownAnswers) {
  wants["p0"].wait = {WaitState::kBroken, "claim ns/data was removed"};
  server.change([&] {
    volumes.answer("PATCH", 1, {200, 409, 429, Volumes::kLost});
    volumes.answer("PATCH", 0, {200, Volumes::kPage});
    volumes.answer("GET", 0, {Volumes::kPage, 200, 404});
  });
  place();
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(1), "");
  EXPECT_EQ(binder->counters().writes_left, 0u);
}

TEST_F(Preparation, AnUndoThatNeverTakesEffectEnds) {
  wants["p0"] = {.volumes = 1, .wait = {WaitState::kBroken, "claim ns/data was removed"}};
  server.change([&] { volumes.answer("PATCH", 0, {200, 409, 409, 409, 409, 409}); });
  place();
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(sent("PATCH", 0), 4u) << "written, and tried three times";
  EXPECT_EQ(binder->counters().writes_left, 1u);
}

TEST_F(Preparation, EachUndoHasItsOwnTries) {
  wants["p0"].wait = {WaitState::kBroken, "claim ns/data was removed"};
  server.change([&] {
    for (const std::size_t i : {0, 1}) volumes.answer("PATCH", i, {200, 409, 409});
  });
  place();
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "");
  EXPECT_EQ(owner(1), "");
  EXPECT_EQ(binder->counters().writes_left, 0u);
}

TEST_F(Preparation, OfAGangWithAMemberThatCannotBePreparedNothingIsWritten) {
  wants.clear();
  for (int i = 0; i < 3; ++i) {
    see(gang_pod("g", i, 3, 1));
    wants["g-" + std::to_string(i)] = {};
  }
  wants["g-2"].problem = "node n has no volumes left";
  step();
  binder->submit(plan);
  for (const char* name : {"g-0", "g-1", "g-2"}) EXPECT_EQ(phase(name), Phase::kWaiting) << name;
  ASSERT_TRUE(until([&] { return binder->queued() == 0 && binder->is_idle(); }));
  server.poll_for(Millis(20));
  EXPECT_EQ(server.seen({""}).size(), 0u);
  EXPECT_EQ(tracker.hold_condition(record("g-0")).message,
            "BindFailed: gang g waits: pod g-2 could not be bound: node n has no volumes left");
  for (const auto& [name, wanted] : wants) EXPECT_EQ(wanted.ended, 1) << name;
}

TEST_F(Preparation, OfAGangWithAMemberWhoseClaimForOnePodAnotherHasNothingIsWritten) {
  wants.clear();
  PersistentVolumeClaim claim;
  claim.ns = "ns";
  claim.name = "data";
  claim.uid = "uid-data";
  claim.access_modes = {"ReadWriteOncePod"};
  claim.volume_name = "v";
  claim.is_bind_completed = true;
  tracker.take(Change<PersistentVolumeClaim>{Change<PersistentVolumeClaim>::Kind::kModified, claim});
  PersistentVolume volume;
  volume.name = "v";
  volume.uid = "uid-v";
  tracker.take(Change<PersistentVolume>{Change<PersistentVolume>::Kind::kModified, volume});
  PodVolumes volumes;
  volumes.claims.push_back({"data", false});
  const auto shared = std::make_shared<const PodVolumes>(std::move(volumes));
  const auto with_claim = [&](Pod p) {
    p.volumes = shared;
    return p;
  };
  for (int i = 0; i < 2; ++i) {
    see(i == 1 ? with_claim(gang_pod("g", i, 2, 1)) : gang_pod("g", i, 2, 1));
    wants["g-" + std::to_string(i)] = {};
  }
  Pod first = with_claim(pod("first", 1));
  first.priority = 9;
  see(first);
  step();
  ASSERT_EQ(plan.actions.size(), 3u);
  ASSERT_EQ(std::get<Bind>(plan.actions[0]).member, record("first").member);
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase("first") == Phase::kBound; }));
  for (const char* name : {"g-0", "g-1"}) EXPECT_NE(phase(name), Phase::kAssumed) << name;
  EXPECT_EQ(server.count({"PATCH"}), 0u);
}

TEST_F(Preparation, OfAGangWhoseMemberIsGivenUpTheOthersAreTakenBackToo) {
  binder = binder_with({.hold_min = Millis(3'600'000), .hold_max = Millis(3'600'000)});
  wants.clear();
  wants["g-0"] = {.volumes = 1, .wait = {WaitState::kNotYet, "claim ns/data is not bound"}};
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 2));
  step();
  server.change([&] { refused_pod = "g-1"; });
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return server.count({"POST", "g-1"}) == 1 && binder->is_idle(); }));
  skipped = Millis(1'100);
  ASSERT_TRUE(is_taken_back("g-0"));
  tracker.settle();
  EXPECT_EQ(owner(0), "");
  for (const char* name : {"g-0", "g-1"}) {
    EXPECT_EQ(phase(name), Phase::kWaiting) << name;
    EXPECT_EQ(tracker.hold_condition(record(name)).message,
              "BindFailed: gang g waits: pod g-1 could not be bound: HTTP 422: no");
  }
  step();
  EXPECT_EQ(idle_devices("n"), 8);
}

}  // namespace
}  // namespace ashlar::kube
