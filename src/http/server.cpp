#include "http/server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>
#include <mutex>
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
const Route* find_route(const std::vector<Route>& routes, const std::string& path, std::string_view method,
                        bool& path_known) {
  const Route* best = nullptr;
  for (const Route& route : routes) {
    const bool fits = route.path == path || (route.path.ends_with('/') && path.starts_with(route.path));
    if (!fits) continue;
    path_known = true;
    if (route.method == method && (best == nullptr || route.path.size() > best->path.size())) best = &route;
  }
  return best;
}

class Connection;

/// The server's thread as other threads see it: late answers are passed through here while it runs, and dropped once it
/// has ended.
struct Gate {
  std::mutex mutex;
  asio::io_context* context = nullptr;  ///< null once the server has ended
};

struct Shared {
  ServerOptions options;
  std::vector<Route> routes;
  /// those whose last step (accepted, request begun, answer begun or written) is the longest ago come first
  std::list<Connection*> open;
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
};

/// One client. Reads a request, answers it, and continues while the client keeps the connection. Lives as long as an
/// operation is pending.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared)
      : stream_(std::move(socket)), patience_(stream_.get_executor()), shared_(shared) {
    buffer_.reserve(shared_.options.read_buffer_bytes);
    place_ = shared_.open.insert(shared_.open.end(), this);
  }
  ~Connection() {
    if (!is_cut_off_) shared_.open.erase(place_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    beast::error_code error;
    stream_.socket().set_option(tcp::no_delay(true), error);
    const tcp::endpoint remote = stream_.socket().remote_endpoint(error);
    if (!error) remote_ = remote.address().to_string() + ":" + std::to_string(remote.port());
    wait(shared_.options.header_timeout);
  }

  /// True if it has sent no whole request since its last answer.
  bool is_silent() const { return is_silent_; }
  /// Ends it at once; pending operations end with an error and release it.
  void cut_off() {
    is_cut_off_ = true;
    is_awaited_ = false;
    shared_.open.erase(place_);
    stream_.close();
    patience_.cancel();
  }

 private:
  void step() {
    if (!is_cut_off_) shared_.open.splice(shared_.open.end(), shared_.open, place_);
  }

  /// For the first byte of a request. A new connection has the time limit of its headers for it, so that silence is no
  /// cheaper than slowness.
  void wait(Millis patience) {
    step();
    is_silent_ = true;
    if (buffer_.size() > 0) return read_headers();  // a pipelined request is already here
    stream_.expires_after(duration_of(patience));
    stream_.async_read_some(buffer_.prepare(shared_.options.read_buffer_bytes),
                            [self = shared_from_this()](beast::error_code error, std::size_t size) {
                              if (error) return;
                              self->buffer_.commit(size);
                              self->read_headers();
                            });
  }

  void read_headers() {
    parser_.emplace();
    parser_->header_limit(kHeaderBytesMax);
    parser_->body_limit(shared_.options.body_bytes_max);
    parser_->eager(true);
    stream_.expires_after(duration_of(shared_.options.header_timeout));
    beast::http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](beast::error_code error, std::size_t) { self->take_headers(error); });
  }

  void take_headers(beast::error_code error) {
    if (error || parser_->is_done()) return take(error);
    step();
    is_silent_ = false;
    stream_.expires_after(duration_of(shared_.options.request_timeout));
    beast::http::async_read(stream_, buffer_, *parser_,
                            [self = shared_from_this()](beast::error_code failed, std::size_t) { self->take(failed); });
  }

  void take(beast::error_code error) {
    if (error == beast::http::error::body_limit) return refuse(413, "the body is too large\n");
    if (error == beast::http::error::header_limit) return refuse(431, "the headers are too large\n");
    if (error == beast::error::timeout || error == beast::http::error::end_of_stream ||
        error == asio::error::operation_aborted || (error && error.category() == asio::error::get_system_category()))
      return close();
    if (error) return refuse(400, "malformed request: " + error.message() + "\n");
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
    form_ = {message.version(), message.keep_alive(), message.method() == beast::http::verb::head};
    is_silent_ = false;
    answer(request);
  }

  void refuse(int status, std::string why) {
    form_ = {};
    write(text(status, std::move(why)));
  }

  void answer(const ServerRequest& request) {
    step();
    bool is_path_known = false;
    const Route* route = find_route(shared_.routes, request.path, request.method, is_path_known);
    if (route == nullptr) return write(is_path_known ? text(405, "method not allowed\n") : text(404, "not found\n"));
    ++questions_;
    is_awaited_ = true;
    try {
      if (!route->late) return take_answer(questions_, route->handler(request));
      await_answer();
      route->late(request, reply());
    } catch (const std::exception& error) {
      take_answer(questions_, text(500, std::string("internal error: ") + error.what() + "\n"));
    }
  }

  void await_answer() {
    patience_.expires_after(duration_of(shared_.options.answer_timeout));
    patience_.async_wait([self = shared_from_this(), number = questions_](beast::error_code stopped) {
      if (!stopped) self->take_answer(number, text(503, "the answer takes too long\n"));
    });
  }

  Reply reply() {
    return [gate = shared_.gate, asker = weak_from_this(), number = questions_](ServerResponse response) {
      const std::lock_guard lock(gate->mutex);
      if (gate->context == nullptr) return;
      asio::post(*gate->context, [asker, number, response = std::move(response)]() mutable {
        if (const auto self = asker.lock()) self->take_answer(number, std::move(response));
      });
    };
  }

  /// `number` counts the requests of this connection: an answer to an earlier one is late and ignored.
  void take_answer(std::uint64_t number, ServerResponse response) {
    if (!is_awaited_ || number != questions_) return;
    is_awaited_ = false;
    patience_.cancel();
    write(std::move(response));
  }

  void write(ServerResponse answer) {
    step();
    response_.emplace();
    response_->version(form_.version);
    response_->result(static_cast<unsigned>(std::clamp(answer.status, 100, 599)));
    response_->set(beast::http::field::content_type, answer.content_type);
    response_->keep_alive(form_.keep_alive);
    const std::size_t size = answer.body.size();
    if (!form_.head_only) response_->body() = std::move(answer.body);
    response_->content_length(size);
    stream_.expires_after(duration_of(shared_.options.request_timeout));
    beast::http::async_write(stream_, *response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (error || !self->form_.keep_alive) return self->close();
      self->wait(self->shared_.options.idle_timeout);
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

  /// How the answer to the present request is written.
  struct Form {
    unsigned version = 11;
    bool keep_alive = false, head_only = false;
  };

  beast::tcp_stream stream_;
  asio::steady_timer patience_;  ///< for a late answer
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  std::optional<beast::http::response<beast::http::string_body>> response_;
  Form form_;
  std::uint64_t questions_ = 0;
  bool is_silent_ = true, is_awaited_ = false, is_cut_off_ = false;
  Shared& shared_;
  std::list<Connection*>::iterator place_;
  std::string remote_;
};

/// Makes a place for one more: closes the silent one whose last step is the longest ago or, if none is silent, the
/// oldest of all.
void make_room(Shared& shared) {
  if (shared.open.size() < shared.options.connections_max || shared.open.empty()) return;
  const auto silent =
      std::find_if(shared.open.begin(), shared.open.end(), [](const Connection* c) { return c->is_silent(); });
  (silent == shared.open.end() ? shared.open.front() : *silent)->cut_off();
}

}  // namespace

std::string ServerRequest::query_value(std::string_view key) const {
  for (std::string_view rest = query; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (percent_decode(pair.substr(0, equals)) == key)
      return equals == std::string_view::npos ? "" : percent_decode(pair.substr(equals + 1));
  }
  return {};
}

struct Server::Loop {
  Shared shared;  // before the context: connections destroyed with it decrement their count here
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer pause{context};
  std::thread thread;

  void accept() {
    acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        make_room(shared);
        std::make_shared<Connection>(std::move(socket), shared)->start();
        return accept();
      }
      // Most likely out of descriptors: without a pause this would spin until one is free.
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
  if (error) return invalid("\"" + options.address + "\" is not an IP address to listen on");
  const tcp::endpoint endpoint(address, options.port);
  const std::string place = options.address + ":" + std::to_string(options.port);
  loop->acceptor.open(endpoint.protocol(), error);
  if (!error) loop->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) loop->acceptor.bind(endpoint, error);
  if (!error) loop->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return Error{Error::Kind::kUnavailable, "cannot listen on " + place + ": " + error.message()};
  loop->shared.options = std::move(options);
  loop->shared.routes = std::move(routes);
  loop->shared.gate->context = &loop->context;
  loop->accept();
  loop->thread = std::thread([raw = loop.get()] { raw->context.run(); });
  return std::unique_ptr<Server>(new Server(std::move(loop)));
}

Server::~Server() {
  {
    const std::lock_guard lock(loop_->shared.gate->mutex);
    loop_->shared.gate->context = nullptr;
  }
  loop_->context.stop();
  loop_->thread.join();
}

std::uint16_t Server::port() const {
  beast::error_code ignored;
  return loop_->acceptor.local_endpoint(ignored).port();
}

}  // namespace ashlar::http
