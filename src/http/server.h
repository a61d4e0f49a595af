// Server: a small HTTP/1.1 server (Boost.Beast) on its own thread, for metrics, health and the read API, with exact and
// prefix routes. Connections, request sizes and times are bounded; a connection beyond the bound takes the place of the
// one that has been silent longest. Cost: about 50 us per small request; idle connections cost their read buffer.
//
//   auto server = http::Server::start({.address = "127.0.0.1", .port = 0},
//                                     {{"/healthz", [](const auto&) { return http::text(200, "ok"); }}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::http {

struct ServerRequest {
  std::string method;  ///< "GET" (also for HEAD), "POST", "PUT", "PATCH" or "DELETE"
  std::string path;    ///< percent-decoded, without query
  std::string query;   ///< after '?', raw
  std::string body;
  std::string remote;         ///< "address:port" of the other side
  std::string authorization;  ///< the Authorization header, empty if absent

  /// Value of one query parameter, percent-decoded; empty if absent.
  std::string query_value(std::string_view key) const;
};

struct ServerResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

inline ServerResponse text(int status, std::string body) {
  return {status, "text/plain; charset=utf-8", std::move(body)};
}
inline ServerResponse json(int status, std::string body) { return {status, "application/json", std::move(body)}; }

/// Runs on the server's thread and must be quick; an answer that needs another thread belongs in a LateHandler.
using Handler = std::function<ServerResponse(const ServerRequest&)>;
/// Answers one request, from any thread, at most once; no effect after the server or the connection is gone.
using Reply = std::function<void(ServerResponse)>;
/// Calls `reply` soon, from any thread; if it does not, the client gets 503 after ServerOptions::answer_timeout.
using LateHandler = std::function<void(const ServerRequest&, Reply reply)>;

/// A route serves exactly `path`, or everything below it if it ends with '/'. The longest match wins. GET unless
/// `method` states otherwise.
struct Route {
  std::string path;
  Handler handler;
  std::string method = "GET";
  LateHandler late = {};  ///< instead of `handler`
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: the system chooses, see Server::port()
  /// a further one takes the place of the one that has been silent longest
  std::size_t connections_max = 256;
  std::size_t body_bytes_max = 16u << 20;  ///< 413 beyond (an extender call with full nodes is several MB)
  /// reserved for each connection: Beast reads small pieces otherwise (measured 6x slower)
  std::size_t read_buffer_bytes = 128u << 10;
  /// for the first byte of a new connection, and from the first byte of any request to the end of its headers
  Millis header_timeout{5'000};
  Millis request_timeout{10'000};  ///< for the body, and again for the answer to be taken
  Millis answer_timeout{5'000};    ///< of a LateHandler
  Millis idle_timeout{60'000};     ///< between two requests on one connection
};

class Server {
 public:
  /// Binds and serves at once; kUnavailable if the address cannot be bound.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, std::vector<Route> routes);
  /// Closes everything and joins the thread; answers under way are cut off.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;

 private:
  struct Loop;
  explicit Server(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace ashlar::http
