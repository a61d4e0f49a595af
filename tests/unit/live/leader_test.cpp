// Who may write, and until when: the lease on a scripted server, with a monotonic clock that stands where it is put.
#include "live/lead/leader.h"

#include "live/read/read_api.h"
#include "scripted_api.h"

namespace ashlar::kube {
namespace {

class LeaderTest : public ::testing::Test {
 protected:
  /// One lease, with the API server's rule that an update names the version that it replaces.
  http::ServerResponse serve(const http::ServerRequest& request) {
    if (is_failing) return ScriptedApi::status(503);
    if (request.method == refused) return ScriptedApi::status(refusal_status, refusal);
    if (request.method == "GET") return version == 0 ? ScriptedApi::status(404) : http::json(200, text());
    const std::string named = field(request.body, "resourceVersion");
    if (request.method == "PUT" && named != std::to_string(version))
      return ScriptedApi::status(409, "the object has been modified");
    if (lies_about.empty()) holder = field(request.body, "holderIdentity");
    ++version;
    if (!lies_about.empty()) return http::json(200, text_of(lies_about));
    return http::json(request.method == "POST" ? 201 : 200, text());
  }
  std::string text() const { return text_of(holder); }
  std::string text_of(const std::string& of) const {
    return R"({"kind":"Lease","metadata":{"name":"l","namespace":"n","resourceVersion":")" + std::to_string(version) +
           R"("},"spec":{"holderIdentity":")" + of + R"(","leaseDurationSeconds":8,"leaseTransitions":1}})";
  }
  static std::string field(const std::string& body, const std::string& key) {
    const std::size_t at = body.find("\"" + key + "\":\"");
    if (at == std::string::npos) return "";
    const std::size_t from = at + key.size() + 4;
    return body.substr(from, body.find('"', from) - from);
  }
  void held_by(const std::string& name) {
    server.change([&] {
      holder = name;
      ++version;
    });
  }

  Leader& start() {
    // Timers run on the machine's clock: a short period. Deadline and duration are read from the clock below.
    leader = std::make_unique<Leader>(
        server.api(),
        LeaderOptions{.lease_namespace = "n", .lease_name = "l", .identity = "me", .retry_period = Millis(20)},
        Leader::Hooks{.may_take = [this] { return is_fit; },
                      .on_started = [this] { ++started; },
                      .on_stopped =
                          [this] {
                            ++stopped;
                            writes_at_stop = writes();
                          },
                      .log = [this](const std::string& line) { said.push_back(line); },
                      .monotonic = [this] { return now; }});
    leader->start();
    return *leader;
  }
  void lead() {
    start();
    ASSERT_TRUE(server.until([&] { return leader->may_write(); }));
  }
  /// No request is under way, and the next timer has not rung.
  void settle() {
    ASSERT_TRUE(server.until([&] { return server.api().in_flight() == 0; }));
  }
  std::size_t writes() { return server.count({"PUT"}) + server.count({"POST"}); }
  /// Lets some looks at the lease pass.
  void look_on() {
    const std::size_t before = server.count({"GET"});
    ASSERT_TRUE(server.until([&] { return server.count({"GET"}) >= before + 3; }));
  }

  int version = 0;
  std::string holder;
  std::string lies_about;  ///< not empty: it writes nothing and answers as if that one held the lease
  bool is_failing = false, is_fit = true;
  std::string refused, refusal;  ///< the method that the server refuses, and its words
  int refusal_status = 403;
  std::vector<std::string> said;
  Millis now{1'000'000};
  int started = 0, stopped = 0;
  std::size_t writes_at_stop = 0;
  std::unique_ptr<Leader> leader;
  ScriptedApi server{[this](const http::ServerRequest& request) { return serve(request); }};
};

TEST_F(LeaderTest, LeadsAtOnceWhereThereIsNoLease) {
  lead();
  EXPECT_EQ(started, 1);
  EXPECT_EQ(server.count({"POST"}), 1u);
  EXPECT_EQ(leader->holder(), "me");
}

TEST_F(LeaderTest, AnAnswerThatAnotherHoldsItIsNoLease) {
  lies_about = "liar";
  start();
  ASSERT_TRUE(server.until([&] { return writes() >= 3; }));
  EXPECT_FALSE(leader->may_write());
  EXPECT_EQ(started, 0);
}

TEST_F(LeaderTest, OneWhoLeadsAndIsAnsweredThatAnotherHoldsItLooksAgain) {
  lead();
  server.change([&] {
    holder = "other";
    lies_about = "other";
  });
  ASSERT_TRUE(server.until([&] { return stopped == 1; }));
  EXPECT_FALSE(leader->may_write());
}

TEST_F(LeaderTest, WritesNothingFromTheRenewDeadlineOn) {
  lead();
  settle();
  server.change([&] { is_failing = true; });
  now += Millis(4'999);
  EXPECT_TRUE(leader->may_write());
  now += Millis(1);
  EXPECT_FALSE(leader->may_write()) << "before anybody has noticed that the lease is lost";
  settle();
  const std::size_t before = writes();
  ASSERT_TRUE(server.until([&] { return stopped == 1; }));
  EXPECT_EQ(writes_at_stop, before) << "not even a renewal";
  EXPECT_FALSE(leader->is_leading());
}

TEST_F(LeaderTest, ARenewalShowsThatTheServerWorksWhereWritesFailForAnotherReason) {
  lead();
  RequestBudget& budget = server.api().budget();
  const auto fail = [&](int times, Millis at) {
    for (int i = 0; i < times; ++i) budget.end(budget.begin(at), {ServerHealth::kUnclear, Millis(0)}, at);
  };
  fail(15, now);
  const std::size_t before = writes();
  ASSERT_TRUE(server.until([&] { return writes() >= before + 2; }));
  fail(15, now + Millis(60'000));
  EXPECT_FALSE(budget.is_in_trouble());
}

TEST_F(LeaderTest, ARenewalAnsweredLateCountsFromWhenItWasSent) {
  lead();
  settle();
  now += Millis(4'900);
  server.hold();
  const std::size_t before = writes();
  ASSERT_TRUE(server.until([&] { return writes() > before; }));
  now += Millis(1'100);
  EXPECT_FALSE(leader->may_write());
  server.let_go();
  ASSERT_TRUE(server.until([&] { return leader->may_write(); })) << "the lease was ours all the time";
  EXPECT_EQ(stopped, 0);
  EXPECT_EQ(started, 1);
  server.hold();
  now += Millis(3'899);
  EXPECT_TRUE(leader->may_write());
  now += Millis(1);
  EXPECT_FALSE(leader->may_write());
}

TEST_F(LeaderTest, TakesOverWhatHasNotChangedForItsWholeDuration) {
  held_by("other");
  start();
  look_on();
  now += Millis(7'999);
  look_on();
  EXPECT_FALSE(leader->is_leading());
  held_by("other");  // renewed
  look_on();
  now += Millis(7'999);
  look_on();
  EXPECT_FALSE(leader->is_leading());
  EXPECT_EQ(leader->holder(), "other");
  now += Millis(1);
  ASSERT_TRUE(server.until([&] { return leader->may_write(); }));
  EXPECT_EQ(server.count({"PUT", R"("holderIdentity":"me")", R"("leaseTransitions":2)"}), 1u);
}

TEST_F(LeaderTest, StandsDownWhenSomebodyElseHoldsTheLease) {
  lead();
  held_by("other");
  ASSERT_TRUE(server.until([&] { return stopped == 1; }));
  EXPECT_FALSE(leader->may_write());
  look_on();
  EXPECT_EQ(leader->holder(), "other");
  EXPECT_EQ(started, 1);
}

TEST_F(LeaderTest, WhoCannotDoTheWorkDoesNotTakeTheLeaseFromAnother) {
  held_by("other");
  is_fit = false;
  start();
  look_on();
  now += Millis(8'001);
  look_on();
  EXPECT_FALSE(leader->is_leading());
  held_by("");  // given back
  look_on();
  EXPECT_FALSE(leader->is_leading());
  is_fit = true;
  EXPECT_TRUE(server.until([&] { return leader->may_write(); }));
}

TEST_F(LeaderTest, WhoFindsItFreeAtFirstBeginsUnderItAndHasItOnlyOnceWithoutDoingTheWork) {
  is_fit = false;
  lead();
  leader->give_way("cannot work");
  EXPECT_EQ(stopped, 1);
  settle();
  const std::size_t before = writes();
  look_on();
  now += Millis(60'000);
  look_on();
  EXPECT_EQ(writes(), before) << "it is not written back either: it ends by itself";
  EXPECT_EQ(leader->holder(), "me");
  EXPECT_FALSE(leader->is_leading());
  is_fit = true;
  EXPECT_TRUE(server.until([&] { return leader->may_write(); }));
  EXPECT_EQ(started, 2);
}

TEST_F(LeaderTest, ARenewalUnderWayWhenItGivesWayDoesNotBringItBack) {
  lead();
  is_fit = false;
  server.hold();
  const std::size_t before = writes();
  ASSERT_TRUE(server.until([&] { return writes() > before; }));
  leader->give_way("cannot work");
  server.let_go();
  look_on();
  EXPECT_FALSE(leader->is_leading());
  EXPECT_EQ(started, 1);
}

TEST_F(LeaderTest, TheDeadlineIsKeptThoughARenewalIsNotAnswered) {
  LeaderOptions options{.lease_namespace = "n",
                        .lease_name = "l",
                        .identity = "me",
                        .renew_deadline = Millis(150),
                        .retry_period = Millis(20)};
  int lost = 0;
  Leader real(server.api(), options, Leader::Hooks{.on_stopped = [&] { ++lost; }});
  real.start();
  ASSERT_TRUE(server.until([&] { return real.may_write(); }));
  server.hold();
  EXPECT_TRUE(server.until([&] { return lost == 1; }));
  EXPECT_EQ(server.api().in_flight() > 0, true) << "the renewal is still under way";
}

TEST_F(LeaderTest, WhatWasSentLastArrivesBeforeAnotherMayLead) {
  EXPECT_EQ(fence_slack({}), Millis(2'500)) << "8 s, less 5 s and a half for rounding";
  EXPECT_EQ(fence_slack({.lease_duration = Millis(2'000), .renew_deadline = Millis(1'900)}), Millis(500));
}

TEST_F(LeaderTest, AConflictWithItsOwnWritingIsNoLoss) {
  lead();
  server.change([&] { ++version; });  // a renewal whose answer was lost
  const std::size_t before = writes();
  ASSERT_TRUE(server.until([&] { return writes() >= before + 4; }));
  EXPECT_EQ(stopped, 0);
  EXPECT_TRUE(leader->may_write());
}

TEST_F(LeaderTest, ALeaseThatCannotBeTakenIsSaidOnceAndThenFromTimeToTime) {
  refused = "POST";
  refusal = "may not create\\nleases";
  start();
  look_on();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("could not acquire the lease"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("may not create leases"), std::string::npos) << said[0];
  EXPECT_EQ(leader->trouble(), said[0]);
  const std::string answer = standby_answer(leader->holder(), leader->trouble()).body;
  EXPECT_NE(answer.find("there is no leader at the moment; " + said[0]), std::string::npos) << answer;
  server.change([&] { refusal = "quota is used up"; });
  now += Millis(10'000);
  look_on();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[1].find("quota is used up"), std::string::npos) << said[1];
  now += Millis(299'000);
  look_on();
  EXPECT_EQ(said.size(), 2u);
  now += Millis(1'000);
  look_on();
  EXPECT_EQ(said.size(), 3u);
  server.change([&] { refused = ""; });
  ASSERT_TRUE(server.until([&] { return leader->may_write(); }));
  EXPECT_EQ(leader->trouble(), "");
}

TEST_F(LeaderTest, ALeaseThatCannotBeReadIsNotSaidWithEachLook) {
  refused = "GET";
  refusal = "may not get leases";
  start();
  look_on();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("could not read the lease"), std::string::npos) << said[0];
  EXPECT_FALSE(leader->has_seen_lease());
  held_by("other");
  server.change([&] { refused = ""; });
  look_on();
  EXPECT_EQ(leader->trouble(), "");
}

TEST_F(LeaderTest, GivesTheLeaseBackAndWritesNoMore) {
  lead();
  settle();
  bool is_done = false;
  leader->release([&] { is_done = true; });
  EXPECT_FALSE(leader->may_write());
  ASSERT_TRUE(server.until([&] { return is_done; }));
  EXPECT_EQ(server.seen({"PUT"}).back().find(R"("holderIdentity":"me")"), std::string::npos);
  const std::size_t before = writes();
  server.poll_for(Millis(80));
  EXPECT_EQ(writes(), before);
}

/// What was written of the lease, without its times and its version.
std::string without_times(std::string line) {
  for (const char* key : {R"("acquireTime":")", R"("renewTime":")", R"("resourceVersion":")"}) {
    const std::size_t at = line.find(key);
    if (at == std::string::npos) continue;
    const std::size_t from = at + std::string_view(key).size();
    line.replace(from, line.find('"', from) - from, "T");
  }
  return line;
}

TEST_F(LeaderTest, TheLeaseIsWrittenWhole) {
  lead();
  settle();
  bool is_done = false;
  leader->release([&] { is_done = true; });
  ASSERT_TRUE(server.until([&] { return is_done; }));
  const std::string path = "/apis/coordination.k8s.io/v1/namespaces/n/leases",
                    kind = R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)";
  EXPECT_EQ(
      without_times(server.seen({"POST"}).front()),
      "POST " + path + " " + kind +
          R"("metadata":{"name":"l","namespace":"n"},"spec":{"holderIdentity":"me","leaseDurationSeconds":8,"leaseTransitions":0,)"
          R"("acquireTime":"T","renewTime":"T"}})");
  EXPECT_EQ(
      without_times(server.seen({"PUT"}).back()),
      "PUT " + path + "/l " + kind +
          R"("metadata":{"name":"l","namespace":"n","resourceVersion":"T"},"spec":{"holderIdentity":"","leaseDurationSeconds":1,)"
          R"("leaseTransitions":1,"renewTime":"T"}})");
  EXPECT_FALSE(leader->is_leading());
}

TEST_F(LeaderTest, ADeletedLeaseIsLostAndMadeAnew) {
  lead();
  settle();
  server.change([&] { refused = "PUT", refusal_status = 404, refusal = "no such lease"; });
  ASSERT_TRUE(server.until([&] { return stopped == 1; }));
  ASSERT_GE(said.size(), 2u);
  EXPECT_TRUE(said[said.size() - 2].starts_with("could not renew the lease: HTTP 404: no such lease"))
      << said[said.size() - 2];
  EXPECT_EQ(said.back(), "no longer the leader: the lease was deleted");
  server.change([&] { refused = "", version = 0; });
  ASSERT_TRUE(server.until([&] { return leader->may_write(); }));
  EXPECT_EQ(server.count({"POST"}), 2u);
  EXPECT_EQ(started, 2);
}

TEST_F(LeaderTest, SaysWhyItLeadsNoLonger) {
  lead();
  settle();
  held_by("other");
  ASSERT_TRUE(server.until([&] { return stopped == 1; }));
  EXPECT_EQ(said.back(), "no longer the leader: another replica holds the lease");
  held_by("");
  ASSERT_TRUE(server.until([&] { return leader->may_write(); }));
  settle();
  server.change([&] { is_failing = true; });
  now += Millis(5'000);
  ASSERT_TRUE(server.until([&] { return stopped == 2; }));
  EXPECT_EQ(said.back(), "no longer the leader: could not renew the lease within its deadline");
  server.change([&] { is_failing = false; });
  ASSERT_TRUE(server.until([&] { return leader->may_write(); }));
  leader->give_way("cannot work");
  EXPECT_EQ(said.back(), "no longer the leader: cannot work");
  const std::size_t lines = said.size();
  leader->give_way("cannot work");
  EXPECT_EQ(said.size(), lines) << "who does not lead has nothing to give";
  EXPECT_EQ(stopped, 3);
}

TEST_F(LeaderTest, OneWhoWasFasterIsNoTrouble) {
  refused = "POST";
  refusal_status = 409;
  start();
  look_on();
  EXPECT_EQ(said, std::vector<std::string>());
  EXPECT_EQ(leader->trouble(), "");
  EXPECT_FALSE(leader->is_leading());
}

TEST_F(LeaderTest, WithoutALeaseItLeadsAlwaysAndAsksForNothing) {
  Leader alone(server.api(), LeaderOptions{.is_enabled = false, .identity = "me"},
               Leader::Hooks{.on_started = [this] { ++started; },
                             .on_stopped = [this] { ++stopped; },
                             .monotonic = [this] { return now; }});
  EXPECT_FALSE(alone.may_write());
  alone.start();
  EXPECT_TRUE(alone.may_write());
  EXPECT_TRUE(alone.is_leading());
  EXPECT_TRUE(alone.has_seen_lease());
  EXPECT_EQ(started, 1);
  now += Millis(3'600'000);
  EXPECT_TRUE(alone.may_write());
  alone.give_way("cannot work");
  EXPECT_TRUE(alone.may_write()) << "there is nobody to give way to";
  bool is_done = false;
  alone.release([&] { is_done = true; });
  EXPECT_TRUE(is_done);
  EXPECT_EQ(stopped, 0);
  EXPECT_EQ(server.count({}), 0u);
  EXPECT_EQ(fence_slack({.is_enabled = false}), Millis(20'000));
}

}  // namespace
}  // namespace ashlar::kube
