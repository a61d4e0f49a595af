// Api against small servers: credentials that renew, answers as kinds of error, timers.
#include "kubeclient/api.h"
#include "kubeclient/bind_outcome.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "http/server.h"

namespace ashlar::kube {
namespace {

Answer answer_of(int status, std::string body = {}, std::string type = "application/json", Millis retry_after = {}) {
  return to_answer(http::Response{
      .status = status, .body = std::move(body), .content_type = std::move(type), .retry_after = retry_after});
}

TEST(Answer, StatusesBecomeKindsOfError) {
  using Kind = Error::Kind;
  const std::pair<int, Kind> cases[] = {{400, Kind::kInvalid},     {401, Kind::kDenied},      {403, Kind::kDenied},
                                        {404, Kind::kNotFound},    {408, Kind::kTimeout},     {409, Kind::kConflict},
                                        {410, Kind::kExpired},     {413, Kind::kInvalid},     {422, Kind::kInvalid},
                                        {429, Kind::kUnavailable}, {500, Kind::kUnavailable}, {503, Kind::kUnavailable},
                                        {504, Kind::kTimeout},     {302, Kind::kInternal}};
  for (const auto& [status, kind] : cases) {
    const Answer answer = answer_of(status);
    ASSERT_FALSE(answer.ok()) << status;
    EXPECT_EQ(answer.result.error().kind, kind) << status;
    EXPECT_EQ(answer.status, status);
  }
  EXPECT_TRUE(answer_of(201, "body").ok());
  EXPECT_EQ(answer_of(201, "body").body, "body");
}

TEST(Answer, FailuresCarryTheServersWordsReasonAndDelay) {
  const Answer status = answer_of(
      429,
      R"({"kind":"Status","message":"slow down","reason":"TooManyRequests","details":{"retryAfterSeconds":3},"code":429})");
  EXPECT_EQ(status.result.error().message, "HTTP 429: slow down");
  EXPECT_EQ(status.reason, "TooManyRequests");
  EXPECT_EQ(status.retry_after, Millis(3'000));
  EXPECT_EQ(answer_of(503, "", "", Millis(7'000)).retry_after, Millis(7'000)) << "the header wins";
  EXPECT_EQ(answer_of(502, "<html>\n\x1b[31mbad\xc2\x9b", "text/html").result.error().message,
            "HTTP 502: <html>  [31mbad ")
      << "a terminal may show it";
  EXPECT_EQ(answer_of(502, "<html>bad gateway</html>\n", "text/html").result.error().message,
            "HTTP 502: <html>bad gateway</html>");
  EXPECT_EQ(answer_of(500, "k8s", "application/vnd.kubernetes.protobuf").result.error().message, "HTTP 500: k8s")
      << "unreadable bodies are shown as they are";
  const Answer none = to_answer(Error{Error::Kind::kTimeout, "no answer"});
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.result.error().kind, Error::Kind::kTimeout);
}

TEST(Answer, WhatAnAdmissionWebhookRefusesIsNoTroubleOfTheServer) {
  const auto refused = [](int status, const std::string& who) {
    return answer_of(status,
                     R"({"kind":"Status","message":")" + who +
                         R"( \"w.example.com\" denied the request: no","reason":"NotFound",)"
                         R"("details":{"retryAfterSeconds":60}})",
                     "application/json", Millis(60'000));
  };
  for (const int status : {404, 429, 500, 502, 503}) {
    const Answer answer = refused(status, "admission webhook");
    EXPECT_TRUE(answer.is_of_webhook) << status;
    EXPECT_EQ(health_of(answer), ServerHealth::kSound) << status;
    EXPECT_EQ(answer.retry_after, Millis(0)) << "a tenant's webhook does not say how long all others wait";
    EXPECT_EQ(bind_outcome(answer), BindOutcome::kRefused) << status;
    EXPECT_FALSE(says_gone(answer)) << "and not that the object is gone";
  }
  const Answer server = refused(429, "another webhook");
  EXPECT_FALSE(server.is_of_webhook);
  EXPECT_EQ(health_of(server), ServerHealth::kTrouble);
  EXPECT_EQ(server.retry_after, Millis(60'000));
}

class Credentials : public ::testing::Test {
 protected:
  Credentials() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ashlar-api-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    auto started = http::Server::start(
        {}, {{"/", [this](const http::ServerRequest& r) {
                return r.authorization == "Bearer " + good_
                           ? http::json(200, "{}")
                           : http::json(401, R"({"kind":"Status","message":"Unauthorized","code":401})");
              }}});
    EXPECT_TRUE(started.ok());
    server_ = std::move(started).value();
  }
  ~Credentials() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  /// A plugin that prints token-1, then token-2, ...
  Access with_plugin(const std::string& expires) const {
    const std::string script = folder_ + "/plugin";
    std::ofstream(script) << "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho x >> runs\nn=$(wc -l < runs | tr -d ' ')\n"
                             "printf '{\"kind\":\"ExecCredential\",\"status\":{"
                          << (expires.empty() ? "" : "\"expirationTimestamp\":\"" + expires + "\",")
                          << "\"token\":\"token-%s\"}}' \"$n\"\n";
    chmod(script.c_str(), 0755);
    Access access{.origin = "test", .server = url()};
    access.exec = ExecPlugin{.command = script, .api_version = "client.authentication.k8s.io/v1"};
    return access;
  }
  int runs() const {
    std::ifstream in(folder_ + "/runs");
    int count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  }
  static void poll_for(Api& api, std::chrono::milliseconds time) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < deadline) api.poll(Millis(5));
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  std::string folder_, good_;
  std::unique_ptr<http::Server> server_;
};

TEST_F(Credentials, ARefusedTokenMakesThePluginRunAgainAndTheRequestIsRepeated) {
  good_ = "token-2";
  auto api = Api::create({.access = with_plugin("")});
  ASSERT_TRUE(api.ok()) << api.error().message;
  int answered = 0, ok = 0;
  for (int i = 0; i < 5; ++i) (*api)->send({.path = "/x"}, [&](Answer a) { ++answered, ok += a.ok(); });
  while (answered < 5) (*api)->poll(Millis(50));
  EXPECT_EQ(ok, 5);
}

TEST_F(Credentials, APluginThatBringsNothingBetterEndsInARefusal) {
  good_ = "unreachable";
  auto api = Api::create({.access = with_plugin("")});
  const Answer answer = call(**api, {.path = "/x"});
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.result.error().kind, Error::Kind::kDenied);
}

TEST_F(Credentials, ExpiringTokensAreRenewedBeforehand) {
  Millis now{1767225600000};  // one minute before the expiry that the plugin states
  auto api = Api::create({.access = with_plugin("2026-01-01T00:01:00Z"), .now = [&] { return now; }});
  ASSERT_TRUE(api.ok());
  now += Millis(47'900);
  poll_for(**api, std::chrono::milliseconds(50));
  EXPECT_EQ(runs(), 1) << "a fifth of its life is left: no need yet";
  now += Millis(100);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (runs() < 2 && std::chrono::steady_clock::now() < deadline) (*api)->poll(Millis(20));
  EXPECT_EQ(runs(), 2) << "the plugin ran again without a refusal";
}

TEST_F(Credentials, APluginWhoseTokensAreExpiredByOurClockIsNotRunWithoutPause) {
  good_ = "token-1";
  // a year later
  auto api = Api::create({.access = with_plugin("2026-01-01T00:01:00Z"), .now = [] { return Millis(1798761600000); }});
  ASSERT_TRUE(api.ok());
  poll_for(**api, std::chrono::milliseconds(300));
  EXPECT_LE(runs(), 2) << "at the start, and once in five seconds";
  EXPECT_TRUE(call(**api, {.path = "/x"}).ok() || runs() > 1);
}

TEST_F(Credentials, RefusalsDoNotRunThePluginWithoutPause) {
  good_ = "unreachable";
  auto api = Api::create({.access = with_plugin("")});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(call(**api, {.path = "/x"}).status, 401);
  EXPECT_EQ(runs(), 2);
}

TEST_F(Credentials, WhatWaitedForCredentialsIsAskedAgainWhetherItMayLeave) {
  good_ = "token-2";
  auto api = Api::create({.access = with_plugin("")});
  int asked = 0;
  const Answer answer = call(**api, {.path = "/x", .may_send = [&] { return ++asked == 1; }});
  EXPECT_EQ(asked, 2);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.result.error().kind, Error::Kind::kUnavailable) << answer.result.error().message;
}

TEST_F(Credentials, WhatWaitsForCredentialsCanBeCancelled) {
  good_ = "token-2";
  Access access = with_plugin("");
  auto api = Api::create({.access = access});
  std::ofstream(access.exec->command)
      << "#!/bin/sh\nsleep 0.3\necho '{\"kind\":\"ExecCredential\",\"status\":{\"token\":\"token-2\"}}'\n";
  bool is_answered = false;
  const http::RequestId id = (*api)->send({.path = "/x"}, [&](const Answer&) { is_answered = true; });
  while ((*api)->in_flight() > 0) (*api)->poll(Millis(5));
  ASSERT_FALSE(is_answered) << "refused, and the plugin runs";
  (*api)->cancel(id);
  const std::uint64_t sent = (*api)->counters().requests;
  poll_for(**api, std::chrono::milliseconds(500));
  EXPECT_FALSE(is_answered);
  EXPECT_EQ((*api)->counters().requests, sent);
}

TEST_F(Credentials, APluginThatFailsAtStartIsAnError) {
  Access access = with_plugin("");
  access.exec->command = "/no/such/plugin";
  EXPECT_EQ(Api::create({.access = access}).error().kind, Error::Kind::kDenied);
}

TEST_F(Credentials, TimersRunInOrderAndCanBeCancelled) {
  auto api = Api::create({.access = {.server = url()}});
  std::string order;
  (*api)->after(Millis(40), [&] { order += "b"; });
  (*api)->after(Millis(10), [&] { order += "a"; });
  const std::uint64_t cancelled = (*api)->after(Millis(20), [&] { order += "x"; });
  (*api)->cancel_timer(cancelled);
  const auto start = std::chrono::steady_clock::now();
  while (order.size() < 2) (*api)->poll(Millis(20'000));
  EXPECT_EQ(order, "ab");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << "poll() wakes for timers";
}

TEST(Api, ABrokenPipeIsNotTheEndOfAProcessThatUsesIt) {
  ASSERT_TRUE(Api::create({.access = {.server = "http://127.0.0.1:1"}}).ok());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1) << "and not a signal that ends the test";
  close(ends[1]);
}

// ---- the process ----------------------------------------------------------------------------------------------------

int raised_after_create(void (*handler)(int)) {
  std::signal(SIGPIPE, handler);
  const bool is_made = Api::create({.access = {.origin = "test", .server = "http://127.0.0.1:1"}}).ok();
  std::raise(SIGPIPE);
  return is_made ? 0 : 1;
}

TEST(ApiDeathTest, APipeThatBreaksUnderAWriteDoesNotEndTheProcess) {
  EXPECT_EXIT(std::_Exit(raised_after_create(SIG_DFL)), ::testing::ExitedWithCode(0), "");
}

TEST(ApiDeathTest, WhoHandlesBrokenPipesGoesOnDoingSo) {
  EXPECT_EXIT(std::_Exit(raised_after_create([](int) { std::_Exit(7); })), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace ashlar::kube
