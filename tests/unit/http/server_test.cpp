// The server against clients that mean no good: silent, slow, greedy, and gone. Sockets are plain ones, so that every
// byte and its moment is the test's.
#include "http/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "socket.h"

namespace ashlar::http {
namespace {

using std::chrono::steady_clock;

std::unique_ptr<Server> server_of(ServerOptions options, std::vector<Route> more = {}) {
  more.push_back({"/livez", [](const ServerRequest&) { return text(200, "ok\n"); }});
  auto server = Server::start(std::move(options), std::move(more));
  EXPECT_TRUE(server.ok());
  return std::move(server).value();
}

std::string answer_on_a_new_connection(const Server& server) {
  const Socket socket(server);
  socket.get("/livez");
  return socket.hear();
}

bool is_ok(const std::string& answer) { return answer.starts_with("HTTP/1.1 200"); }

TEST(Server, ProbesAreAnsweredBesideMoreIdleSocketsThanThereAreConnections) {
  const auto server = server_of({});
  std::vector<std::unique_ptr<Socket>> idle;
  for (int i = 0; i < 400; ++i) {
    idle.push_back(std::make_unique<Socket>(*server));
    ASSERT_TRUE(idle.back()->is_connected());
    if (i % 2 == 1) idle.back()->say("GET /livez HT");  // half of them begin a request
    if (i >= 255 && i % 16 == 0) {
      EXPECT_TRUE(is_ok(answer_on_a_new_connection(*server))) << "with " << i << " idle sockets";
    }
  }
  EXPECT_TRUE(is_ok(answer_on_a_new_connection(*server)));
  EXPECT_TRUE(idle.front()->is_closed_within(1000)) << "the first to be silent is the first to go";
  idle.back()->say("TP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_TRUE(is_ok(idle.back()->hear())) << "the last to come is still served";
}

TEST(Server, WhoTakesNoAnswerMakesRoomWhereNobodyIsSilent) {
  const auto server =
      server_of({.connections_max = 4},
                {{"/large", [](const ServerRequest&) { return text(200, std::string(32u << 20, 'x')); }}});
  std::vector<std::unique_ptr<Socket>> greedy;
  for (int i = 0; i < 4; ++i) {
    greedy.push_back(std::make_unique<Socket>(*server));
    greedy.back()->get("/large");
    EXPECT_TRUE(is_ok(greedy.back()->hear()));  // its beginning only
  }
  EXPECT_TRUE(is_ok(answer_on_a_new_connection(*server)));
}

// The system remembers for a minute the connections that a server has closed; who restarts it must not wait for so
// long.
TEST(Server, ItsPortIsFreeForTheNextAtOnce) {
  auto server = server_of({});
  const std::uint16_t port = server->port();
  const Socket socket(*server);
  socket.get("/livez");
  EXPECT_TRUE(is_ok(socket.hear()));
  server.reset();
  const auto next = Server::start({.port = port}, {});
  EXPECT_TRUE(next.ok()) << next.error().message;
}

TEST(Server, HeadersThatComeTooSlowlyEndTheConnection) {
  const auto server = server_of({.header_timeout = Millis(200), .idle_timeout = Millis(60'000)});
  const Socket silent(*server), slow(*server);
  slow.say("GET /livez HTTP/1.1\r\n");
  EXPECT_TRUE(silent.is_closed_within(5000));
  const auto began = steady_clock::now();
  while (!slow.is_closed_within(20) && steady_clock::now() - began < std::chrono::seconds(5)) slow.say("X-Slow: 1\r\n");
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds(5));
}

TEST(Server, AConnectionThatIsKeptWithoutRequestsEnds) {
  const auto server = server_of({.header_timeout = Millis(5000), .idle_timeout = Millis(100)});
  const Socket socket(*server);
  socket.get("/livez");
  EXPECT_TRUE(is_ok(socket.hear()));
  EXPECT_TRUE(socket.is_closed_within(4000));
}

TEST(Server, ALateAnswerHoldsNobodyElseUp) {
  std::mutex mutex;
  std::vector<Reply> asked;
  const auto server = server_of({}, {{.path = "/slow", .handler = {}, .late = [&](const ServerRequest&, Reply reply) {
                                        const std::lock_guard lock(mutex);
                                        asked.push_back(std::move(reply));
                                      }}});
  const Socket slow(*server);
  slow.get("/slow");
  const auto is_asked = [&] {
    const std::lock_guard lock(mutex);
    return !asked.empty();
  };
  while (!is_asked()) EXPECT_TRUE(is_ok(answer_on_a_new_connection(*server)));
  EXPECT_TRUE(is_ok(answer_on_a_new_connection(*server)));
  asked.front()(text(200, "late"));
  asked.front()(text(500, "a second answer is forgotten"));
  EXPECT_TRUE(is_ok(slow.hear()));
  slow.get("/livez");
  EXPECT_TRUE(is_ok(slow.hear()));
}

TEST(Server, AnAnswerThatNeverComesIsA503) {
  const auto server = server_of({.answer_timeout = Millis(100)},
                                {{.path = "/never", .handler = {}, .late = [](const ServerRequest&, Reply) {}}});
  const Socket socket(*server);
  socket.get("/never");
  EXPECT_TRUE(socket.hear().starts_with("HTTP/1.1 503"));
}

TEST(Server, AnAnswerAfterTheServersEndIsForgotten) {
  Reply reply;
  std::mutex mutex;
  {
    const auto server = server_of({}, {{.path = "/slow", .handler = {}, .late = [&](const ServerRequest&, Reply r) {
                                          const std::lock_guard lock(mutex);
                                          reply = std::move(r);
                                        }}});
    const Socket socket(*server);
    socket.get("/slow");
    const auto is_asked = [&] {
      const std::lock_guard lock(mutex);
      return static_cast<bool>(reply);
    };
    while (!is_asked()) EXPECT_TRUE(is_ok(answer_on_a_new_connection(*server)));
  }
  reply(text(200, "nobody hears this"));
}

}  // namespace
}  // namespace ashlar::http
