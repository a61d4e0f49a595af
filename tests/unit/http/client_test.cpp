#include "http/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "ask.h"
#include "http/server.h"
#include "loopback.h"
#include "tls.h"

namespace ashlar::http {
namespace {

using std::chrono::steady_clock;

std::unique_ptr<Server> echo_server(ServerOptions options = {}) {
  auto echo = [](const ServerRequest& r) {
    return text(200, r.method + " " + r.path + "?" + r.query + " [" + r.body + "] " + r.authorization);
  };
  auto server =
      Server::start(options, {{"/echo", echo},
                              {"/echo", echo, "POST"},
                              {"/tree/", echo},
                              {"/tree/leaf", [](const auto&) { return text(200, "leaf"); }},
                              {"/fails", [](const auto&) { return json(503, R"({"reason":"later"})"); }},
                              {"/throws", [](const auto&) -> ServerResponse { throw std::runtime_error("broken"); }}});
  EXPECT_TRUE(server.ok());
  return std::move(server).value();
}

std::unique_ptr<Client> client_of(const std::string& url, std::string token = {}) {
  auto client = Client::create({.base_url = url, .bearer_token = std::move(token)});
  EXPECT_TRUE(client.ok());
  return std::move(client).value();
}
std::unique_ptr<Client> client_of(const Server& server, std::string token = {}) {
  return client_of("http://127.0.0.1:" + std::to_string(server.port()), std::move(token));
}

TEST(Client, CarriesMethodPathBodyAndTokenBothWays) {
  const auto server = echo_server();
  const auto client = client_of(*server, "secret");
  Result<Response> got = ask(*client, {.path = "/echo?a=1"});
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->body, "GET /echo?a=1 [] Bearer secret");
  EXPECT_EQ(got->content_type, "text/plain; charset=utf-8");
  client->set_bearer_token("renewed");
  Result<Response> posted = ask(*client, {.method = Method::kPost, .path = "/echo", .body = "hello"});
  ASSERT_TRUE(posted.ok());
  EXPECT_EQ(posted->body, "POST /echo? [hello] Bearer renewed");
}

TEST(Client, ReportsAnyStatusAsAnAnswer) {
  const auto server = echo_server();
  const auto client = client_of(*server);
  EXPECT_EQ(ask(*client, {.path = "/nowhere"})->status, 404);
  EXPECT_EQ(ask(*client, {.method = Method::kPost, .path = "/tree/x", .body = "b"})->status, 405);
  EXPECT_EQ(ask(*client, {.path = "/fails"})->status, 503);
  EXPECT_EQ(ask(*client, {.path = "/throws"})->status, 500);
}

TEST(Client, AnswersHundredsOfRequestsInFlight) {
  const auto server = echo_server();
  const auto client = client_of(*server);
  int answered = 0;
  for (int i = 0; i < 500; ++i)
    client->send({.method = Method::kPost, .path = "/echo", .body = std::to_string(i)},
                 [&answered, i](Result<Response> r) {
                   ASSERT_TRUE(r.ok()) << r.error().message;
                   EXPECT_NE(r->body.find("[" + std::to_string(i) + "]"), std::string::npos);
                   ++answered;
                 });
  EXPECT_EQ(client->in_flight(), 500u);
  while (client->in_flight() > 0) client->poll(Millis(100));
  EXPECT_EQ(answered, 500);
}

TEST(Client, RefusedConnectionsAreUnavailable) {
  std::string url;
  {
    url = Loopback([](Wire&) {}).url();
  }
  Result<Response> answer = ask(*client_of(url), {.path = "/"});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, Error::Kind::kUnavailable);
}

TEST(Client, SilenceEndsInATimeout) {
  std::atomic<bool> is_over{false};
  Loopback silent([&](Wire&) {
    const auto patience = steady_clock::now() + std::chrono::seconds(10);
    while (!is_over && steady_clock::now() < patience) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  Result<Response> answer = ask(*client_of(silent.url()), {.path = "/", .timeout = Millis(100)});
  is_over = true;
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, Error::Kind::kTimeout) << "not cut off by the server";
}

TEST(Client, BrokenOffAnswersAreUnavailable) {
  Loopback liar([](Wire& wire) { wire.say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"); });
  Result<Response> answer = ask(*client_of(liar.url()), {.path = "/"});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, Error::Kind::kUnavailable);
}

TEST(Client, ReadsRetryAfter) {
  Loopback busy(
      [](Wire& wire) { wire.say("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"); });
  Result<Response> answer = ask(*client_of(busy.url()), {.path = "/"});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->retry_after, Millis(7'000));
}

TEST(Client, AnswersLongerThanTheLimitAreRefused) {
  Loopback chatty(
      [](Wire& wire) { wire.say("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + std::string(5000, 'x')); });
  auto client = Client::create({.base_url = chatty.url(), .body_bytes_max = 1000});
  Result<Response> answer = ask(**client, {.path = "/"});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, Error::Kind::kTooLong);
}

TEST(Client, ARequestMayWantAShorterAnswerThanTheClientButNoLonger) {
  Loopback chatty(
      [](Wire& wire) { wire.say("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + std::string(500, 'x')); });
  const auto is_read = [&](std::size_t client_max, std::size_t request_max) {
    auto client = Client::create({.base_url = chatty.url(), .body_bytes_max = client_max});
    return ask(**client, {.path = "/", .body_bytes_max = request_max}).ok();
  };
  EXPECT_TRUE(is_read(1000, 500));
  EXPECT_FALSE(is_read(1000, 499));
  EXPECT_FALSE(is_read(1000, 1));
  EXPECT_FALSE(is_read(499, 1000));
  EXPECT_TRUE(is_read(500, 0));
}

TEST(Client, CancelledRequestsNeverCallBack) {
  const auto server = echo_server();
  const auto client = client_of(*server);
  bool called = false;
  const RequestId queued = client->send({.path = "/echo"}, [&](Result<Response>) { called = true; });
  client->cancel(queued);
  const RequestId running = client->send({.path = "/echo"}, [&](Result<Response>) { called = true; });
  client->poll(Millis(0));
  client->cancel(running);
  for (int i = 0; i < 10; ++i) client->poll(Millis(10));
  EXPECT_FALSE(called);
  EXPECT_EQ(client->in_flight(), 0u);
  EXPECT_EQ(ask(*client, {.path = "/echo"})->status, 200) << "the client goes on working";
}

TEST(Client, AResetTakesBackWhatHasNotArrivedAndTheNextRequestHasANewConnection) {
  // The first connection is accepted and never read from: most of the body stays in our kernel.
  std::atomic<int> talks{0};
  std::atomic<bool> is_reset{false};
  Loopback server([&](Wire& wire) {
    if (talks++ > 0) return wire.say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    char buffer[4096];
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ssize_t count = 0;
    while ((count = wire.read(buffer, sizeof buffer)) > 0) {
    }
    is_reset = count < 0 && errno == ECONNRESET;
  });
  const auto client = client_of(server.url());
  std::optional<Result<Response>> answer;
  client->send({.method = Method::kPost, .path = "/", .body = std::string(8u << 20, 'x')},
               [&](Result<Response> r) { answer = std::move(r); });
  while (talks == 0) client->poll(Millis(5));
  client->reset_connections();
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(answer->ok());
  EXPECT_EQ(answer->error().kind, Error::Kind::kUnavailable) << answer->error().message;
  EXPECT_TRUE(ask(*client, {.path = "/"}).ok());
  EXPECT_TRUE(is_reset) << "not an orderly end after all bytes";
}

TEST(Client, AFullQueueAnswersAtOnceThatItIsFull) {
  const auto server = echo_server();
  auto client = Client::create(
      {.base_url = "http://127.0.0.1:" + std::to_string(server->port()), .requests_in_flight_max = 1, .queue_max = 2});
  int ok = 0, refused = 0;
  for (int i = 0; i < 5; ++i)
    (*client)->send({.path = "/echo"}, [&](Result<Response> r) { ++(r.ok() ? ok : refused); });
  while ((*client)->in_flight() > 0) (*client)->poll(Millis(50));
  EXPECT_EQ(ok, 2);
  EXPECT_EQ(refused, 3);
}

TEST(Client, StreamsHandOverBytesAsTheyCome) {
  Loopback watch([](Wire& wire) {
    wire.say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    wire.say(Loopback::chunk("one\ntw"));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    wire.say(Loopback::chunk("o\n") + Loopback::chunk(""));
  });
  const auto client = client_of(watch.url());
  std::string text, order;
  std::optional<Result<Response>> end;
  client->stream({.path = "/", .timeout = Millis(0)},
                 {.on_open = [&](const Response& r) { order += "open" + std::to_string(r.status) + " "; },
                  .on_chunk = [&](std::string_view bytes) { return text += bytes, true; },
                  .on_done = [&](Result<Response> r) { end = std::move(r); }});
  while (!end) client->poll(Millis(50));
  EXPECT_EQ(order, "open200 ");
  EXPECT_EQ(text, "one\ntwo\n");
  ASSERT_TRUE(end->ok());
  EXPECT_EQ((*end)->status, 200);
}

TEST(Client, AReaderCanEndItsStream) {
  Loopback watch([](Wire& wire) {
    wire.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + Loopback::chunk("enough") +
             Loopback::chunk("more"));
  });
  const auto client = client_of(watch.url());
  std::optional<Result<Response>> end;
  client->stream({.path = "/", .timeout = Millis(0)}, {.on_chunk = [&](std::string_view) { return false; },
                                                       .on_done = [&](Result<Response> r) { end = std::move(r); }});
  while (!end) client->poll(Millis(50));
  EXPECT_TRUE(end->ok());
}

TEST(Client, ASilentStreamEndsAfterItsIdleLimit) {
  Loopback watch([](Wire& wire) {
    wire.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + Loopback::chunk("hello"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  });
  const auto client = client_of(watch.url());
  std::optional<Result<Response>> end;
  client->stream(
      {.path = "/", .timeout = Millis(0)},
      {.on_chunk = [](std::string_view) { return true; }, .on_done = [&](Result<Response> r) { end = std::move(r); }},
      Millis(200));
  while (!end) client->poll(Millis(50));
  ASSERT_FALSE(end->ok());
  EXPECT_EQ(end->error().kind, Error::Kind::kTimeout);
}

TEST(Client, ARefusedStreamDeliversTheBodyAtItsEnd) {
  const auto server = echo_server();
  const auto client = client_of(*server);
  std::optional<Result<Response>> end;
  bool chunk_seen = false;
  client->stream({.path = "/fails"}, {.on_chunk = [&](std::string_view) { return chunk_seen = true; },
                                      .on_done = [&](Result<Response> r) { end = std::move(r); }});
  while (!end) client->poll(Millis(50));
  ASSERT_TRUE(end->ok());
  EXPECT_EQ((*end)->status, 503);
  EXPECT_EQ((*end)->body, R"({"reason":"later"})");
  EXPECT_FALSE(chunk_seen);
}

TEST(Client, OtherThreadsCanWakeItAndPostWork) {
  const auto client = client_of("http://127.0.0.1:9");
  const auto owner = std::this_thread::get_id();
  std::thread::id ran_on;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    client->post([&] { ran_on = std::this_thread::get_id(); });
  });
  const auto start = steady_clock::now();
  while (ran_on == std::thread::id()) client->poll(Millis(20'000));
  other.join();
  EXPECT_EQ(ran_on, owner);
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(10)) << "poll() was woken, not timed out";
}

TEST(Client, UnusableOptionsAreRefusedAtCreation) {
  EXPECT_FALSE(Client::create({.base_url = "nonsense"}).ok());
  EXPECT_FALSE(Client::create({.base_url = "https://a", .tls = {.ca_file = "/no/such/file"}}).ok());
}

TEST(Server, PrefersTheLongestRoute) {
  const auto server = echo_server();
  const auto client = client_of(*server);
  EXPECT_EQ(ask(*client, {.path = "/tree/leaf"})->body, "leaf");
  EXPECT_EQ(ask(*client, {.path = "/tree/a%2Fb+c"})->body, "GET /tree/a/b+c? [] ");
}

TEST(Server, RefusesBodiesBeyondItsLimit) {
  const auto server = echo_server({.body_bytes_max = 100});
  const auto client = client_of(*server);
  EXPECT_EQ(ask(*client, {.method = Method::kPost, .path = "/echo", .body = std::string(101, 'x')})->status, 413);
  EXPECT_EQ(ask(*client, {.method = Method::kPost, .path = "/echo", .body = std::string(99, 'x')})->status, 200);
}

TEST(Server, TakesMegabytesBothWays) {
  const auto server = echo_server();
  const std::string large(4u << 20, 'y');
  Result<Response> answer = ask(*client_of(*server), {.method = Method::kPost, .path = "/echo", .body = large});
  ASSERT_TRUE(answer.ok());
  EXPECT_GT(answer->body.size(), large.size());
}

TEST(Server, AddressesThatCannotBeUsedAreNamed) {
  EXPECT_NE(Server::start({.address = "nonsense"}, {}).error().message.find("nonsense"), std::string::npos);
  const auto server = echo_server();
  Result<std::unique_ptr<Server>> second = Server::start({.port = server->port()}, {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, Error::Kind::kUnavailable);
}

TEST(Server, FindsQueryValues) {
  const ServerRequest request{.query = "a=1&b=x%20y&c&d="};
  EXPECT_EQ(request.query_value("a"), "1");
  EXPECT_EQ(request.query_value("b"), "x y");
  EXPECT_EQ(request.query_value("c"), "");
  EXPECT_EQ(request.query_value("e"), "");
}

TEST(Server, ClosesConnectionsThatSendNonsense) {
  const auto server = echo_server();
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string nonsense = "\x16\x03\x01 this is not HTTP\r\n\r\n";
  ASSERT_EQ(send(fd, nonsense.data(), nonsense.size(), MSG_NOSIGNAL), static_cast<ssize_t>(nonsense.size()));
  std::string answer;
  char buffer[1024];
  for (ssize_t count; (count = recv(fd, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(count));
  close(fd);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << answer;
}

TEST(Client, ARequestUnderWayDoesNotBringItsOldCertificateBackForTheNext) {
  const Certificate own("127.0.0.1"), old_one("old"), new_one("new");
  std::atomic<bool> is_holding{true}, has_request{false};
  Loopback server(
      [&](Wire& wire) {
        has_request = true;
        while (is_holding) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const std::string name = wire.peer();
        wire.say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(name.size()) + "\r\n\r\n" +
                 name);
      },
      over_tls(own));
  auto made = Client::create(
      {.base_url = server.url(),
       .tls = {.cert_pem = old_one.cert_pem(), .key_pem = old_one.key_pem(), .insecure_skip_verify = true}});
  ASSERT_TRUE(made.ok());
  Client& client = **made;
  std::optional<Result<Response>> answer;
  client.send({.path = "/"}, [&](Result<Response> r) { answer = std::move(r); });
  while (!has_request && !answer) client.poll(Millis(10));
  client.set_client_certificate(new_one.cert_pem(), new_one.key_pem());
  is_holding = false;
  while (!answer) client.poll(Millis(10));
  ASSERT_TRUE(answer->ok()) << answer->error().message;
  EXPECT_EQ((*answer)->body, "old");
  const Result<Response> next = ask(client, {.path = "/"});
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_EQ(next->body, "new");
  const RequestId given_up = client.send({.path = "/"}, {});
  client.poll(Millis(0));
  client.set_client_certificate(old_one.cert_pem(), old_one.key_pem());
  client.cancel(given_up);
  EXPECT_EQ(ask(client, {.path = "/"})->body, "old") << "nor does one that is cancelled";
}

TEST(Client, SlowExchangesHoldUpNoOthersThoughTheServerDoesNotMultiplex) {
  std::vector<int> kept;
  {
    Loopback server([&](Wire& wire, const std::string& request) {
      if (request.find("/silent") != std::string::npos)
        kept.push_back(dup(wire.fd()));  // open, and never answered
      else
        wire.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    });
    const auto client = client_of(server.url());
    ASSERT_TRUE(ask(*client, {.path = "/first"}).ok());
    std::vector<RequestId> silent;
    for (int i = 0; i < 20; ++i) silent.push_back(client->send({.path = "/silent"}, {}));
    for (int i = 0; i < 5; ++i) client->poll(Millis(10));
    EXPECT_TRUE(ask(*client, {.path = "/quick", .timeout = Millis(5'000)}).ok());
    for (const RequestId id : silent) client->cancel(id);
  }
  for (const int fd : kept) close(fd);
}

TEST(Client, AnUrgentRequestWaitsForNobody) {
  std::vector<int> kept;
  {
    Loopback server([&](Wire& wire, const std::string& request) {
      if (request.find("/silent") != std::string::npos)
        kept.push_back(dup(wire.fd()));  // open, and never answered
      else
        wire.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    });
    auto client = Client::create({.base_url = server.url(), .requests_in_flight_max = 1, .queue_max = 2});
    ASSERT_TRUE(client.ok());
    bool is_other_answered = false;
    const RequestId silent = (*client)->send({.path = "/silent"}, {});
    (*client)->poll(Millis(0));
    const RequestId other = (*client)->send({.path = "/other"}, [&](const auto&) { is_other_answered = true; });
    (*client)->send({.path = "/another"}, {});
    const Result<Response> urgent = ask(**client, {.path = "/urgent", .is_urgent = true, .has_own_connection = true});
    ASSERT_TRUE(urgent.ok()) << urgent.error().message << ": neither the window nor the queue's limit is for it";
    EXPECT_EQ(urgent->body, "ok");
    EXPECT_FALSE(is_other_answered);
    (*client)->cancel(silent);
    (*client)->cancel(other);
  }
  for (const int fd : kept) close(fd);
}

TEST(Client, AnAnswerThatComesInPiecesIsRefusedOnceTheyAreTooLongTogether) {
  Loopback chatty([](Wire& wire) {
    wire.say("HTTP/1.1 200 OK\r\nContent-Length: 1500\r\n\r\n");
    for (int piece = 0; piece < 3; ++piece) {
      wire.say(std::string(500, 'x'));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  const auto ask_for = [&](std::size_t bytes) {
    auto client = Client::create({.base_url = chatty.url(), .body_bytes_max = bytes});
    return ask(**client, {.path = "/"});
  };
  const Result<Response> answer = ask_for(1499);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, Error::Kind::kTooLong);
  EXPECT_TRUE(ask_for(1500).ok());
}

TEST(Client, NoMoreRequestsThanAllowedAreUnderWay) {
  std::vector<int> kept;
  std::atomic<int> begun{0};
  {
    Loopback server([&](Wire& wire, const std::string&) {
      kept.push_back(dup(wire.fd()));  // open, and never answered
      ++begun;
    });
    auto client = Client::create({.base_url = server.url(), .requests_in_flight_max = 2});
    ASSERT_TRUE(client.ok());
    std::vector<RequestId> silent;
    for (int i = 0; i < 4; ++i) silent.push_back((*client)->send({.path = "/", .has_own_connection = true}, {}));
    for (int i = 0; i < 20; ++i) (*client)->poll(Millis(10));
    EXPECT_EQ(begun, 2);
    for (const RequestId id : silent) (*client)->cancel(id);
  }
  for (const int fd : kept) close(fd);
}

/// Answers that have come together are reported one after the other.
TEST(Client, ARequestThatAnothersAnswerCancelsNeverCallsBack) {
  Loopback server([](Wire& wire, const std::string&) {
    wire.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  });
  const auto client = client_of(server.url());
  int called = 0;
  RequestId ids[2] = {};
  for (RequestId& id : ids)
    id = client->send({.path = "/", .has_own_connection = true}, [&](const Result<Response>&) {
      ++called;
      for (const RequestId other : ids) client->cancel(other);
    });
  for (int i = 0; i < 3; ++i) client->poll(Millis(0)), std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (int i = 0; i < 10; ++i) client->poll(Millis(10));
  EXPECT_EQ(called, 1);
  EXPECT_EQ(client->in_flight(), 0u);
}

/// Each chunk puts the end for silence off.
TEST(Client, AStreamThatIsNotSilentLastsLongerThanItsIdleLimit) {
  Loopback watch([](Wire& wire) {
    wire.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 8; ++i) {
      wire.say(Loopback::chunk("x"));
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
    wire.say(Loopback::chunk(""));
  });
  const auto client = client_of(watch.url());
  std::optional<Result<Response>> end;
  std::string text;
  client->stream({.path = "/", .timeout = Millis(0)},
                 {.on_chunk = [&](std::string_view bytes) { return text += bytes, true; },
                  .on_done = [&](Result<Response> r) { end = std::move(r); }},
                 Millis(1000));
  while (!end) client->poll(Millis(50));
  EXPECT_TRUE(end->ok());
  EXPECT_EQ(text, "xxxxxxxx");
}

TEST(Client, AStreamThatAnotherCancelsHandsOverNothingMore) {
  Loopback watch([](Wire& wire) {
    wire.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + Loopback::chunk("x") + Loopback::chunk("y"));
  });
  const auto client = client_of(watch.url());
  int called = 0;
  RequestId ids[2] = {};
  for (RequestId& id : ids)
    id = client->stream({.path = "/", .timeout = Millis(0)}, {.on_chunk =
                                                                  [&](std::string_view) {
                                                                    ++called;
                                                                    for (const RequestId other : ids)
                                                                      client->cancel(other);
                                                                    return true;
                                                                  },
                                                              .on_done = [&](const Result<Response>&) { ++called; }});
  for (int i = 0; i < 3; ++i) client->poll(Millis(0)), std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (int i = 0; i < 10; ++i) client->poll(Millis(10));
  EXPECT_EQ(called, 1);
}

}  // namespace
}  // namespace ashlar::http
