// The whole live scheduler on a small cluster: when it takes the lease, keeps it and gives it back.
#include "kube/live_scheduler.h"

#include <thread>

#include "small_cluster.h"

namespace ashlar::kube {
namespace {

class LiveLease : public ::testing::Test {
 protected:
  LiveLease() { cluster.put_node("n", 8); }
  void start(LiveOptions more = {}) {
    more.access = cluster.access();
    more.reign.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
    more.encoding = Encoding::kJson;
    more.leader.identity = "me";
    more.log = [this](LogLevel, const LogLine& line) {
      const std::lock_guard lock(lock_);
      log_.push_back(line.message);
    };
    auto made = LiveScheduler::create(std::move(more));
    ASSERT_TRUE(made.ok()) << made.error().message;
    scheduler = std::move(made).value();
    thread_ = std::thread([this] { scheduler->run(); });
  }
  void stop() {
    scheduler->stop();
    thread_.join();
  }
  ~LiveLease() override {
    cluster.hold_bindings(false);
    if (thread_.joinable()) stop();
  }
  template <class IsDone>
  static bool until(IsDone&& is_done) {
    const auto deadline = SmallCluster::Clock::now() + std::chrono::seconds(20);
    while (!is_done() && SmallCluster::Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return is_done();
  }
  bool has_logged(const std::string& part) {
    const std::lock_guard lock(lock_);
    return std::any_of(log_.begin(), log_.end(), [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  int status_of(const std::string& path) {
    auto client = http::Client::create({.base_url = "http://127.0.0.1:" + std::to_string(scheduler->port())});
    int status = 0;
    (*client)->send({.path = path}, [&](Result<http::Response> answer) { status = answer ? answer->status : -1; });
    until([&] { return (*client)->poll(Millis(5)), status != 0; });
    return status;
  }
  std::size_t given_back() { return cluster.count({"PUT", "/leases/", R"("holderIdentity":"")"}); }

  SmallCluster cluster;
  std::unique_ptr<LiveScheduler> scheduler;

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
  start({.drain_max = Millis(200)});
  ASSERT_TRUE(until([&] { return cluster.count({"/binding"}) == 1; }));
  stop();
  cluster.hold_bindings(false);
  EXPECT_TRUE(has_logged("the lease is not given back but left to end"));
  EXPECT_EQ(given_back(), 0u);
}

TEST_F(LiveLease, IsLostByASilentServerButTheProcessLives) {
  start({.leader = {.lease_duration = Millis(900), .renew_deadline = Millis(400), .retry_period = Millis(50)}});
  ASSERT_TRUE(until([&] { return has_logged("caches are filled"); }));
  EXPECT_EQ(status_of("/readyz"), 200);
  cluster.hold_bindings(true);
  cluster.put_pod("p", 1);  // its binding makes the server silent
  ASSERT_TRUE(until([&] { return has_logged("me stands by"); }));
  EXPECT_EQ(status_of("/livez"), 200);
  EXPECT_EQ(status_of("/readyz"), 503);
  cluster.hold_bindings(false);
  EXPECT_TRUE(until([&] { return status_of("/readyz") == 200; })) << "and comes back";
}

}  // namespace
}  // namespace ashlar::kube
