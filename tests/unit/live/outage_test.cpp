// One leadership and a server that is in trouble, on a clock that is moved by hand: how much is asked, and that
// everything is done once in the end.
#include <array>
#include <map>
#include <numeric>

#include "live/read/read_api.h"
#include "scripted_api.h"
#include "term_bench.h"

namespace ashlar::kube {
namespace {

class Outage : public ::testing::Test, public TermBench {
 protected:
  Outage() { begin(server.api()); }
  ~Outage() override { leader_term.reset(); }
  http::ServerResponse serve(const http::ServerRequest& request) {
    ++by_second[static_cast<std::size_t>(now.value / 1000)];
    if (trouble == 429) return ScriptedApi::busy(retry_after);
    if (trouble != 0) return ScriptedApi::status(trouble);
    const bool is_binding = request.method == "POST" && request.path.ends_with("/binding");
    if (is_binding && request.path.find(refused_pod) != std::string::npos)
      return ScriptedApi::status(403, "the policy says no");
    if (is_binding && bind_trouble != 0) return ScriptedApi::status(bind_trouble);
    if (is_binding) {
      ++bound[request.path];
      const std::size_t target = request.body.find("\"name\":\"", request.body.find("\"target\":")) + 8;
      node_of[request.path.substr(0, request.path.size() - 8)] =
          request.body.substr(target, request.body.find('"', target) - target);
    }
    if (is_binding) return ScriptedApi::done();
    if (request.method != "GET") return http::json(201, "{}");
    if (read_trouble != 0) return ScriptedApi::status(read_trouble);
    return ScriptedApi::pod(request, node_of[request.path]);
  }
  void see_node(int i) { see(node("n" + std::to_string(i), 8)); }
  void see_pod(const std::string& name, std::int64_t gpus = 1) { see(pod(name, gpus)); }
  /// Lets time go by; every request is answered at the moment when it is sent.
  void run(Millis time) {
    for (const Millis until = now + time; now < until; now += Millis(100)) {
      do {
        leader_term->turn();
        ASSERT_TRUE(server.settle());
      } while (server.api().in_flight() > 0 || leader_term->turn() <= now);
    }
  }
  std::size_t asked() const { return std::accumulate(by_second.begin(), by_second.end(), std::size_t{0}); }
  std::size_t bound_once() const {
    return static_cast<std::size_t>(
        std::count_if(bound.begin(), bound.end(), [](const auto& one) { return one.second == 1; }));
  }

  int trouble = 0, read_trouble = 0, bind_trouble = 0, retry_after = 5;
  std::string refused_pod = "refused";
  std::map<std::string, int> bound;
  std::map<std::string, std::string> node_of;  ///< by the pod's path
  std::array<std::size_t, 20'000> by_second{};
  ScriptedApi server{[this](const http::ServerRequest& request) { return serve(request); }, [this] { return now; }};
};

TEST_F(Outage, AServerThatAsksForPatienceGetsItAndEveryPodIsBoundOnceAfterwards) {
  for (int i = 0; i < 63; ++i) see_node(i);
  for (int i = 0; i < 500; ++i) see_pod("p" + std::to_string(i));
  trouble = 429;
  const std::size_t first_second = static_cast<std::size_t>(now.value / 1000);
  run(Millis(15'000));
  EXPECT_LE(by_second[first_second], 64u) << "what was under way when the first answer came";
  for (std::size_t s = first_second + 1; s < first_second + 15; ++s)
    EXPECT_LE(by_second[s], s % 5 == 0 ? 1u : 0u) << "second " << s - first_second;
  EXPECT_GE(asked(), BindQueue::kNewShare + 2) << "one probe after each pause";
  EXPECT_EQ(leader_term->binder().counters().reread, 0u) << "not done means not done";
  EXPECT_LE(leader_term->binder().queued(), 64u + 16) << "nothing more is decided meanwhile";
  server.change([&] { trouble = 0; });
  run(Millis(10'000));
  EXPECT_EQ(bound_once(), 500u);
  EXPECT_EQ(bound.size(), 500u);
}

TEST_F(Outage, ALongOutageCostsAtMostTenRequestsASecond) {
  for (int i = 0; i < 75; ++i) see_node(i);
  retry_after = 0;
  for (const int status : {503, 500, 429}) {
    const std::string of = std::to_string(status) + "-";
    for (int i = 0; i < 200; ++i) see_pod("p" + of + std::to_string(i));
    for (int i = 0; i < 100; ++i) see_pod("big" + of + std::to_string(i), 9);  // never fit: conditions
    server.change([&] { trouble = status; });
    const std::size_t first_second = static_cast<std::size_t>(now.value / 1000);
    run(Millis(60'000));
    for (std::size_t s = first_second + 1; s < first_second + 60; ++s)
      EXPECT_LE(by_second[s], 10u) << status << ", second " << s - first_second;
    server.change([&] { trouble = 0; });
    run(Millis(20'000));
  }
  EXPECT_EQ(bound_once(), 600u);
}

TEST_F(Outage, DevicesThatOthersChangeAllTheTimeCostNoMoreAndAreWrittenBackInTheEnd) {
  for (int i = 0; i < 5; ++i) see_node(i);
  for (int i = 0; i < 40; ++i) see_pod("p" + std::to_string(i));
  run(Millis(1'000));
  const auto change_devices = [&](const std::string& devices) {
    for (int i = 0; i < 40; ++i) {
      const PodRecord& known = record("p" + std::to_string(i));
      Pod p = pod("p" + std::to_string(i), 1);
      p.node_name = known.node_name;
      p.annotations = std::make_shared<const Labels>(Labels{
          {PooledString("ashlar.dev/cards"), PooledString(devices.empty() ? devices_text(known.devices) : devices)}});
      see(std::move(p));
    }
  };
  retry_after = 0;
  server.change([&] { trouble = 429; });
  const std::size_t first_second = static_cast<std::size_t>(now.value / 1000);
  for (int i = 0; i < 100; ++i) {
    change_devices(i % 2 == 0 ? "60" : "");
    run(Millis(100));
  }
  for (std::size_t s = first_second + 1; s < first_second + 10; ++s)
    EXPECT_LE(by_second[s], 10u) << "second " << s - first_second;
  server.change([&] { trouble = 0; });
  const std::size_t before = server.count({"PATCH", "/pods/", R"("ashlar.dev/cards":)"});
  change_devices("60");
  run(Millis(20'000));
  EXPECT_EQ(server.count({"PATCH", "/pods/", R"("ashlar.dev/cards":)"}) - before, 40u);
}

TEST_F(Outage, ARereadThatFailsIsMadeEverLessOften) {
  see_node(0);
  see_pod("p");
  bind_trouble = 504;
  read_trouble = 403;
  run(Millis(60'000));
  EXPECT_GE(leader_term->binder().counters().reread, 9u) << "at least every ten seconds";
  EXPECT_LE(leader_term->binder().counters().reread, 11u);
}

TEST_F(Outage, APodThatIsThrottledForHalfAMinuteGivesItsPlaceBack) {
  see_node(0);
  see_pod("p");
  trouble = 429;
  run(Millis(30'000));  // up to but without the moment at its end
  EXPECT_EQ(phase("p"), PodRecord::Phase::kAssumed);
  run(Millis(100));
  EXPECT_NE(phase("p"), PodRecord::Phase::kAssumed);
  server.change([&] { trouble = 0; });
  run(Millis(10'000));
  EXPECT_EQ(phase("p"), PodRecord::Phase::kBound);
}

TEST_F(Outage, ARefusedPodIsTriedAfterOneTwoFourSecondsAndAtLeastEveryFiveMinutes) {
  see_node(0);
  see_pod("refused");
  std::vector<Millis> tries;
  for (int i = 0; i < 14'000; ++i) {
    const Millis before = now;
    run(Millis(100));
    if (leader_term->binder().counters().sent > tries.size()) tries.push_back(before);
  }
  const std::vector<std::int64_t> pauses{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
  ASSERT_EQ(tries.size(), pauses.size() + 1);
  for (std::size_t i = 0; i < pauses.size(); ++i)
    EXPECT_EQ((tries[i + 1] - tries[i]).value, pauses[i] * 1000) << "try " << i + 1;
  EXPECT_EQ(server.count({"PATCH",
                          "BindFailed: the pod is not bound yet; the binding is retried later: HTTP 403: "
                          "the policy says no"}),
            1u)
      << "said once";
  EXPECT_EQ(server.count({"POST", "FailedScheduling", "the policy says no"}), 1u);
}

/// A binding that the server asked to put off, and news that comes in the moment of its next try.
class OutageAndNews : public Outage {
 protected:
  void try_again_with_news(std::int64_t gpus_taken) {
    see_node(0);
    see_pod("p", 7);
    trouble = 429;
    retry_after = 1;
    run(Millis(100));
    ASSERT_EQ(phase("p"), PodRecord::Phase::kAssumed);
    server.change([&] { trouble = 0; });
    now += Millis(10'000);
    Pod taker = pod("q", gpus_taken);
    taker.scheduler_name = PooledString("default-scheduler");
    taker.node_name = PooledString("n0");
    see(taker);
    see_node(1);
    see_pod("late", 8);
    run(Millis(5'000));
  }
  std::size_t bindings(const std::string& name, const std::string& node) {
    return server.count({"POST", name + "/binding", '"' + node + '"'});
  }
};

TEST_F(OutageAndNews, WhatTakesItsRoomCountsForTheNextTry) {
  try_again_with_news(2);
  EXPECT_EQ(bindings("p", "n0"), 1u) << "the first try";
  EXPECT_EQ(bindings("p", "n1") + bindings("late", "n1"), 1u) << "both want the other node";
}

TEST_F(OutageAndNews, WhatCameWithItIsDecidedOnToo) {
  try_again_with_news(1);
  EXPECT_EQ(bindings("p", "n0"), 2u) << "there is room still";
  EXPECT_EQ(phase("late"), PodRecord::Phase::kBound);
}

/// The state may know already what the engine has not looked at.
TEST_F(OutageAndNews, WhyIsAnsweredBetweenNewsAndTheNextStep) {
  see_node(0);
  see_pod("p", 4);
  trouble = 429;
  retry_after = 1;
  run(Millis(100));
  see_pod("w", 8);
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 2, i < 2 ? 2 : 8));
  run(Millis(100));
  leader_term->stop_deciding();
  server.change([&] { trouble = 0; });
  now += Millis(10'000);
  Pod bound = pod("w", 8), taker = pod("q", 0);
  bound.node_name = taker.node_name = PooledString("n0");
  taker.scheduler_name = PooledString("default-scheduler");
  see(bound);
  see(taker);
  leader_term->take(Change<Pod>{Change<Pod>::Kind::kDeleted, gang_pod("g", 2, 2, 8)});
  run(Millis(1'000));
  ASSERT_TRUE(leader_term->is_engine_behind());
  for (const char* name : {"w", "g", "g-0", "p"}) {
    http::ServerRequest request;
    request.method = "GET";
    request.query = std::string("name=ns/") + name;
    EXPECT_EQ(answer_why(*replica, request).status, 200) << name;
  }
}

TEST_F(Outage, WhoIsRefusedDoesNotKeepOthersFromTheNodes) {
  for (int i = 0; i < 4; ++i) see_node(i);
  for (int i = 0; i < 4; ++i) see_pod("refused" + std::to_string(i), 8);
  run(Millis(100));
  see_pod("honest");
  run(Millis(100));
  EXPECT_EQ(phase("honest"), PodRecord::Phase::kBound);
}

}  // namespace
}  // namespace ashlar::kube
