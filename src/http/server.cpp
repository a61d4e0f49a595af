#include "http/server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <thread>

#include "http/url.h"

namespace ashlar::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;

constexpr std::size_t kHeaderBytesMax = 64u << 10;  // bearer tokens make headers of a few KB
constexpr auto kAcceptPause = std::chrono::milliseconds(50);

std::chrono::milliseconds duration_of(Millis millis) { return std::chrono::milliseconds(millis.value); }

const char* method_of(beast::http::verb verb) {
  switch (verb) {
    case beast::http::verb::get:
    case beast::http::verb::head:
      return "GET";
    case beast::http::verb::post:
      return "POST";
    case beast::http::verb::put:
      return "PUT";
    case beast::http::verb::patch:
      return "PATCH";
    case beast::http::verb::delete_:
      return "DELETE";
    default:
      return "";
  }
}

/// The longest route that matches the path; `path_known` tells 405 from 404.
const Route* find_route(const std::vector<Route>& routes, const std::string& path, std::string_view method, bool& path_known) {
  const Route* best = nullptr;
  for (const Route& route : routes) {
    const bool fits = route.path == path || (route.path.ends_with('/') && path.starts_with(route.path));
    if (!fits) continue;
    path_known = true;
    if (route.method == method && (best == nullptr || route.path.size() > best->path.size())) best = &route;
  }
  return best;
}

ServerResponse answer_to(const std::vector<Route>& routes, const ServerRequest& request) {
  bool path_known = false;
  const Route* route = find_route(routes, request.path, request.method, path_known);
  if (route == nullptr) return path_known ? text(405, "method not allowed\n") : text(404, "not found\n");
  try {
    return route->handler(request);
  } catch (const std::exception& error) {
    return text(500, std::string("internal error: ") + error.what() + "\n");
  }
}

struct Shared {
  ServerOptions options;
  std::vector<Route> routes;
  std::size_t connections = 0;
};

/// One client. Reads a request, answers it, and goes on while the client keeps the connection. Lives as long as an operation is pending.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {
    buffer_.reserve(shared_.options.read_buffer_bytes);
    ++shared_.connections;
  }
  ~Connection() { --shared_.connections; }

  void start() {
    beast::error_code error;
    stream_.socket().set_option(tcp::no_delay(true), error);
    const tcp::endpoint remote = stream_.socket().remote_endpoint(error);
    if (!error) remote_ = remote.address().to_string() + ":" + std::to_string(remote.port());
    if (shared_.connections > shared_.options.connections_max) return write(text(503, "too many connections\n"), 11, false, false);
    wait();
  }

 private:
  void wait() {
    if (buffer_.size() > 0) return read();  // a pipelined request is already here
    stream_.expires_after(duration_of(shared_.options.idle_timeout));
    stream_.async_read_some(buffer_.prepare(shared_.options.read_buffer_bytes),
                            [self = shared_from_this()](beast::error_code error, std::size_t size) {
                              if (error) return;
                              self->buffer_.commit(size);
                              self->read();
                            });
  }

  void read() {
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    parser_->body_limit(shared_.options.body_bytes_max);
    parser_->eager(true);
    stream_.expires_after(duration_of(shared_.options.request_timeout));
    beast::http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, std::size_t) { self->take(error); });
  }

  void take(beast::error_code error) {
    if (error == beast::http::error::body_limit) return write(text(413, "the body is too large\n"), 11, false, false);
    if (error == beast::http::error::header_limit) return write(text(431, "the headers are too large\n"), 11, false, false);
    if (error == beast::error::timeout || error == beast::http::error::end_of_stream || error == asio::error::operation_aborted ||
        (error && error.category() == asio::error::get_system_category()))
      return close();
    if (error) return write(text(400, "malformed request: " + error.message() + "\n"), 11, false, false);
    auto message = parser_->release();
    ServerRequest request;
    request.method = method_of(message.method());
    const std::string_view target(message.target().data(), message.target().size());
    const std::size_t question = target.find('?');
    request.path = percent_decode_path(target.substr(0, question));
    if (question != std::string_view::npos) request.query = target.substr(question + 1);
    request.body = std::move(message.body());
    request.remote = remote_;
    request.authorization = std::string(message[beast::http::field::authorization]);
    write(answer_to(shared_.routes, request), message.version(), message.keep_alive(), message.method() == beast::http::verb::head);
  }

  void write(ServerResponse answer, unsigned version, bool keep_alive, bool head_only) {
    response_.emplace();
    response_->version(version);
    response_->result(static_cast<unsigned>(std::clamp(answer.status, 100, 599)));
    response_->set(beast::http::field::content_type, answer.content_type);
    response_->keep_alive(keep_alive);
    const std::size_t size = answer.body.size();
    if (!head_only) response_->body() = std::move(answer.body);
    response_->content_length(size);
    stream_.expires_after(duration_of(shared_.options.request_timeout));
    beast::http::async_write(stream_, *response_, [self = shared_from_this(), keep_alive](beast::error_code error, std::size_t) {
      if (error || !keep_alive) return self->close();
      self->wait();
    });
  }

  void close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  /// '+' is a plain character in paths, unlike in queries.
  static std::string percent_decode_path(std::string_view path) {
    std::string escaped;
    for (const char c : path) {
      if (c == '+')
        escaped += "%2B";
      else
        escaped += c;
    }
    return percent_decode(escaped);
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  std::optional<beast::http::response<beast::http::string_body>> response_;
  Shared& shared_;
  std::string remote_;
};

}  // namespace

std::string ServerRequest::query_value(std::string_view key) const {
  for (std::string_view rest = query; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (percent_decode(pair.substr(0, equals)) == key) return equals == std::string_view::npos ? "" : percent_decode(pair.substr(equals + 1));
  }
  return {};
}

struct Server::Loop {
  Shared shared;  // before the context: connections that die with it count themselves off here
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::thread thread;

  void accept() {
    acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        std::make_shared<Connection>(std::move(socket), shared)->start();
        return accept();
      }
      // Out of descriptors, most likely: without a pause this would spin until one is free.
      pause.expires_after(kAcceptPause);
      pause.async_wait([this](beast::error_code stopped) {
        if (!stopped) accept();
      });
    });
  }
};

Server::Server(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, std::vector<Route> routes) {
  auto loop = std::make_unique<Loop>();
  beast::error_code error;
  const asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error) return invalid("\"" + options.address + "\" is no IP address to listen on");
  const tcp::endpoint endpoint(address, options.port);
  const std::string place = options.address + ":" + std::to_string(options.port);
  loop->acceptor.open(endpoint.protocol(), error);
  if (!error) loop->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) loop->acceptor.bind(endpoint, error);
  if (!error) loop->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return Error{Error::Kind::kUnavailable, "cannot listen on " + place + ": " + error.message()};
  loop->shared.options = std::move(options);
  loop->shared.routes = std::move(routes);
  loop->accept();
  loop->thread = std::thread([raw = loop.get()] { raw->context.run(); });
  return std::unique_ptr<Server>(new Server(std::move(loop)));
}

Server::~Server() {
  loop_->context.stop();
  loop_->thread.join();
}

std::uint16_t Server::port() const {
  beast::error_code ignored;
  return loop_->acceptor.local_endpoint(ignored).port();
}

}  // namespace ashlar::http
