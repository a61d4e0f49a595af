// A question to a service of which one replica at a time can answer; and requests that may not leave any more.
#include "http/retrying_get.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <set>
#include <thread>

#include "http/server.h"

namespace ashlar::http {
namespace {

std::string url_of(const Server& server) { return "http://127.0.0.1:" + std::to_string(server.port()); }

TEST(Question, IsRepeatedOnNewConnectionsWhileAStandbyAnswers) {
  std::set<std::string> remotes;
  auto server =
      Server::start({}, {{"/why", [&](const ServerRequest& request) {
                            remotes.insert(request.remote);
                            return remotes.size() < 3 ? json(503, R"({"reason":"Standby"})") : text(200, "because");
                          }}});
  const Result<Response> answer = retrying_get(url_of(**server), "/why", {.pause = Millis(1)});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->body, "because");
  EXPECT_EQ(remotes.size(), 3u) << "a kept connection would lead to the same replica each time";
}

TEST(Question, EndsWithTheLastAnswerWhenNobodyLeads) {
  std::atomic<int> asked = 0;
  auto server = Server::start({}, {{"/why", [&](const auto&) {
                                      ++asked;
                                      return json(503, R"({"reason":"Standby"})");
                                    }}});
  const Result<Response> answer = retrying_get(url_of(**server), "/why", {.tries_max = 4, .pause = Millis(1)});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(asked, 4);
}

TEST(Question, OtherAnswersAndTroubleAreFinal) {
  std::atomic<int> asked = 0;
  auto server = Server::start({}, {{"/why", [&](const auto&) {
                                      ++asked;
                                      return text(404, "nobody knows");
                                    }}});
  EXPECT_EQ(retrying_get(url_of(**server), "/why")->status, 404);
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(retrying_get("http://127.0.0.1:1", "/why").ok());
}

TEST(Client, ARequestIsAskedWhetherItMayLeaveWhenItWouldLeave) {
  std::atomic<int> seen = 0;
  std::atomic<bool> is_held = true;
  auto server = Server::start({}, {{"/slow",
                                    [&](const auto&) {
                                      while (is_held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                      return text(200, "slow");
                                    }},
                                   {"/late", [&](const auto&) {
                                      ++seen;
                                      return text(200, "late");
                                    }}});
  auto client = Client::create({.base_url = url_of(**server)});
  // all connections that there may be
  for (int i = 0; i < 4; ++i) (*client)->send({.path = "/slow"}, [](const auto&) {});
  bool may_send = true;
  std::optional<Result<Response>> answer;
  (*client)->send({.path = "/late", .may_send = [&] { return may_send; }},
                  [&](Result<Response> r) { answer = std::move(r); });
  for (int i = 0; i < 20; ++i) (*client)->poll(Millis(5));
  may_send = false;
  is_held = false;
  while (!answer) (*client)->poll(Millis(20));
  ASSERT_FALSE(answer->ok());
  EXPECT_EQ(answer->error().kind, Error::Kind::kUnavailable);
  EXPECT_NE(answer->error().message.find("GET /late: not sent"), std::string::npos) << answer->error().message;
  EXPECT_EQ(seen, 0);
  answer.reset();
  (*client)->send({.path = "/late"}, [&](Result<Response> r) { answer = std::move(r); });
  while (!answer) (*client)->poll(Millis(20));
  EXPECT_TRUE(answer->ok()) << "a handle that was asked once is not asked for others";
}

TEST(Client, WhatAFullQueueRefusedCanBeCancelled) {
  auto server = Server::start({}, {{"/x", [](const auto&) { return text(200, "x"); }}});
  auto client = Client::create({.base_url = url_of(**server), .requests_in_flight_max = 1, .queue_max = 1});
  int told = 0;
  (*client)->send({.path = "/x"}, [](const auto&) {});
  const RequestId refused = (*client)->send({.path = "/x"}, [&](const auto&) { ++told; });
  (*client)->cancel(refused);
  while ((*client)->in_flight() > 0) (*client)->poll(Millis(20));
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace ashlar::http
