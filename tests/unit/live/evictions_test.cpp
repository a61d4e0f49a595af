// A leadership whose jobs stop others: what is sent, in which order, and what is known of pods that leave, may not be
// evicted, do not leave in time, or were stopped by an earlier leader.
#include "live/write/evictions.h"

#include <atomic>

#include "scripted_api.h"
#include "term_bench.h"

namespace ashlar::kube {
namespace {

constexpr int kSeveral = 1;  ///< instead of a status
constexpr const char* kBudgets =
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
constexpr const char* kBudget = "Cannot evict pod as it would violate the pod's disruption budget.";

class Evicting : public ::testing::Test, public TermBench {
 protected:
  using Phase = PodRecord::Phase;
  using TermBench::see;

  Evicting() {
    options.profile = [](const auto&) {
      Profile profile = builtin_profile("ashlar").value();
      profile.victim = VictimRule::kPriority;
      return profile;
    };
    options.log = [this](LogLevel level, const LogLine& line) {
      if (level == LogLevel::kWarning) warnings.push_back(line.message);
    };
  }
  ~Evicting() override {
    replica.reset();
    leader_term.reset();  // before its server
  }
  /// A node of eight GPUs, all of them taken by `low`.
  void begin_full() {
    begin(server.api());
    see(node("n0", 8));
    see(on(pod("low", 8), "n0"));
    turn();
  }
  void turn() {
    leader_term->turn();
    EXPECT_TRUE(server.settle());
    leader_term->turn();
  }
  static Pod urgent(const std::string& name, std::int64_t gpus) {
    Pod p = pod(name, gpus);
    p.priority = 1000;
    return p;
  }
  /// As the server has it after an eviction, with a grace of 30 s.
  Pod leaving(Pod p) const {
    p.deletion_requested = now + Millis(30'000);
    return p;
  }
  bool turn_until(const std::function<bool()>& is_done) {
    for (int i = 0; i < 200 && !is_done(); ++i) {
      turn();
      now = now + Millis(100);
    }
    return is_done();
  }
  std::size_t evictions(const std::string& name) { return server.count({"POST", "/pods/" + name + "/eviction"}); }
  std::size_t bindings(const std::string& name) { return server.count({"POST", "/pods/" + name + "/binding"}); }
  std::string wait_of(const std::string& name) { return record(name).bind_wait.str(); }

  std::atomic<int> status = 201;
  std::vector<std::string> warnings;
  ScriptedApi server{[this](const http::ServerRequest& request) {
                       if (!request.path.ends_with("/eviction") || status == 201) return ScriptedApi::done();
                       return ScriptedApi::status(status == kSeveral ? 500 : status.load(), status == 429 ? kBudget
                                                                                            : status == kSeveral
                                                                                                ? kBudgets
                                                                                                : "no");
                     },
                     [this] { return now; }};
};

TEST_F(Evicting, APlaceIsBoundWhenThoseThatWereStoppedForItAreGone) {
  begin_full();
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return evictions("low") == 1; }));
  EXPECT_EQ(server.seen({"eviction"}).front(),
            "POST /api/v1/namespaces/ns/pods/low/eviction "
            R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"low","namespace":"ns"},)"
            R"("deleteOptions":{"preconditions":{"uid":"uid-ns-low"}}})");
  EXPECT_EQ(server.count({"PATCH", "/pods/low/status", R"(stopped for another job (LowerPriority))",
                          R"("type":"DisruptionTarget")", "PreemptionByScheduler"}),
            1u);
  EXPECT_EQ(server.count({"POST", "/events", R"("reason":"Preempted")",
                          "Stopped for another job (LowerPriority): it leaves node n0"}),
            1u);
  EXPECT_EQ(phase("low"), Phase::kLeaving);
  EXPECT_EQ(phase("high"), Phase::kAssumed);
  EXPECT_EQ(wait_of("high"), "a pod that was stopped for it has not left yet: ns/low");
  see(leaving(on(pod("low", 8), "n0")));
  now = now + Millis(29'000);
  turn();
  EXPECT_EQ(bindings("high"), 0u);
  gone(on(pod("low", 8), "n0"));
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kBound; }));
  EXPECT_EQ(bindings("high"), 1u);
  EXPECT_EQ(evictions("low"), 1u);
  EXPECT_TRUE(says("ashlar_evictions_total{outcome=\"accepted\"} 1\n"));
  EXPECT_TRUE(replica->state().is_consistent());
}

TEST_F(Evicting, WhatAStoppedQueueRunsLeavesAsSoonAsItsBudgetsAllow) {
  options.tracker.queues = {{.name = "team", .gate = {QueueGate::Is::kStopped}}};
  options.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
  status = 429;
  begin(server.api());
  see(node("n0", 8));
  const Labels in_team{{PooledString("ashlar.dev/queue"), PooledString("team")}};
  see(on(pod("a", 4, in_team), "n0"));
  see(on(pod("b", 2, in_team), "n0"));
  see(on(pod("other", 2), "n0"));
  see(pod("new", 1, in_team));
  ASSERT_TRUE(turn_until([&] { return evictions("a") >= 2 && evictions("b") >= 2; })) << "tried again";
  EXPECT_EQ(phase("a"), Phase::kLeaving);
  status = 201;
  ASSERT_TRUE(turn_until([&] {
    return server.count({"POST", "/events", "Stopped with its queue (QueueStopped)"}) == 2;
  }));
  gone(on(pod("a", 4, in_team), "n0"));
  gone(on(pod("b", 2, in_team), "n0"));
  see(pod("waits", 4));
  ASSERT_TRUE(turn_until([&] { return phase("waits") == Phase::kBound; }));
  EXPECT_EQ(evictions("other"), 0u);
  EXPECT_EQ(bindings("new"), 0u);
  EXPECT_NE(condition_of("new").message.find("queue team is held"), std::string::npos) << condition_of("new").message;
}

TEST_F(Evicting, WhatNeedsNothingOfThoseThatLeaveIsBoundAtOnce) {
  begin_full();
  see(urgent("high", 6));
  ASSERT_TRUE(turn_until([&] { return evictions("low") == 1; }));
  see(pod("cores", 0));
  see(pod("small", 2));
  ASSERT_TRUE(turn_until([&] { return phase("cores") == Phase::kBound; }));
  EXPECT_EQ(phase("small"), Phase::kAssumed) << "its GPUs are still taken";
  EXPECT_EQ(wait_of("small"), "pods that were stopped have not left the node yet");
  gone(on(pod("low", 8), "n0"));
  ASSERT_TRUE(turn_until([&] { return phase("small") == Phase::kBound && phase("high") == Phase::kBound; }));
}

TEST_F(Evicting, APodThatMayNotBeEvictedStaysAndTheOtherWaits) {
  status = 429;
  begin_full();
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kHeld; }));
  EXPECT_EQ(phase("low"), Phase::kBound);
  EXPECT_NE(condition_of("high").message.find(
                "pod ns/low, which was to be stopped for it, is protected by a PodDisruptionBudget"),
            std::string::npos);
  EXPECT_EQ(bindings("high"), 0u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings.front(), std::string("pod ns/low cannot be evicted, and stays: HTTP 429: ") + kBudget);
  EXPECT_TRUE(server.api().budget().may_send(now)) << "a budget of disruption is no trouble of the server";
  turn();
  EXPECT_TRUE(replica->state().is_consistent());
  EXPECT_EQ(replica->state().cluster().idle_devices()[0], 0);
  status = 201;
  for (int i = 0; i < 10; ++i) turn();
  EXPECT_EQ(evictions("low"), 1u) << "it is left alone";
  now = now + Millis(29'000);
  ASSERT_TRUE(turn_until([&] { return evictions("low") == 2; })) << "it is tried again";
  gone(on(pod("low", 8), "n0"));
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kBound; }));
}

TEST_F(Evicting, AnotherIsStoppedInsteadOfOneThatMayNotBe) {
  begin(server.api());
  for (const char* name : {"n0", "n1"}) see(node(name, 8));
  for (const char* name : {"0", "1"}) see(on(pod("low-" + std::string(name), 8), "n" + std::string(name)));
  turn();
  status = 429;
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return server.count({"/eviction"}) == 1; }));
  const std::string first = evictions("low-0") == 1 ? "low-0" : "low-1", other = first == "low-0" ? "low-1" : "low-0";
  status = 201;
  ASSERT_TRUE(turn_until([&] { return phase(other) == Phase::kLeaving; }));
  EXPECT_EQ(phase(first), Phase::kBound);
  EXPECT_EQ(evictions(first), 1u);
  gone(on(pod(other, 8), other == "low-0" ? "n0" : "n1"));
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kBound; }));
}

TEST_F(Evicting, SeveralBudgetsOfOnePodAreARefusalToo) {
  status = kSeveral;
  begin_full();
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kHeld; }));
  EXPECT_EQ(phase("low"), Phase::kBound);
  EXPECT_EQ(evictions("low"), 1u);
}

TEST_F(Evicting, APodThatIsKeptAwayFromOneThatLeavesWaitsForIt) {
  begin_full();
  see(urgent("high", 4));
  ASSERT_TRUE(turn_until([&] { return evictions("low") == 1; }));
  PodRules rules;
  rules.required_anti_affinity.emplace_back();
  see(under(pod("apart", 0), std::move(rules)));
  ASSERT_TRUE(turn_until([&] { return !wait_of("apart").empty(); }));
  EXPECT_EQ(wait_of("apart"), "pods that were stopped have not left the node yet");
}

TEST_F(Evicting, OfSeveralThoseThatAreNotEvictedYetStayWithTheOneThatMayNotBe) {
  status = 403;
  begin(server.api());
  for (const char* name : {"n0", "n1"}) see(node(name, 8));
  for (int i = 0; i < 2; ++i) {
    see(on(gang_pod("low", i, 2, 8), "n" + std::to_string(i)));
    Pod p = gang_pod("high", i, 2, 8);
    p.priority = 1000;
    see(std::move(p));
  }
  ASSERT_TRUE(turn_until([&] {
    return phase("high-0") == Phase::kHeld || phase("high-1") == Phase::kHeld ||
           !condition_of("high-0").message.empty();
  }));
  for (const char* name : {"low-0", "low-1"}) EXPECT_EQ(phase(name), Phase::kBound);
  turn();
  EXPECT_TRUE(replica->state().is_consistent());
}

TEST_F(Evicting, AnEvictionThatIsNotAnsweredIsSentAgain) {
  status = 500;
  begin_full();
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return evictions("low") == 1; }));
  EXPECT_EQ(phase("low"), Phase::kLeaving);
  status = 201;
  ASSERT_TRUE(turn_until([&] { return evictions("low") == 2; }));
  EXPECT_EQ(warnings.size(), 1u);
}

/// A webhook may let all evictions in a namespace hang: others need places, too.
TEST_F(Evicting, OfOneNamespaceAFewEvictionsAreUnderWay) {
  begin(server.api());
  see(node("n0", 8));
  const auto low = [&](int i) { return on(pod("low" + std::to_string(i), 1), "n0"); };
  for (int i = 0; i < 8; ++i) see(low(i));
  turn();
  server.hold();
  see(urgent("high", 8));
  const std::size_t before = server.api().in_flight();
  leader_term->turn();
  leader_term->turn();
  EXPECT_EQ(server.api().in_flight() - before, 4u);
  server.let_go();
  ASSERT_TRUE(turn_until([&] { return server.count({"POST", "/eviction"}) == 8; }));
}

TEST_F(Evicting, APodThatHasNotLeftAMinuteAfterItsGraceStays) {
  begin_full();
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return evictions("low") == 1; }));
  see(leaving(on(pod("low", 8), "n0")));
  now = now + Millis(30'000 + 59'000);
  turn();
  EXPECT_EQ(phase("low"), Phase::kLeaving);
  EXPECT_EQ(phase("high"), Phase::kAssumed) << "however long that is";
  now = now + Millis(2'000);
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kHeld; }));
  EXPECT_EQ(phase("low"), Phase::kBound);
  EXPECT_NE(condition_of("high").message.find("has not left in time"), std::string::npos);
  EXPECT_TRUE(says("ashlar_evictions_total{outcome=\"late\"} 1\n"));
  EXPECT_TRUE(replica->state().is_consistent());
}

TEST_F(Evicting, NothingIsSentWithoutTheRightToWrite) {
  begin_full();
  see(urgent("high", 8));
  leader_term->turn();
  is_leading = false;
  server.forget();
  turn();
  EXPECT_EQ(evictions("low"), 0u);
}

TEST_F(Evicting, WhatAnEarlierLeaderStoppedIsWaitedFor) {
  begin(server.api());
  for (const char* name : {"n0", "n1"}) see(node(name, 8));
  see(on(pod("other", 8), "n1"));
  Pod low = leaving(on(pod("low", 8), "n0"));
  low.is_stopped = true;
  see(std::move(low));
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return !wait_of("high").empty(); }));
  EXPECT_EQ(record("high").node, leader_term->tracker().names().nodes.find(PooledString("n0")));
  EXPECT_EQ(evictions("other") + evictions("low"), 0u);
  gone(on(pod("low", 8), "n0"));
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kBound; }));
  EXPECT_EQ(phase("other"), Phase::kBound);
}

TEST_F(Evicting, APodThatIsToStopNoneWaits) {
  begin_full();
  Pod patient = urgent("patient", 8);
  patient.never_preempts = true;
  see(std::move(patient));
  for (int i = 0; i < 5; ++i) turn();
  EXPECT_EQ(evictions("low"), 0u);
  EXPECT_EQ(phase("patient"), Phase::kWaiting);
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return evictions("low") == 1; })) << "another like it does not wait behind it";
}

/// Since when a pod has run is what the server says, not when this process saw it.
TEST_F(Evicting, TheOneThatStartedLastIsStoppedAfterARestartToo) {
  begin(server.api());
  for (const char* name : {"n0", "n1"}) see(node(name, 8));
  const auto placed_at = [](Pod p, std::int64_t seconds) {
    p.scheduled = {ConditionStatus::kTrue, {}, {}, Millis(1000 * seconds)};
    return p;
  };
  see(placed_at(on(pod("new", 8), "n1"), 900));
  see(placed_at(on(pod("old", 8), "n0"), 100));
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return evictions("new") + evictions("old") > 0; }));
  EXPECT_EQ(evictions("new"), 1u);
  EXPECT_EQ(evictions("old"), 0u);
}

TEST_F(Evicting, OfAGangThoseBeyondItsMinimumGoAndItRunsOn) {
  begin(server.api());
  see(node("n0", 8));
  for (int i = 0; i < 4; ++i) see(on(gang_pod("low", i, 2, 2), "n0"));
  turn();
  see(urgent("high", 4));
  ASSERT_TRUE(turn_until([&] { return evictions("low-2") + evictions("low-3") == 2; }));
  EXPECT_EQ(phase("low-0"), Phase::kBound);
  EXPECT_EQ(phase("low-3"), Phase::kLeaving);
  EXPECT_EQ(phase("high"), Phase::kAssumed);
  for (int i = 2; i < 4; ++i) gone(on(gang_pod("low", i, 2, 2), "n0"));
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kBound; }));
  for (int i = 2; i < 4; ++i) see(gang_pod("low", i, 2, 2));
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(phase("low-2"), Phase::kWaiting) << "it stops nobody";
  EXPECT_EQ(evictions("high"), 0u);
  EXPECT_EQ(evictions("low-0") + evictions("low-1"), 0u);
  gone(on(urgent("high", 4), "n0"));
  ASSERT_TRUE(turn_until([&] { return phase("low-2") == Phase::kBound && phase("low-3") == Phase::kBound; }));
  EXPECT_TRUE(replica->state().is_consistent());
}

TEST_F(Evicting, AMemberThatMayNotBeEvictedStaysWithItsGang) {
  status = 429;
  begin(server.api());
  see(node("n0", 8));
  for (int i = 0; i < 4; ++i) see(on(gang_pod("low", i, 2, 2), "n0"));
  turn();
  see(urgent("high", 2));
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kHeld; }));
  turn();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(phase("low-" + std::to_string(i)), Phase::kBound) << i;
  EXPECT_EQ(evictions("low-0") + evictions("low-1"), 0u);
  EXPECT_EQ(replica->state().cluster().idle_devices()[0], 0);
  EXPECT_TRUE(replica->state().is_consistent());
}

TEST_F(Evicting, AGangThatIsStoppedComesBackWithNewPods) {
  begin(server.api());
  for (const char* name : {"n0", "n1"}) see(node(name, 8));
  for (int i = 0; i < 2; ++i) see(on(gang_pod("low", i, 2, 8), "n" + std::to_string(i)));
  turn();
  see(urgent("high", 8));
  ASSERT_TRUE(turn_until([&] { return evictions("low-0") + evictions("low-1") == 2; })) << "it is stopped whole";
  for (int i = 0; i < 2; ++i) gone(on(gang_pod("low", i, 2, 8), "n" + std::to_string(i)));
  ASSERT_TRUE(turn_until([&] { return phase("high") == Phase::kBound; }));
  for (int i = 0; i < 2; ++i) see(gang_pod("low", i, 2, 8));
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(phase("low-0"), Phase::kWaiting);
  gone(on(urgent("high", 8), record("high").node_name.str()));
  ASSERT_TRUE(turn_until([&] { return phase("low-0") == Phase::kBound && phase("low-1") == Phase::kBound; }));
  EXPECT_TRUE(replica->state().is_consistent());
}

}  // namespace
}  // namespace ashlar::kube
