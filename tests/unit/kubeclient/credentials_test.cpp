// Credentials that renew, by a clock of the test's own: token files that are read again, plugins that fail, what waits
// for them.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>

#include "http/server.h"
#include "kubeclient/api.h"

namespace ashlar::kube {
namespace {

constexpr Millis kMidnight{1'767'225'600'000};  // 2026-01-01T00:00:00Z

class Renewal : public ::testing::Test {
 protected:
  Renewal() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ashlar-renewal-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    server_ = http::Server::start({}, {{"/",
                                        [this](const http::ServerRequest& r) {
                                          std::unique_lock lock(lock_);
                                          shown_.push_back(r.authorization);
                                          changed_.wait(lock, [&] { return r.authorization != held_; });
                                          return r.authorization == "Bearer " + good_ ? http::json(200, "{}")
                                                                                      : http::json(401, "{}");
                                        }}})
                  .value();
  }
  ~Renewal() override {
    hold("none");
    api.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void accept(const std::string& token) {
    const std::lock_guard lock(lock_);
    good_ = token;
  }
  /// Requests that carry this are not answered for now.
  void hold(const std::string& authorization) {
    const std::lock_guard lock(lock_);
    held_ = authorization;
    changed_.notify_all();
  }
  std::size_t count() {
    const std::lock_guard lock(lock_);
    return shown_.size();
  }
  /// What requests carried since the last call.
  std::vector<std::string> shown() {
    const std::lock_guard lock(lock_);
    return std::exchange(shown_, {});
  }
  std::string token_file() const { return folder_ + "/token"; }
  void write_token(const std::string& text) { std::ofstream(token_file()) << text; }
  /// From now on the plugin prints this and exits with the status.
  void let_plugin_say(const std::string& text, int status = 0) {
    std::ofstream(folder_ + "/answer") << text;
    std::ofstream(folder_ + "/status") << status;
  }
  static std::string credential(const std::string& token, const std::string& expires = "") {
    return R"({"kind":"ExecCredential","status":{"token":")" + token + "\"" +
           (expires.empty() ? "" : R"(,"expirationTimestamp":")" + expires + "\"") + "}}";
  }
  int runs() const {
    std::ifstream in(folder_ + "/runs");
    int count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  }
  void open(Access access) {
    access.origin = "test";
    access.server = "http://127.0.0.1:" + std::to_string(server_->port());
    auto made =
        Api::create({.access = std::move(access), .now = [this] { return wall; }, .monotonic = [this] { return now; }});
    ASSERT_TRUE(made.ok()) << made.error().message;
    api = std::move(made).value();
  }
  void open_with_file() { open({.token_file = token_file()}); }
  void open_with_plugin() {
    const std::string script = folder_ + "/plugin";
    std::ofstream(script) << "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho x >> runs\necho 'no luck today' >&2\ncat "
                             "answer\nexit $(cat status)\n";
    chmod(script.c_str(), 0755);
    Access access;
    access.exec = ExecPlugin{.command = script, .api_version = "client.authentication.k8s.io/v1"};
    open(std::move(access));
  }
  template <class IsDone>
  void wait(IsDone&& is_done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!is_done() && std::chrono::steady_clock::now() < deadline) api->poll(Millis(5));
    EXPECT_TRUE(is_done());
  }
  Answer ask() { return call(*api, {.path = "/x"}); }

  Millis wall = kMidnight, now{500'000};
  std::unique_ptr<Api> api;

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::string folder_, good_ = "one", held_ = "none";
  std::vector<std::string> shown_;
  std::unique_ptr<http::Server> server_;
};

using Shown = std::vector<std::string>;

// ---- token files ----------------------------------------------------------------------------------------------------

TEST_F(Renewal, ATokenFileIsReadAgainWhenItIsMoreThanAMinuteOld) {
  write_token("one \r\n");
  open_with_file();
  EXPECT_TRUE(ask().ok());
  write_token("two\n");
  now += Millis(60'000);
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(shown(), (Shown{"Bearer one", "Bearer one"})) << "a minute, not more";
  accept("two");
  now += Millis(1);
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(shown(), Shown{"Bearer two"}) << "without a refusal";
}

TEST_F(Renewal, AnEmptyTokenFileLeavesTheOldTokenForAnotherMinute) {
  write_token("one");
  open_with_file();
  write_token("\n");
  now += Millis(60'001);
  EXPECT_TRUE(ask().ok());
  write_token("two");
  now += Millis(60'000);
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(shown(), (Shown{"Bearer one", "Bearer one"}));
  accept("two");
  now += Millis(1);
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(shown(), Shown{"Bearer two"});
}

TEST_F(Renewal, ARefusalReadsTheTokenFileAgainAtOnce) {
  write_token("one");
  open_with_file();
  write_token("two");
  accept("two");
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(shown(), (Shown{"Bearer one", "Bearer two"}));
}

TEST_F(Renewal, ARefusalStandsWhereTheTokenFileHasNothing) {
  write_token("one");
  open_with_file();
  std::filesystem::remove(token_file());
  accept("two");
  const Answer answer = ask();
  EXPECT_EQ(answer.status, 401);
  EXPECT_FALSE(answer.ok());
  EXPECT_EQ(shown(), Shown{"Bearer one"}) << "the same again would be refused again";
  accept("one");
  EXPECT_TRUE(ask().ok());
}

TEST_F(Renewal, AStreamThatIsRefusedRenewsWhatTheNextOneCarries) {
  write_token("one");
  open_with_file();
  write_token("two");
  accept("two");
  int ended = 0;
  const auto stream = [&](std::optional<Result<http::Response>>& end) {
    api->stream({.path = "/watch", .timeout = Millis(0)},
                {.on_chunk = [](std::string_view) { return true; },
                 .on_done = [&](Result<http::Response> e) { end = std::move(e), ++ended; }},
                Millis(5'000));
  };
  std::optional<Result<http::Response>> first, second;
  stream(first);
  wait([&] { return ended == 1; });
  EXPECT_EQ((*first)->status, 401) << "opening it again is the caller's business";
  stream(second);
  wait([&] { return ended == 2; });
  EXPECT_EQ(shown(), (Shown{"Bearer one", "Bearer two"}));
  write_token("three");
  stream(first);
  wait([&] { return ended == 3; });
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(shown(), (Shown{"Bearer two", "Bearer two"})) << "nothing is read again without a refusal";
}

TEST_F(Renewal, AnAccessWhoseTokenFileHasNothingIsRefused) {
  for (const bool is_there : {false, true}) {
    if (is_there) write_token(" \r\n");
    const auto made =
        Api::create({.access = {.origin = "test", .server = "http://127.0.0.1:1", .token_file = token_file()}});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().kind, Error::Kind::kDenied);
    EXPECT_EQ(made.error().message,
              "token: " + token_file() + (is_there ? ": is empty" : ": cannot be read: No such file or directory"));
  }
}

// ---- plugins --------------------------------------------------------------------------------------------------------

TEST_F(Renewal, AllThatWaitForAPluginThatFailsAreToldItsWords) {
  let_plugin_say(credential("one"));
  open_with_plugin();
  let_plugin_say("", 3);
  accept("two");
  std::vector<Answer> answers;
  for (int i = 0; i < 3; ++i) api->send({.path = "/x"}, [&](Answer a) { answers.push_back(std::move(a)); });
  wait([&] { return answers.size() == 3; });
  for (const Answer& answer : answers) {
    EXPECT_EQ(answer.status, 401);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.result.error().kind, Error::Kind::kDenied);
    EXPECT_NE(answer.result.error().message.find("exit status 3: no luck today"), std::string::npos)
        << answer.result.error().message;
  }
  EXPECT_EQ(shown(), (Shown{"Bearer one", "Bearer one", "Bearer one"})) << "none is sent again";
  EXPECT_EQ(runs(), 2);
  now += Millis(4'999);
  EXPECT_EQ(ask().result.error().message, "HTTP 401: {}") << "the plugin has just run and brought nothing";
  EXPECT_EQ(shown().size(), 1u);
  EXPECT_EQ(runs(), 2);
  let_plugin_say(credential("two"));
  now += Millis(1);
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(shown(), (Shown{"Bearer one", "Bearer two"}));
  EXPECT_EQ(runs(), 3);
}

TEST_F(Renewal, APluginThatFailedIsRunAgainAfterTenSeconds) {
  let_plugin_say(credential("one"));
  open_with_plugin();
  let_plugin_say("", 1);
  accept("two");
  EXPECT_FALSE(ask().ok());
  EXPECT_EQ(runs(), 2);
  let_plugin_say(credential("two"));
  now += Millis(60'000);
  wall += Millis(9'999);
  for (int i = 0; i < 5; ++i) api->poll(Millis(1));
  EXPECT_EQ(runs(), 2);
  wall += Millis(1);
  wait([&] { return runs() == 3; });
}

TEST_F(Renewal, RefusedSoonAfterAGoodRunIsSentOnceMoreWithWhatThatBrought) {
  let_plugin_say(credential("one"));
  open_with_plugin();
  let_plugin_say(credential("two"));
  accept("two");
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(runs(), 2);
  shown();
  accept("three");
  EXPECT_EQ(ask().status, 401);
  EXPECT_EQ(shown(), (Shown{"Bearer two", "Bearer two"}));
  EXPECT_EQ(runs(), 2);
}

TEST_F(Renewal, ALongLivedCredentialIsRenewedTwoMinutesBeforeItsEnd) {
  let_plugin_say(credential("one", "2026-01-01T01:00:00Z"));
  open_with_plugin();
  wall = kMidnight + Millis(3'600'000 - 120'001);
  for (int i = 0; i < 5; ++i) api->poll(Millis(1));
  EXPECT_EQ(runs(), 1);
  let_plugin_say(credential("two"));
  wall += Millis(1);
  wait([&] { return runs() == 2; });
  accept("two");
  wait([&] { return ask().ok(); });
  now += Millis(3'600'000);
  wall += Millis(3'600'000);
  for (int i = 0; i < 5; ++i) api->poll(Millis(1));
  EXPECT_EQ(runs(), 2) << "the second has no end";
}

TEST_F(Renewal, APluginThatNeverRanByItselfMayRunAtAnyTime) {
  now = Millis(0);  // a machine that has just started
  let_plugin_say(credential("one"));
  open_with_plugin();
  let_plugin_say(credential("two"));
  accept("two");
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(runs(), 2);
}

TEST_F(Renewal, WhatIsSentAgainCanBeCancelled) {
  write_token("one");
  open_with_file();
  write_token("two");
  accept("two");
  hold("Bearer two");
  bool is_answered = false;
  const http::RequestId id = api->send({.path = "/x"}, [&](const Answer&) { is_answered = true; });
  wait([&] { return count() == 2; });
  EXPECT_EQ(api->in_flight(), 1u);
  api->cancel(id);
  wait([&] { return api->in_flight() == 0; });
  hold("none");
  EXPECT_TRUE(ask().ok());
  EXPECT_FALSE(is_answered);
  EXPECT_EQ(api->access().token_file, token_file());
}

}  // namespace
}  // namespace ashlar::kube
