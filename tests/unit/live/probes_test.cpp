// The two ports of a scheduler that reaches no API server: what each answers, and that probes are answered beside any
// number of idle connections.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "http/retrying_get.h"
#include "live/lead/scheduler.h"

namespace ashlar::kube {
namespace {

class Probes : public testing::Test {
 protected:
  void SetUp() override {
    SchedulerOptions options;
    options.access = {.origin = "test", .server = "http://127.0.0.1:1"};
    options.leader_term.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
    options.has_probes = true;
    options.probes.connections_max = 64;
    options.decision_log = [] { return LogFacts{7, true}; };
    auto created = Scheduler::create(std::move(options));
    ASSERT_TRUE(created.ok()) << created.error().message;
    scheduler = std::move(created).value();
    loop = std::thread([this] { scheduler->run(); });
  }
  void TearDown() override {
    for (const int fd : idle) ::close(fd);
    scheduler->abandon();
    loop.join();
  }
  static std::string get(std::uint16_t port, const std::string& path) {
    const Result<http::Response> answer = http::retrying_get("http://127.0.0.1:" + std::to_string(port), path);
    return answer.ok() ? std::to_string(answer->status) + " " + answer->body : answer.error().message;
  }
  void open_idle(std::uint16_t port, int count) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    for (int i = 0; i < count; ++i) {
      idle.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      ASSERT_EQ(::connect(idle.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
  }

  std::unique_ptr<Scheduler> scheduler;
  std::thread loop;
  std::vector<int> idle;
};

TEST_F(Probes, AreAnsweredBesideIdleConnectionsToEitherPort) {
  EXPECT_NE(scheduler->port(), scheduler->probe_port());
  for (const std::uint16_t crowded : {scheduler->port(), scheduler->probe_port()}) {
    open_idle(crowded, 300);
    for (const std::uint16_t asked : {scheduler->probe_port(), scheduler->port()}) {
      EXPECT_EQ(get(asked, "/livez"), "200 ok\n");
      EXPECT_EQ(get(asked, "/healthz"), "200 ok\n");
    }
  }
}

TEST_F(Probes, SayThatItIsNotReadyBeforeTheCachesAreFilled) {
  EXPECT_EQ(get(scheduler->probe_port(), "/readyz"), "503 caches are not synced\n");
}

TEST_F(Probes, HaveMetricsBesideThemAndNoQuestions) {
  EXPECT_TRUE(get(scheduler->probe_port(), "/api/v1/queue").starts_with("404"));
  EXPECT_TRUE(get(scheduler->probe_port(), "/api/v1/why?name=a/b").starts_with("404"));
  std::string metrics;  // the log's numbers come with the first turn of the loop
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  do {
    metrics = get(scheduler->probe_port(), "/metrics");
  } while (metrics.find("ashlar_decision_log") == std::string::npos && std::chrono::steady_clock::now() < deadline);
  EXPECT_NE(metrics.find("ashlar_leader 0"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("ashlar_decision_log_steps_lost_total 7"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("ashlar_decision_log_stopped 1"), std::string::npos) << metrics;
}

}  // namespace
}  // namespace ashlar::kube
