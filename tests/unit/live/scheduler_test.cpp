// The whole live scheduler on a small cluster: when it takes the lease, keeps it and gives it back, and what an outage
// costs its server.
#include "live/lead/scheduler.h"

#include <pthread.h>

#include <atomic>
#include <map>
#include <thread>

#include "../kubeclient/recorded.h"
#include "counting_gate.h"
#include "small_cluster.h"

namespace ashlar::kube {
namespace {

/// A clock from which a thread of the scheduler does not come back until it is let go.
class HangingClock {
 public:
  Millis pass() {
    const std::string name = name_of_this();
    if (name == "ashlar-reading") ++reading_turns;
    while (name == hanging()) {
      has_hung = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Millis(now.load());
  }
  void hang(const std::string& thread) {
    const std::lock_guard hold(lock_);
    hanging_ = thread;
  }
  void let_go() { hang("none"); }

  std::atomic<std::int64_t> now{1'000'000};
  std::atomic<bool> has_hung{false};
  std::atomic<int> reading_turns{0};

 private:
  static std::string name_of_this() {
    char name[16] = {};
    ::pthread_getname_np(::pthread_self(), name, sizeof name);
    return name;
  }
  std::string hanging() {
    const std::lock_guard hold(lock_);
    return hanging_;
  }
  std::mutex lock_;
  std::string hanging_ = "none";
};

class LiveLease : public ::testing::Test {
 protected:
  LiveLease() { cluster.put_node("n", 8); }
  void start(SchedulerOptions more = {}) {
    more.access = cluster.access();
    more.leader_term.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
    more.leader.identity = "me";
    if (!more.decision_log)
      more.decision_log = [this] {  // asked on the loop
        ++turns;
        return LogFacts{};
      };
    more.log = [this](LogLevel, const LogLine& line) {
      const std::lock_guard lock(lock_);
      log_.push_back(line.message);
    };
    auto made = Scheduler::create(std::move(more));
    ASSERT_TRUE(made.ok()) << made.error().message;
    scheduler = std::move(made).value();
    thread_ = std::thread([this] { scheduler->run(); });
  }
  void stop() {
    scheduler->stop();
    thread_.join();
  }
  ~LiveLease() override {
    clock.let_go();
    cluster.hold_bindings(false);
    if (thread_.joinable()) stop();
  }
  template <class IsDone>
  static bool until(IsDone&& is_done) {
    const auto deadline = SmallCluster::Clock::now() + std::chrono::seconds(60);  // a list may be half a minute away
    while (!is_done()) {  // asked once more it might be over again
      if (SmallCluster::Clock::now() >= deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  bool has_logged(const std::string& part) {
    const std::lock_guard lock(lock_);
    return std::any_of(log_.begin(), log_.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  /// "200 ok\n", or what went wrong; asked once.
  std::string answer_to(const std::string& path, std::uint16_t port = 0) {
    auto client =
        http::Client::create({.base_url = "http://127.0.0.1:" + std::to_string(port == 0 ? scheduler->port() : port)});
    std::string got;
    (*client)->send({.path = path}, [&](Result<http::Response> answer) {
      got = answer ? std::to_string(answer->status) + " " + answer->body : answer.error().message;
    });
    until([&] { return (*client)->poll(Millis(5)), !got.empty(); });
    return got;
  }
  bool has_status(const std::string& path, const std::string& status) {
    return answer_to(path).starts_with(status + " ");
  }
  void turn_over() {
    const int before = turns;
    EXPECT_TRUE(until([&] { return turns >= before + 2; }));
  }
  /// The reading thread too.
  void turn_both_over() {
    const int before = clock.reading_turns;
    EXPECT_TRUE(until([&] { return clock.reading_turns >= before + 2; }));
    turn_over();
  }
  /// Of a series of the operator's metrics; -1: there is none.
  double metric(const std::string& series) {
    const std::string text = answer_to("/metrics");
    const std::size_t at = text.find("\n" + series + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
  }
  void hang_readers() {
    clock.hang("ashlar-readers");
    std::thread asker([&] { answer_to("/metrics"); });
    EXPECT_TRUE(until([&] { return clock.has_hung.load(); }));
    asker.join();
  }
  std::size_t given_back() { return cluster.count({"PUT", "/leases/", R"("holderIdentity":"")"}); }

  SmallCluster cluster;
  HangingClock clock;  ///< of the tests that want one
  std::unique_ptr<Scheduler> scheduler;
  std::atomic<int> turns{0};  ///< of the loop; not all of them are counted

 private:
  std::thread thread_;
  std::mutex lock_;
  std::vector<std::string> log_;
};

TEST_F(LiveLease, IsGivenBackWhenAllBindingsAreAnswered) {
  cluster.put_pod("p", 1);
  start();
  ASSERT_TRUE(until([&] { return cluster.count({"/binding"}) == 1; }));
  stop();
  EXPECT_EQ(given_back(), 1u);
}

TEST_F(LiveLease, IsLeftToEndWhileABindingIsNotAnswered) {
  cluster.hold_bindings(true);
  cluster.put_pod("p", 1);
  start({.drain_max = Millis(60'000), .monotonic = [&] { return clock.pass(); }});
  ASSERT_TRUE(until([&] { return cluster.count({"/binding"}) == 1; }));
  scheduler->stop();
  ASSERT_TRUE(until([&] { return has_logged("stopping"); }));
  EXPECT_TRUE(until([&] {
    clock.now += 60'000;
    return has_logged("the lease is not released");
  })) << "a minute of a clock that is never set back";
  stop();
  cluster.hold_bindings(false);
  EXPECT_TRUE(has_logged("the lease is not released but left to expire"));
  EXPECT_EQ(given_back(), 0u);
}

TEST_F(LiveLease, IsGivenUpAtTheEndOfThirtySecondsWithoutProgressAndNotBefore) {
  std::atomic<std::int64_t> now{1'000'000};
  cluster.refuse("pods", 503);
  start({.monotonic = [&] { return Millis(now.load()); }});
  ASSERT_TRUE(until([&] { return has_logged("me is the leader"); }));
  now += 29'999;
  turn_over();
  EXPECT_FALSE(has_logged("no longer the leader"));
  now += 1;
  EXPECT_TRUE(until([&] {
    return has_logged("no longer the leader: nodes, namespaces and pods have not been fully listed for 30 s");
  }));
  EXPECT_TRUE(has_status("/livez", "200"));
}

TEST_F(LiveLease, IsKeptAsLongAsThereIsProgress) {
  start({.monotonic = [&] { return clock.pass(); }});
  ASSERT_TRUE(until([&] { return has_logged("caches are synced"); }));
  for (int i = 0; i < 3; ++i) {
    turn_both_over();
    clock.now += 29'999;
  }
  turn_both_over();
  EXPECT_FALSE(has_logged("no longer the leader"));
}

TEST_F(LiveLease, OnlyALoopThatIsStuckForMoreThanThirtySecondsIsNotAliveAndReadersAreAnsweredMeanwhile) {
  std::atomic<std::int64_t> now{1'000'000};
  std::atomic<bool> must_stick{false}, is_stuck{false};
  SchedulerOptions o{.monotonic = [&] { return Millis(now.load()); }};
  o.decision_log = [&] {  // asked on the loop
    while (must_stick) {
      is_stuck = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return LogFacts{};
  };
  cluster.put_pod("p", 9);
  start(std::move(o));
  ASSERT_TRUE(until([&] { return answer_to("/api/v1/why?name=ns/p").find("Never") != std::string::npos; }))
      << answer_to("/api/v1/why?name=ns/p");
  must_stick = true;
  ASSERT_TRUE(until([&] { return is_stuck.load(); }));
  EXPECT_TRUE(has_status("/metrics", "200"));
  EXPECT_NE(answer_to("/api/v1/nodes").find(R"("name":"n")"), std::string::npos);
  EXPECT_NE(answer_to("/api/v1/queue").find(R"("name":"ns/p")"), std::string::npos);
  EXPECT_NE(answer_to("/api/v1/why?name=ns/p").find(R"("kind":"FewerCards","amount":8)"), std::string::npos);
  now += 30'000;
  EXPECT_EQ(answer_to("/livez"), "200 ok\n");
  now += 1;
  EXPECT_EQ(answer_to("/livez"), "503 the event loop has not run for 30 s\n");
  must_stick = false;
  EXPECT_TRUE(until([&] { return has_status("/livez", "200"); })) << "it turns again";
}

TEST_F(LiveLease, IsGivenUpByALeaderThatCannotReadAnyMoreAndItsProcessIsNotAlive) {
  cluster.put_pod("first", 1);
  start({.monotonic = [&] { return clock.pass(); }});
  ASSERT_TRUE(until([&] { return cluster.count({"first/binding"}) == 1; }));
  clock.hang("ashlar-reading");
  ASSERT_TRUE(until([&] { return clock.has_hung.load(); }));
  turn_over();
  clock.now += 30'000;
  turn_over();
  EXPECT_EQ(answer_to("/livez"), "200 ok\n");
  EXPECT_GE(metric(R"(ashlar_watch_lag_seconds{resource="pods"})"), 30) << "what is known of it is so old";
  EXPECT_FALSE(has_logged("no longer the leader"));
  clock.now += 1;
  EXPECT_TRUE(until([&] { return has_logged("no longer the leader: the reading thread has not run for 30 s"); }));
  EXPECT_EQ(answer_to("/livez"), "503 the reading thread has not run for 30 s\n");
  EXPECT_TRUE(until([&] { return has_status("/readyz", "503"); }));
  cluster.put_pod("second", 1);
  clock.let_go();
  EXPECT_TRUE(until([&] { return has_status("/livez", "200"); }));
  EXPECT_TRUE(has_logged("the reading thread runs again"));
  EXPECT_TRUE(until([&] { return cluster.count({"second/binding"}) == 1; })) << "it leads again";
}

TEST_F(LiveLease, IsKeptWhenReadersHangAndTheirStateIsGivenUpAndCopiedAgain) {
  start({.readers = {.news_max = 8}, .monotonic = [&] { return clock.pass(); }});
  ASSERT_TRUE(until([&] { return has_status("/api/v1/nodes", "200"); }));
  EXPECT_EQ(metric("ashlar_readers_differ"), 0);
  EXPECT_EQ(metric("ashlar_readers_given_up_total"), 0);
  hang_readers();
  cluster.slow_bindings_down(std::chrono::milliseconds(10));  // each answer is a step of its own
  for (int pod = 0; pod < 100; ++pod) cluster.put_pod("p" + std::to_string(pod), 0);
  EXPECT_TRUE(until([&] { return has_logged("the state kept for readers is given up: more than 8 steps behind"); }));
  EXPECT_EQ(answer_to("/livez"), "200 ok\n");
  clock.now += 30'000;
  turn_both_over();  // the reading thread is not silent
  EXPECT_EQ(answer_to("/livez"), "200 ok\n");
  clock.now += 1;
  EXPECT_TRUE(until([&] { return answer_to("/livez") == "503 the readers' thread has not run for 30 s\n"; }));
  EXPECT_TRUE(until([&] { return has_logged("the readers' thread has not run for 30 s"); }));
  cluster.put_pod("last", 1);
  EXPECT_TRUE(until([&] { return cluster.count({"last/binding"}) == 1; })) << "it leads all the while";
  EXPECT_FALSE(has_logged("no longer the leader"));
  clock.let_go();
  EXPECT_TRUE(until([&] { return answer_to("/api/v1/nodes").find(R"("name":"n")") != std::string::npos; }))
      << answer_to("/api/v1/nodes");
  EXPECT_TRUE(until([&] { return has_status("/livez", "200"); }));
  EXPECT_EQ(metric("ashlar_readers_given_up_total"), 1);
  EXPECT_EQ(metric("ashlar_readers_differ"), 0);
  EXPECT_EQ(metric("ashlar_nodes"), 1);
}

TEST_F(LiveLease, ReadersBeginAnewOnceAMinute) {
  start({.readers = {.news_max = 0}, .monotonic = [&] { return clock.pass(); }});  // each hand-over is one too many
  ASSERT_TRUE(until([&] { return metric("ashlar_readers_given_up_total") == 2; })) << "the first copy comes at once";
  EXPECT_EQ(metric("ashlar_readers_differ"), 1);
  EXPECT_EQ(metric("ashlar_nodes"), -1);
  EXPECT_NE(answer_to("/api/v1/nodes").find("fell too far behind"), std::string::npos);
  clock.now += 59'999;
  turn_over();
  turn_over();
  EXPECT_EQ(metric("ashlar_readers_given_up_total"), 2);
  clock.now += 1;
  EXPECT_TRUE(until([&] { return metric("ashlar_readers_given_up_total") == 3; }));
}

TEST_F(LiveLease, AnybodysMetricsAreMadeOnceASecondByAClockThatIsNeverSetBack) {
  start({.has_probes = true, .monotonic = [&] { return clock.pass(); }});
  ASSERT_TRUE(until([&] { return has_logged("caches are synced"); }));
  turn_both_over();
  const std::string first = answer_to("/metrics", scheduler->probe_port());
  ASSERT_NE(first.find("\nashlar_watch_lag_seconds"), std::string::npos) << first;
  clock.now += 999;
  turn_over();
  EXPECT_EQ(answer_to("/metrics", scheduler->probe_port()), first);
  EXPECT_NE(answer_to("/metrics"), first) << "an operator's are made each time";
  clock.now += 1;
  turn_over();
  EXPECT_NE(answer_to("/metrics", scheduler->probe_port()), first);
}

TEST_F(LiveLease, IsLostByASilentServerButTheProcessLives) {
  start({.leader = {.lease_duration = Millis(2000), .renew_deadline = Millis(1200), .retry_period = Millis(50)}});
  ASSERT_TRUE(until([&] { return has_logged("caches are synced"); }));
  ASSERT_TRUE(until([&] { return has_status("/readyz", "200"); }));  // the loop says so when it turns
  cluster.hold_bindings(true);
  cluster.put_pod("p", 1);  // its binding makes the server silent
  ASSERT_TRUE(until([&] { return has_logged("me is on standby"); }));
  EXPECT_TRUE(has_status("/livez", "200"));
  EXPECT_TRUE(until([&] { return has_status("/readyz", "503"); }));  // the loop says so when it turns
  cluster.hold_bindings(false);
  EXPECT_TRUE(until([&] { return has_status("/readyz", "200"); })) << "and comes back";
  cluster.put_pod("later", 1);
  EXPECT_TRUE(until([&] { return cluster.count({"later/binding"}) == 1; })) << "leads again, and has its nodes";
  EXPECT_NE(answer_to("/api/v1/nodes").find(R"("name":"n")"), std::string::npos);
}

TEST_F(LiveLease, QuestionsAreRefusedOnceItStopsAndBindingsUnderWayAreWaitedFor) {
  cluster.hold_bindings(true);
  cluster.put_pod("p", 1);
  start({.drain_max = Millis(60'000)});
  ASSERT_TRUE(until([&] { return cluster.count({"/binding"}) == 1; }));
  EXPECT_TRUE(has_logged("caches are synced; nodes: 1, pods: 1"));
  EXPECT_EQ(answer_to("/readyz"), "200 ok\n");
  scheduler->stop();
  for (const char* path : {"/metrics", "/api/v1/queue", "/api/v1/nodes", "/api/v1/why?name=p"})
    EXPECT_EQ(answer_to(path), "503 stopping\n") << path;
  EXPECT_EQ(answer_to("/livez"), "200 ok\n");
  EXPECT_EQ(given_back(), 0u);
  cluster.hold_bindings(false);
  stop();
  EXPECT_TRUE(has_logged("stopping"));
  EXPECT_FALSE(has_logged("not released"));
  EXPECT_EQ(given_back(), 1u);
}

TEST_F(LiveLease, AQuestionBeforeTheCachesAreFilledIsToldSo) {
  cluster.refuse("pods", 503);
  start();
  ASSERT_TRUE(until([&] { return has_logged("me is the leader"); }));
  for (const char* path : {"/api/v1/queue", "/api/v1/nodes", "/api/v1/why?name=p"})
    EXPECT_TRUE(until([&] { return answer_to(path).find("the caches are not synced yet") != std::string::npos; }))
        << path;
  EXPECT_TRUE(until([&] {
    return answer_to("/api/v1/queue").find("pods cannot be listed: HTTP 503") != std::string::npos;
  })) << answer_to("/api/v1/queue");
  EXPECT_EQ(answer_to("/readyz"), "503 caches are not synced\n");
  EXPECT_NE(answer_to("/metrics").find("ashlar_ready 0\n"), std::string::npos);
  EXPECT_EQ(answer_to("/metrics").find("ashlar_nodes"), std::string::npos)
      << "nothing is said of what is not known whole";
  cluster.refuse("pods", 200);
  EXPECT_TRUE(until([&] { return answer_to("/readyz") == "200 ok\n"; }));
  const std::string metrics = answer_to("/metrics");
  EXPECT_NE(metrics.find("ashlar_ready 1\n"), std::string::npos);
  EXPECT_NE(metrics.find("ashlar_leader 1\n"), std::string::npos);
  EXPECT_NE(metrics.find("ashlar_nodes 1\n"), std::string::npos);
  EXPECT_NE(answer_to("/api/v1/nodes").find(R"("name":"n")"), std::string::npos);
}

/// A scheduler with much to do, whose server goes away with its first binding.
class Outstanding {
 public:
  Outstanding(int how, bool has_lease) : gate_(cluster_.port(), "/binding", how) {
    for (int i = 0; i < 16; ++i) cluster_.put_node("n" + std::to_string(i), 8);
    for (int i = 0; i < 120; ++i) cluster_.put_pod("fits" + std::to_string(i), 1);
    for (int i = 0; i < 60; ++i) cluster_.put_pod("big" + std::to_string(i), 9);  // conditions and events
    cluster_.put_group("g", 2);
    for (int i = 0; i < 2; ++i) cluster_.put_pod("g" + std::to_string(i), 9, "g");
    SchedulerOptions o;
    o.access = {.origin = "test", .server = gate_.url()};
    o.leader_term.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
    o.is_listening = false;
    o.leader.is_enabled = has_lease;
    o.leader.identity = "me";
    auto made = Scheduler::create(std::move(o));
    EXPECT_TRUE(made.ok());
    scheduler_ = std::move(made).value();
    thread_ = std::thread([this] { scheduler_->run(); });
  }
  ~Outstanding() {
    scheduler_->abandon();
    thread_.join();
  }
  CountingGate& gate() { return gate_; }

 private:
  SmallCluster cluster_;
  CountingGate gate_;
  std::unique_ptr<Scheduler> scheduler_;
  std::thread thread_;
};

/// When what had been sent before anybody knew of the outage has all arrived, on a busy machine seconds later: the
/// first second with at most ten.
CountingGate::Clock::time_point calm_since(CountingGate& gate) {
  auto from = gate.outage_began();
  while (gate.between(from, from + std::chrono::seconds(1)).size() > 10) from += std::chrono::milliseconds(100);
  return from;
}

TEST(LiveOutage, CostsTheServerAtMostTenRequestsASecondOfAllKindsTogether) {
  constexpr int kSeconds = 18;  // bindings without an answer end after 15
  constexpr int kSpan = 4;      // a busy machine may bring together what was sent apart
  std::map<std::string, std::unique_ptr<Outstanding>> all;
  for (const int how : {429, 503, 500, CountingGate::kSilent, CountingGate::kCut})
    for (const bool has_lease : {true, false})
      all["outage " + std::to_string(how) + (has_lease ? " with" : " without") + " a lease"] =
          std::make_unique<Outstanding>(how, has_lease);
  const auto has_begun = [](const auto& one) {
    return one.second->gate().outage_began() != CountingGate::Clock::time_point::max();
  };
  const auto patience = CountingGate::Clock::now() + std::chrono::seconds(20);
  while (!std::all_of(all.begin(), all.end(), has_begun) && CountingGate::Clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(std::all_of(all.begin(), all.end(), has_begun));
  std::this_thread::sleep_for(std::chrono::seconds(kSeconds));
  for (const auto& [name, one] : all) {
    const auto end = one->gate().outage_began() + std::chrono::seconds(kSeconds);
    const auto calm = calm_since(one->gate());
    EXPECT_LE(calm - one->gate().outage_began(), std::chrono::seconds(6))
        << name << ": what was under way has come long ago";
    for (auto from = calm; from + std::chrono::seconds(kSpan) <= end; from += std::chrono::seconds(1)) {
      const std::vector<std::string> seen = one->gate().between(from, from + std::chrono::seconds(kSpan));
      std::string what;
      for (const std::string& line : seen) what += "\n  " + line;
      EXPECT_LE(seen.size(), 10u * kSpan) << name << what;
    }
  }
}

/// Servers of three releases describe their fields.
class LiveLeaseOfARelease : public LiveLease, public ::testing::WithParamInterface<const char*> {};

TEST_P(LiveLeaseOfARelease, NamesAtStartWhatTheServerHasAndNobodyHereKnows) {
  const std::string release = GetParam();
  const std::string group_version = release == "1.36.3" ? "v1alpha2" : "v1beta1";
  cluster.describe("api/v1", recorded(release, "openapi-core.json"));
  cluster.describe("apis/storage.k8s.io/v1", recorded(release, "openapi-storage.json"));
  cluster.describe("apis/scheduling.k8s.io/" + group_version, recorded(release, "openapi-scheduling.json"));
  start();
  const std::string words = "the API server has fields that this release does not know: ";
  if (release == "1.36.3") {  // an alpha field of a pod's status, which 1.37 has no more
    EXPECT_TRUE(until([&] { return has_logged(words + "NodeAllocatableResourceClaimStatus.resources; "); }));
    return;
  }
  if (release == "1.38") {
    EXPECT_TRUE(until([&] { return has_logged(words); }));
    for (const char* name : {"PodSpec", "NodeStatus", "PersistentVolumeClaimSpec", "CSIDriverSpec", "PodGroupSpec"})
      EXPECT_TRUE(has_logged(std::string(name) + ".newDefault")) << name;
    return;
  }
  ASSERT_TRUE(until([&] { return cluster.count({"GET /openapi/v3/apis/scheduling.k8s.io/v1alpha2"}) == 1; }));
  ASSERT_TRUE(until([&] { return has_logged("caches are synced"); }));
  turn_over();
  EXPECT_FALSE(has_logged("this release does not know"));
}

INSTANTIATE_TEST_SUITE_P(Of, LiveLeaseOfARelease, ::testing::Values("1.36.3", "1.37.1", "1.38"),
                         [](const auto& of) { return std::string(of.param).substr(2, 2); });

}  // namespace
}  // namespace ashlar::kube
