// What the client puts on the wire, byte for byte, on which connections, and what it makes of answers no decent server
// gives.
#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "ask.h"
#include "http/client.h"
#include "http/server.h"
#include "loopback.h"
#include "socket.h"

namespace ashlar::http {
namespace {

std::unique_ptr<Client> client_of(ClientOptions options) { return Client::create(std::move(options)).value(); }

/// One answer with this head and body, and the end of the connection.
std::string answered(const std::string& head, const std::string& body = "") {
  return "HTTP/1.1 " + head + "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

/// Seconds; -1 where closing takes its time.
int lingers(int fd) {
  linger value{};
  socklen_t size = sizeof value;
  getsockopt(fd, SOL_SOCKET, SO_LINGER, &value, &size);
  return value.l_onoff != 0 ? value.l_linger : -1;
}

TEST(Wire, EveryRequestIsWrittenInFull) {
  std::mutex mutex;
  std::string head;
  Loopback server([&](Wire& wire, const std::string& request) {
    {
      const std::lock_guard lock(mutex);
      head = request;
    }
    wire.say(answered("200 OK"));
  });
  const std::string port = server.url().substr(server.url().rfind(':') + 1);
  const std::string common = " HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nUser-Agent: tester\r\n";
  const std::string json = "Accept: application/json\r\nContent-Type: application/json\r\n",
                    token = "Authorization: Bearer secret\r\n";
  const std::pair<Request, std::string> cases[] = {
      {{.path = "/p?q=1"}, "GET /base/p?q=1" + common + json + token + "\r\n"},
      {{.path = "/p", .body = "a GET has none"}, "GET /base/p" + common + json + token + "\r\n"},
      {{.method = Method::kDelete, .path = "/p"}, "DELETE /base/p" + common + json + token + "\r\n"},
      {{.method = Method::kDelete, .path = "/p", .body = "x"},
       "DELETE /base/p" + common + json + token + "Content-Length: 1\r\n\r\nx"},
      {{.method = Method::kPost, .path = "/p"}, "POST /base/p" + common + json + token + "Content-Length: 0\r\n\r\n"},
      {{.method = Method::kPut, .path = "/p", .body = std::string("a\0b", 3)},
       "PUT /base/p" + common + json + token + "Content-Length: 3\r\n\r\n" + std::string("a\0b", 3)},
      {{.method = Method::kPatch, .path = "/p", .body = "{}", .content_type = "text/a", .accept = "text/b"},
       "PATCH /base/p" + common + "Accept: text/b\r\nContent-Type: text/a\r\n" + token + "Content-Length: 2\r\n\r\n{}"},
      {{.path = "/own", .has_own_connection = true}, "GET /base/own" + common + json + token + "\r\n"},
      {{.path = "/again"}, "GET /base/again" + common + json + token + "\r\n"},
  };
  const auto client =
      client_of({.base_url = server.url() + "/base//", .bearer_token = "secret", .user_agent = "tester"});
  std::uint64_t sent = 0;
  for (const auto& [request, expected] : cases) {
    sent += request.body.size();
    ASSERT_TRUE(ask(*client, request).ok());
    const std::lock_guard lock(mutex);
    EXPECT_EQ(head, expected);
  }
  const ClientCounters& counters = client->counters();
  EXPECT_EQ(counters.requests, std::size(cases));
  EXPECT_EQ(counters.connections, std::size(cases)) << "each was closed by the server";
  EXPECT_EQ(counters.failures, 0u);
  EXPECT_EQ(counters.bytes_sent, sent);
  EXPECT_EQ(counters.bytes_received, 0u);
}

TEST(Wire, AnswersAreReadInFull) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n" +
                              Loopback::chunk("ab") + Loopback::chunk("c");
  struct Case {
    std::string said;
    int status;
    std::string body, type;
    Millis retry_after;
  };
  const Case cases[] = {
      {answered("200 OK\r\nContent-Type: text/plain", "0123456789"), 200, "0123456789", "text/plain", Millis(0)},
      {answered("204 No Content"), 204, "", "", Millis(0)},
      {answered("503 No\r\nRetry-After: 1", "later"), 503, "later", "", Millis(1'000)},
      {answered("429 No\r\nRetry-After: 3600"), 429, "", "", Millis(3'600'000)},
      {answered("429 No\r\nRetry-After: 3601"), 429, "", "", Millis(3'600'000)},
      {chunked + Loopback::chunk(""), 200, "abc", "", Millis(0)},
  };
  for (const Case& c : cases) {
    Loopback server([&](Wire& wire) { wire.say(c.said); });
    const auto client = client_of({.base_url = server.url(), .body_bytes_max = 10});
    const Result<Response> answer = ask(*client, {.path = "/"});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->status, c.status);
    EXPECT_EQ(answer->body, c.body);
    EXPECT_EQ(answer->content_type, c.type);
    EXPECT_EQ(answer->retry_after, c.retry_after);
    EXPECT_EQ(client->counters().bytes_received, c.body.size());
    EXPECT_EQ(client->counters().failures, 0u);
  }
}

TEST(Wire, WhatWentWrongIsToldWithTheRequest) {
  struct Case {
    std::string said;
    Request request;
    Error::Kind kind;
    std::string words;
  };
  const Case cases[] = {
      {answered("200 OK", "01234567890"),
       {.path = "/p"},
       Error::Kind::kTooLong,
       "the answer to /p is longer than 10 bytes"},
      {answered("500 No", "01234567890"),
       {.path = "/p"},
       Error::Kind::kTooLong,
       "the answer to /p is longer than 10 bytes"},
      {"", {.method = Method::kDelete, .path = "/p"}, Error::Kind::kUnavailable, "DELETE /p: Empty reply from server"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
       {.path = "/p"},
       Error::Kind::kUnavailable,
       "GET /p: transfer closed with 8 bytes remaining to read"},
      {"",
       {.method = Method::kPut, .path = "/p", .may_send = [] { return false; }},
       Error::Kind::kUnavailable,
       "PUT /p: not sent before its timeout"},
  };
  for (const Case& c : cases) {
    Loopback server([&](Wire& wire) { wire.say(c.said); });
    const auto client = client_of({.base_url = server.url(), .body_bytes_max = 10});
    const Result<Response> answer = ask(*client, c.request);
    ASSERT_FALSE(answer.ok()) << c.words;
    EXPECT_EQ(answer.error().kind, c.kind) << c.words;
    EXPECT_EQ(answer.error().message, c.words);
    EXPECT_EQ(client->counters().failures, 1u);
  }
}

TEST(Wire, AFullQueueAndAResetAreToldInWords) {
  const auto server =
      Server::start({}, {{.path = "/never", .handler = {}, .late = [](const ServerRequest&, Reply) {}}}).value();
  const auto client = client_of({.base_url = "http://127.0.0.1:" + std::to_string(server->port()), .queue_max = 2});
  std::vector<std::string> words;
  const auto keep = [&](Result<Response> r) { words.push_back(r.ok() ? "fine" : r.error().message); };
  const RequestId own = client->send({.path = "/never", .has_own_connection = true}, keep);
  client->send({.path = "/never"}, keep);
  client->stream({.path = "/refused"}, {.on_done = keep});
  EXPECT_EQ(client->in_flight(), 2u);
  EXPECT_EQ(words, std::vector<std::string>()) << "never inside send()";
  client->poll(Millis(0));
  EXPECT_EQ(words, std::vector<std::string>{"too many requests are waiting to be sent"});
  client->reset_connections();
  EXPECT_EQ(words.back(), "GET /never: its connection was reset by the client");
  EXPECT_EQ(client->in_flight(), 1u) << "what has its own connection goes on";
  client->cancel(own);
  client->poll(Millis(0));
  EXPECT_EQ(client->in_flight(), 0u);
  EXPECT_EQ(words.size(), 2u);
  EXPECT_EQ(client->counters().requests, 3u);
  EXPECT_EQ(client->counters().failures, 2u);
}

TEST(Wire, AServerThatDoesNotMultiplexHasAConnectionForEachRequest) {
  std::mutex mutex;
  std::vector<Reply> asked;
  std::set<std::string> short_ones, own_ones;
  const auto server = Server::start({}, {{.path = "/",
                                          .handler = {},
                                          .late =
                                              [&](const ServerRequest& r, Reply reply) {
                                                const std::lock_guard lock(mutex);
                                                (r.path == "/short" ? short_ones : own_ones).insert(r.remote);
                                                asked.push_back(std::move(reply));
                                              }},
                                         {"/first", [](const ServerRequest&) { return text(200, ""); }}})
                          .value();
  const auto client = client_of(
      {.base_url = "http://127.0.0.1:" + std::to_string(server->port()), .unacknowledged_max = Millis(7'000)});
  EXPECT_TRUE(ask(*client, {.path = "/first"}).ok()) << "it tells that this server knows no HTTP/2";
  int answered_count = 0;
  const auto count = [&](const Result<Response>& r) { answered_count += r.ok(); };
  for (int i = 0; i < 8; ++i) client->send({.path = "/short"}, count);
  for (int i = 0; i < 5; ++i) client->send({.path = "/own", .has_own_connection = true}, count);
  client->stream({.path = "/stream"}, {.on_done = count});
  const auto asked_count = [&] {
    const std::lock_guard lock(mutex);
    return asked.size();
  };
  while (asked_count() < 14) client->poll(Millis(10));
  std::vector<std::array<int, 6>> seen;
  for (const int fd : sockets_to(server->port()))
    seen.push_back({option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), lingers(fd), option_of(fd, IPPROTO_TCP, TCP_NODELAY),
                    option_of(fd, SOL_SOCKET, SO_KEEPALIVE), option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE),
                    option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL)});
  std::sort(seen.begin(), seen.end());
  std::vector<std::array<int, 6>> expected(8, {7'000, 0, 1, 1, 15, 5});
  expected.resize(14, {20'000, -1, 1, 1, 15, 5});
  EXPECT_EQ(seen, expected);
  while (answered_count < 14) {
    client->poll(Millis(10));
    const std::lock_guard lock(mutex);
    for (Reply& reply : asked)
      if (reply) std::exchange(reply, {})(text(200, ""));
  }
  EXPECT_EQ(short_ones.size(), 8u);
  EXPECT_EQ(own_ones.size(), 6u);
  EXPECT_EQ(client->counters().connections, 14u);
}

// ---- streams --------------------------------------------------------------------------------------------------------

struct Followed {
  std::string log;  ///< "open200/text ", "[chunk]", "end200[body]" or "end!why"
  bool is_ended = false;
};

Followed follow(const std::string& said, bool wants_more = true) {
  Loopback server([&](Wire& wire) { wire.say(said); });
  const auto client = client_of({.base_url = server.url()});
  Followed followed;
  client->stream(
      {.path = "/w", .timeout = Millis(0)},
      {.on_open =
           [&](const Response& r) { followed.log += "open" + std::to_string(r.status) + "/" + r.content_type + " "; },
       .on_chunk = [&](std::string_view bytes) { return followed.log += "[" + std::string(bytes) + "]", wants_more; },
       .on_done =
           [&](Result<Response> r) {
             followed.log +=
                 r.ok() ? "end" + std::to_string(r->status) + "[" + r->body + "]" : "end!" + r.error().message;
             followed.is_ended = true;
           }},
      Millis(60'000));
  while (!followed.is_ended) client->poll(Millis(50));
  return followed;
}

TEST(Wire, AStreamOpensOnceWithTheFinalHeaders) {
  const std::string head = "200 OK\r\nContent-Type: text/x";
  EXPECT_EQ(follow(answered(head, "abc")).log, "open200/text/x [abc]end200[]");
  EXPECT_EQ(follow(answered(head)).log, "open200/text/x end200[]") << "though nothing follows";
  EXPECT_EQ(follow("HTTP/1.1 100 Continue\r\n\r\n" + answered(head, "abc")).log, "open200/text/x [abc]end200[]");
  EXPECT_EQ(follow(answered("399 Odd", "abc")).log, "open399/ [abc]end399[]");
  EXPECT_EQ(follow(answered("400 No", "why")).log, "open400/ end400[why]");
  EXPECT_EQ(follow(answered("410 Gone")).log, "open410/ end410[]");
  EXPECT_EQ(follow(answered(head, "abc"), false).log, "open200/text/x [abc]end200[]") << "its reader ends it";
  EXPECT_EQ(follow("").log, "end!GET /w: Empty reply from server");
}

TEST(Wire, AStreamIsOpenBeforeItsFirstBytesCome) {
  std::atomic<bool> goes_on{false};
  Loopback server([&](Wire& wire) {
    wire.say("HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (!goes_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    wire.say(Loopback::chunk("x") + Loopback::chunk(""));
  });
  const auto client = client_of({.base_url = server.url()});
  bool is_ended = false;
  client->stream({.path = "/w", .timeout = Millis(0)}, {.on_open = [&](const Response&) { goes_on = true; },
                                                        .on_chunk = [](std::string_view) { return true; },
                                                        .on_done = [&](const Result<Response>&) { is_ended = true; }});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!is_ended && std::chrono::steady_clock::now() < deadline) client->poll(Millis(20));
  EXPECT_TRUE(is_ended);
  goes_on = true;
}

TEST(Wire, AWakeupEndsTheWaitBesideAStreamThatIsSilent) {
  std::atomic<bool> is_over{false}, is_open{false};
  Loopback server([&](Wire& wire) {
    wire.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const auto client = client_of({.base_url = server.url()});
  client->stream({.path = "/w", .timeout = Millis(0)}, {.on_open = [&](const Response&) { is_open = true; }});
  while (!is_open) client->poll(Millis(20));
  constexpr int kTimes = 20;
  std::atomic<int> done{0};
  std::thread other([&] {
    for (int i = 0; i < kTimes; ++i) {
      client->post([&] { ++done; });
      while (done == i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  const auto began = std::chrono::steady_clock::now();
  while (done < kTimes) client->poll(Millis(2'000));
  other.join();
  is_over = true;
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(2'000 * kTimes / 2))
      << "each would wait for two seconds";
}

TEST(Wire, TheSilenceOfAStreamIsToldInWords) {
  std::atomic<bool> is_over{false};
  Loopback server([&](Wire& wire) {
    wire.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + Loopback::chunk("x"));
    while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const auto client = client_of({.base_url = server.url()});
  std::string end;
  client->stream({.path = "/w", .timeout = Millis(0)},
                 {.on_chunk = [](std::string_view) { return true; },
                  .on_done = [&](const Result<Response>& r) { end = r.error().message; }},
                 Millis(1));
  while (end.empty()) client->poll(Millis(20));
  is_over = true;
  EXPECT_EQ(end, "GET /w: no byte arrived for 1 ms");
  EXPECT_EQ(client->counters().failures, 1u);
  EXPECT_EQ(client->in_flight(), 0u);
}

}  // namespace
}  // namespace ashlar::http
