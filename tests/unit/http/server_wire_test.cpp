// What the server answers, byte for byte, and who keeps a connection.
#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "http/server.h"
#include "socket.h"

namespace ashlar::http {
namespace {

constexpr const char* kLast = "GET /last HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";

/// Late requests, kept until the test answers them.
class Kept {
 public:
  LateHandler handler() {
    return [this](const ServerRequest&, Reply reply) {
      const std::lock_guard lock(mutex_);
      asked_.push_back(std::move(reply));
    };
  }
  /// Once the server has passed it on.
  Reply reply(std::size_t number) {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      const std::lock_guard lock(mutex_);
      if (asked_.size() > number) return asked_[number];
    }
  }

 private:
  std::mutex mutex_;
  std::vector<Reply> asked_;
};

std::unique_ptr<Server> echo_server_of(ServerOptions options = {}, std::vector<Route> more = {}) {
  const auto echo = [](const ServerRequest& r) {
    return text(200, r.method + " " + r.path + " " + r.query + " " + r.body);
  };
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) more.push_back({"/echo/", echo, method});
  more.push_back({"/echo", [](const ServerRequest&) { return text(200, "exactly"); }});
  more.push_back({"/odd/low", [](const ServerRequest&) { return json(42, "{}"); }});
  more.push_back({"/odd/high", [](const ServerRequest&) { return json(1000, "{}"); }});
  more.push_back({"/fails", [](const ServerRequest&) -> ServerResponse { throw std::runtime_error("oh"); }});
  more.push_back({"/last", [](const ServerRequest&) { return text(200, "last"); }});
  auto server = Server::start(std::move(options), std::move(more));
  EXPECT_TRUE(server.ok());
  return std::move(server).value();
}

std::string answer(const std::string& status, const std::string& body,
                   const std::string& type = "text/plain; charset=utf-8") {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}
/// After it the server closes.
std::string final_answer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string said_to(const Server& server, const std::string& bytes) {
  const Socket socket(server);
  socket.say(bytes);
  return socket.hear_all();
}

TEST(ServerWire, RequestsThatComeTogetherAreAnsweredInTheirOrder) {
  const auto server = echo_server_of();
  const std::string get = " HTTP/1.1\r\nHost: t\r\n\r\n";
  const std::pair<std::string, std::string> cases[] = {
      {"GET /echo/a%20b+c%2B?x=%20+" + get, answer("200 OK", "GET /echo/a b+c+ x=%20+ ")},
      {"GET /echo" + get, answer("200 OK", "exactly")},
      {"GET /echo?q=1?2" + get, answer("200 OK", "exactly")},
      {"POST /echo/ HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nhi", answer("200 OK", "POST /echo/  hi")},
      {"PUT /echo/ HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
       answer("200 OK", "PUT /echo/  hi")},
      {"PATCH /echo/ HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n", answer("200 OK", "PATCH /echo/  ")},
      {"DELETE /echo/" + get, answer("200 OK", "DELETE /echo/  ")},
      {"HEAD /echo/h" + get,
       "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 13\r\n\r\n"},
      {"OPTIONS /echo/" + get, answer("405 Method Not Allowed", "method not allowed\n")},
      {"POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n",
       answer("405 Method Not Allowed", "method not allowed\n")},
      {"GET /ech" + get, answer("404 Not Found", "not found\n")},
      {"GET /echoes" + get, answer("404 Not Found", "not found\n")},
      {"GET /odd/low" + get, answer("100 Continue", "{}", "application/json")},
      {"GET /odd/high" + get, answer("599 Network Connect Timeout Error", "{}", "application/json")},
      {"GET /fails" + get, answer("500 Internal Server Error", "internal error: oh\n")},
  };
  for (const auto& [request, expected] : cases)
    EXPECT_EQ(said_to(*server, request + kLast), expected + final_answer("200 OK", "last")) << request;
}

TEST(ServerWire, WhatIsTooLargeOrNoHttpIsToldSoAndItsConnectionEnds) {
  const auto server = echo_server_of({.body_bytes_max = 10});
  const auto post = [](const std::string& length_or_chunks) {
    return "POST /echo/ HTTP/1.1\r\nHost: t\r\n" + length_or_chunks;
  };
  const std::string line = "GET / HTTP/1.1\r\n", header = "X: ";
  const std::pair<std::string, std::string> cases[] = {
      {post("Content-Length: 11\r\n\r\n"), final_answer("413 Payload Too Large", "the body is too large\n")},
      {post("Transfer-Encoding: chunked\r\n\r\nb\r\n12345678901\r\n"),
       final_answer("413 Payload Too Large", "the body is too large\n")},
      {line + header + std::string((64u << 10) - header.size(), 'x'),
       final_answer("431 Request Header Fields Too Large", "the headers are too large\n")},
      {"GET / HTTP/3.14\r\n\r\n", final_answer("400 Bad Request", "malformed request: bad version\n")},
  };
  for (const auto& [request, expected] : cases) EXPECT_EQ(said_to(*server, request), expected) << request.substr(0, 80);
  EXPECT_EQ(said_to(*server, post("Content-Length: 10\r\n\r\n0123456789") + kLast),
            answer("200 OK", "POST /echo/  0123456789") + final_answer("200 OK", "last"));
  const std::string large = "GET /echo HTTP/1.1\r\nX: " + std::string(63u << 10, 'x') + "\r\n\r\n";
  EXPECT_EQ(said_to(*server, large + kLast), answer("200 OK", "exactly") + final_answer("200 OK", "last"));
}

TEST(ServerWire, AnOldClientIsAnsweredInItsWayAndItsConnectionEnds) {
  const auto server = echo_server_of();
  EXPECT_EQ(said_to(*server, "GET /last HTTP/1.0\r\n\r\n"),
            "HTTP/1.0 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n\r\nlast");
}

TEST(ServerWire, ABodyThatDoesNotComeEndsItsConnection) {
  const auto server = echo_server_of(
      {.header_timeout = Millis(60'000), .request_timeout = Millis(100), .idle_timeout = Millis(60'000)});
  EXPECT_EQ(said_to(*server, "POST /echo/ HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhal"), "");
}

TEST(ServerWire, ARequestSaysWhereItComesFrom) {
  std::mutex mutex;
  std::string remote;
  const auto server = echo_server_of({}, {{"/who", [&](const ServerRequest& r) {
                                             const std::lock_guard lock(mutex);
                                             remote = r.remote;
                                             return text(200, "");
                                           }}});
  const Socket socket(*server);
  socket.get("/who");
  socket.hear();
  const std::lock_guard lock(mutex);
  EXPECT_EQ(remote, "127.0.0.1:" + std::to_string(socket.port()));
  const std::vector<int> its_side = sockets_to(socket.port());
  ASSERT_EQ(its_side.size(), 1u);
  EXPECT_EQ(option_of(its_side[0], IPPROTO_TCP, TCP_NODELAY), 1) << "an answer does not wait for an acknowledgement";
}

TEST(ServerWire, AnAnswerToAnEarlierRequestIsNotTheNextOnes) {
  Kept kept;
  const auto server = echo_server_of({}, {{.path = "/late", .handler = {}, .late = kept.handler()}});
  const Socket socket(*server);
  socket.get("/late");
  kept.reply(0)(text(200, "first"));
  EXPECT_EQ(socket.hear(), answer("200 OK", "first"));
  socket.get("/late");
  const Reply second = kept.reply(1);
  kept.reply(0)(text(200, "first once more"));
  second(text(200, "second"));
  EXPECT_EQ(socket.hear(), answer("200 OK", "second"));
}

TEST(ServerWire, TheConnectionWhoseLastStepIsTheLongestAgoMakesRoom) {
  const auto server = echo_server_of({.connections_max = 2});
  const Socket first(*server);
  first.get("/last");
  EXPECT_EQ(first.hear(), answer("200 OK", "last"));
  const Socket second(*server);
  for (const Socket* socket : {&second, &first}) {
    socket->get("/last");
    EXPECT_EQ(socket->hear(), answer("200 OK", "last"));
  }
  const Socket third(*server);
  third.get("/last");
  EXPECT_EQ(third.hear(), answer("200 OK", "last"));
  EXPECT_TRUE(second.is_closed_within(5000));
  first.get("/last");
  EXPECT_EQ(first.hear(), answer("200 OK", "last")) << "two have room";
}

TEST(ServerWire, ASilentConnectionMakesRoomBeforeOneThatWaitsForItsAnswer) {
  Kept kept;
  const auto server =
      echo_server_of({.connections_max = 2}, {{.path = "/late", .handler = {}, .late = kept.handler()}});
  const Socket waiting(*server);
  waiting.get("/late");
  const Reply reply = kept.reply(0);
  const Socket silent(*server);
  silent.get("/last");
  EXPECT_EQ(silent.hear(), answer("200 OK", "last"));
  const Socket next(*server);
  next.get("/late");
  const Reply other = kept.reply(1);
  EXPECT_TRUE(silent.is_closed_within(5000));
  const Socket last(*server);
  EXPECT_TRUE(waiting.is_closed_within(5000)) << "nobody is silent: the first to ask goes";
  reply(text(200, "nobody hears this"));
  other(text(200, "here"));
  EXPECT_EQ(next.hear(), answer("200 OK", "here"));
}

TEST(ServerWire, ParametersAreFoundByTheirDecodedNames) {
  const ServerRequest request{.query = "a=1&&b%20c=x%3Dy=z&d&=e&f=+&a=2"};
  const std::pair<const char*, const char*> cases[] = {{"a", "1"}, {"b c", "x=y=z"}, {"d", ""}, {"f", " "}, {"g", ""}};
  for (const auto& [key, value] : cases) EXPECT_EQ(request.query_value(key), value) << key;
}

}  // namespace
}  // namespace ashlar::http
