#include "envtest/fault_proxy.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "http/url.h"

namespace ashlar::envtest {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using tcp = asio::ip::tcp;
using Request = wire::request<wire::string_body>;
using Response = wire::response<wire::string_body>;

constexpr std::size_t kPieceBytes = 64u << 10;

/// Splits the body of a watch into its events: lines of JSON, or protobuf with a four-byte length prefix.
class EventCutter {
 public:
  explicit EventCutter(bool is_json) : is_json_(is_json) {}
  void add(std::string_view bytes) { pending_.append(bytes); }
  /// The next whole event, with its framing.
  std::optional<std::string> next() {
    const std::size_t size = is_json_ ? json_size() : framed_size();
    if (size == 0 || pending_.size() < size) return std::nullopt;
    std::string event = pending_.substr(0, size);
    pending_.erase(0, size);
    return event;
  }

 private:
  std::size_t json_size() const {
    const std::size_t end = pending_.find('\n');
    return end == std::string::npos ? 0 : end + 1;
  }
  std::size_t framed_size() const {
    if (pending_.size() < 4) return 0;
    std::size_t size = 0;
    for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(pending_[static_cast<std::size_t>(i)]);
    return size + 4;
  }
  bool is_json_;
  std::string pending_;
};

/// Overwrites the middle third; lengths and framing stay.
std::string garbled(std::string text) {
  for (std::size_t i = text.size() / 3; i < text.size() * 2 / 3; ++i) text[i] = i % 2 == 0 ? '\xff' : '{';
  return text;
}

bool is_watch(std::string_view target) {
  return target.find("watch=1") != std::string_view::npos || target.find("watch=true") != std::string_view::npos;
}

}  // namespace

struct FaultProxy::Loop {
  struct Injected {
    Fault fault;
    std::size_t left = 0, hits = 0;
  };
  struct Connection {
    explicit Connection(tcp::socket socket) : client(std::move(socket)) {}
    tcp::socket client;
    std::mutex lock;  ///< of `upstream`, which is opened by the connection's thread and cut by ours
    std::unique_ptr<asio::ssl::stream<tcp::socket>> upstream;
    std::thread thread;
    std::atomic<bool> is_done{false};
  };

  asio::io_context io;
  asio::ssl::context tls{asio::ssl::context::tls_client};
  tcp::acceptor acceptor{io};
  tcp::endpoint server;
  std::thread accepting;
  std::atomic<bool> is_ending{false};
  mutable std::mutex lock;  ///< of everything below
  std::deque<Injected> faults;
  std::vector<std::string> seen;
  std::deque<Forwarded> forwarded;  ///< entries stay where they are
  std::list<std::shared_ptr<Connection>> connections;

  /// The first fault that applies, counted as hit. Streams call it with `is_event` for each event, requests once before
  /// they are forwarded.
  std::optional<Fault> take(const std::string& method, const std::string& target, bool is_event) {
    const std::lock_guard guard(lock);
    for (Injected& f : faults) {
      const bool is_of_stream = f.fault.kind == Fault::Kind::kDuplicate || f.fault.kind == Fault::Kind::kSilence ||
                                (f.fault.kind == Fault::Kind::kGarble && is_watch(target));
      if (f.left == 0 || is_of_stream != is_event || (!f.fault.method.empty() && f.fault.method != method)) continue;
      if (target.find(f.fault.path) == std::string::npos) continue;
      --f.left;
      ++f.hits;
      return f.fault;
    }
    return std::nullopt;
  }

  void accept() {
    while (!is_ending) {
      beast::error_code error;
      tcp::socket socket(io);
      acceptor.accept(socket, error);
      if (error || is_ending) continue;
      const std::lock_guard guard(lock);
      connections.remove_if([](const std::shared_ptr<Connection>& c) {
        if (!c->is_done) return false;
        c->thread.join();
        return true;
      });
      auto connection = std::make_shared<Connection>(std::move(socket));
      connections.push_back(connection);
      connection->thread = std::thread([this, connection] { serve(*connection); });
    }
  }

  void serve(Connection& c) {
    beast::flat_buffer buffer;
    beast::error_code error;
    while (!error && !is_ending) {
      wire::request_parser<wire::string_body> parser;
      parser.body_limit(64u << 20);
      wire::read(c.client, buffer, parser, error);
      if (error) break;
      Request request = parser.release();
      {
        const std::lock_guard guard(lock);
        seen.emplace_back(request.target());
      }
      if (!answer(c, std::move(request))) break;
    }
    c.client.shutdown(tcp::socket::shutdown_both, error);
    c.client.close(error);
    c.is_done = true;
  }

  /// False if the connection is over.
  bool answer(Connection& c, Request request) {
    const std::string method(request.method_string()), target(request.target());
    const std::optional<Fault> fault = take(method, target, false);
    if (fault && fault->kind == Fault::Kind::kDrop) return false;
    if (fault && fault->kind == Fault::Kind::kStatus) return refuse(c, request, *fault);
    if (fault && fault->kind == Fault::Kind::kDelay)
      std::this_thread::sleep_for(std::chrono::milliseconds(fault->delay.value));
    beast::error_code error;
    if (!c.upstream) open_upstream(c, error);
    if (error)
      return refuse(c, request, {.status = 502, .message = "the server cannot be reached: " + error.message()});
    Forwarded* const entry = is_watch(target) ? nullptr : note_forwarded(request);
    wire::write(*c.upstream, request, error);
    if (error) return false;
    if (entry == nullptr) return relay_stream(c, method, target, fault);
    beast::flat_buffer buffer;
    wire::response_parser<wire::string_body> parser;
    parser.body_limit(boost::none);
    if (request.method() == wire::verb::head) parser.skip(true);
    wire::read(*c.upstream, buffer, parser, error);
    if (error) return false;
    Response response = parser.release();
    if (fault && fault->kind == Fault::Kind::kResetAfter) return reset(c);
    if (fault && fault->kind == Fault::Kind::kGarble) response.body() = garbled(std::move(response.body()));
    if (response.chunked()) {
      response.chunked(false);
      response.content_length(response.body().size());
    }
    if (fault && fault->kind == Fault::Kind::kTruncate) return truncate(c, response);
    wire::write(c.client, response, error);
    if (!error) {
      const std::lock_guard guard(lock);
      entry->status = static_cast<int>(response.result_int());
    }
    return !error && response.keep_alive();
  }

  /// A server adopts the id that a request has for its audit log, so that both records can be compared.
  Forwarded* note_forwarded(Request& request) {
    static std::atomic<std::size_t> count{0};
    const std::string id = "fault-proxy-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
    request.set("Audit-ID", id);
    const std::lock_guard guard(lock);
    return &forwarded.emplace_back(
        Forwarded{id, std::string(request.method_string()), std::string(request.target()), request.body()});
  }

  void open_upstream(Connection& c, beast::error_code& error) {
    const std::lock_guard guard(c.lock);
    c.upstream = std::make_unique<asio::ssl::stream<tcp::socket>>(io, tls);
    c.upstream->next_layer().connect(server, error);
    if (!error) c.upstream->handshake(asio::ssl::stream_base::client, error);
    if (error) c.upstream.reset();
  }

  static bool refuse(Connection& c, const Request& request, const Fault& fault) {
    Response response(static_cast<wire::status>(fault.status), request.version());
    response.set(wire::field::content_type, "application/json");
    if (fault.retry_after.value > 0)
      response.set(wire::field::retry_after, std::to_string((fault.retry_after.value + 999) / 1000));
    response.body() = R"({"kind":"Status","apiVersion":"v1","status":")" +
                      std::string(fault.status < 300 ? "Success" : "Failure") + R"(","message":")" + fault.message +
                      R"(","code":)" + std::to_string(fault.status) + "}";
    response.prepare_payload();
    response.keep_alive(request.keep_alive());
    beast::error_code error;
    wire::write(c.client, response, error);
    return !error && request.keep_alive();
  }

  /// Closes with RST, not FIN: data in flight is lost.
  static bool reset(Connection& c) {
    beast::error_code error;
    c.client.set_option(asio::socket_base::linger(true, 0), error);
    c.client.close(error);
    return false;
  }

  static bool truncate(Connection& c, const Response& response) {
    beast::error_code error;
    wire::response<wire::empty_body> head(response.base());
    head.content_length(response.body().size());
    wire::response_serializer<wire::empty_body> serializer(head);
    wire::write_header(c.client, serializer, error);
    if (!error) asio::write(c.client, asio::buffer(response.body().data(), response.body().size() / 2), error);
    return false;
  }

  bool relay_stream(Connection& c, const std::string& method, const std::string& target,
                    const std::optional<Fault>& fault) {
    beast::flat_buffer buffer;
    beast::error_code error;
    wire::response_parser<wire::buffer_body> parser;
    parser.body_limit(boost::none);
    wire::read_header(*c.upstream, buffer, parser, error);
    if (error) return false;
    if (fault && fault->kind == Fault::Kind::kResetAfter) return reset(c);
    wire::response<wire::empty_body> head(parser.get().base());
    head.chunked(true);
    wire::response_serializer<wire::empty_body> serializer(head);
    wire::write_header(c.client, serializer, error);
    EventCutter cutter(std::string_view(parser.get()[wire::field::content_type]).find("json") !=
                       std::string_view::npos);
    std::vector<char> piece(kPieceBytes);
    bool is_silent = false;
    while (!error && !parser.is_done()) {
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      wire::read_some(*c.upstream, buffer, parser, error);
      if (error == wire::error::need_buffer) error = {};
      cutter.add({piece.data(), piece.size() - parser.get().body().size});
      while (const std::optional<std::string> event = cutter.next())
        if (!error && !is_silent) pass_event(c, *event, take(method, target, true), is_silent, error);
      if (fault && fault->kind == Fault::Kind::kTruncate) return false;
    }
    if (!error) asio::write(c.client, wire::make_chunk_last(), error);
    return false;
  }

  static void pass_event(Connection& c, const std::string& event, const std::optional<Fault>& fault, bool& is_silent,
                         beast::error_code& error) {
    const auto pass = [&](const std::string& bytes) {
      asio::write(c.client, wire::make_chunk(asio::buffer(bytes)), error);
    };
    if (fault && fault->kind == Fault::Kind::kSilence) {
      is_silent = true;
      return;
    }
    if (fault && fault->kind == Fault::Kind::kGarble) {
      const std::size_t framing = event.front() == '{' ? 0 : std::min<std::size_t>(4, event.size());
      std::string body = garbled(event.substr(framing));
      if (framing == 0) body.back() = '\n';
      pass(event.substr(0, framing) + body);
      return;
    }
    pass(event);
    if (fault && fault->kind == Fault::Kind::kDuplicate && !error) pass(event);
  }

  void end() {
    is_ending = true;
    beast::error_code ignored;
    asio::io_context own;
    tcp::socket waker(own);  // accept() blocks until a client connects
    waker.connect(acceptor.local_endpoint(ignored), ignored);
    if (accepting.joinable()) accepting.join();
    for (const std::shared_ptr<Connection>& c : connections) {
      ::shutdown(c->client.native_handle(), SHUT_RDWR);
      const std::lock_guard guard(c->lock);
      if (c->upstream) ::shutdown(c->upstream->next_layer().native_handle(), SHUT_RDWR);
    }
    for (const std::shared_ptr<Connection>& c : connections) c->thread.join();
  }
};

FaultProxy::FaultProxy(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
FaultProxy::~FaultProxy() { loop_->end(); }

Result<std::unique_ptr<FaultProxy>> FaultProxy::start(const std::string& server) {
  const Result<http::Url> url = http::parse_url(server);
  if (!url) return url.error();
  auto loop = std::make_unique<Loop>();
  beast::error_code error;
  loop->server = tcp::endpoint(asio::ip::make_address(url->host, error), url->port);
  if (error) return Error{Error::Kind::kInvalid, server + ": the host must be an address"};
  loop->tls.set_verify_mode(asio::ssl::verify_none);
  loop->acceptor.open(tcp::v4(), error);
  if (!error) loop->acceptor.bind({asio::ip::address_v4::loopback(), 0}, error);
  if (!error) loop->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return Error{Error::Kind::kUnavailable, "the fault proxy cannot listen: " + error.message()};
  loop->accepting = std::thread([l = loop.get()] { l->accept(); });
  return std::unique_ptr<FaultProxy>(new FaultProxy(std::move(loop)));
}

std::string FaultProxy::url() const {
  beast::error_code ignored;
  return "http://127.0.0.1:" + std::to_string(loop_->acceptor.local_endpoint(ignored).port());
}

FaultProxy::FaultId FaultProxy::inject(Fault fault) {
  const std::lock_guard guard(loop_->lock);
  const std::size_t times = fault.times;
  loop_->faults.push_back({std::move(fault), times, 0});
  return loop_->faults.size() - 1;
}

std::size_t FaultProxy::hits(FaultId id) const {
  const std::lock_guard guard(loop_->lock);
  return loop_->faults[id].hits;
}

void FaultProxy::clear() {
  const std::lock_guard guard(loop_->lock);
  for (Loop::Injected& f : loop_->faults) f.left = 0;
}

std::size_t FaultProxy::requests(std::string_view part) const {
  const std::lock_guard guard(loop_->lock);
  return static_cast<std::size_t>(std::count_if(loop_->seen.begin(), loop_->seen.end(), [&](const std::string& target) {
    return target.find(part) != std::string::npos;
  }));
}

std::vector<FaultProxy::Forwarded> FaultProxy::forwarded(std::string_view part) const {
  const std::lock_guard guard(loop_->lock);
  std::vector<Forwarded> found;
  std::copy_if(loop_->forwarded.begin(), loop_->forwarded.end(), std::back_inserter(found),
               [&](const Forwarded& f) { return f.target.find(part) != std::string::npos; });
  return found;
}

}  // namespace ashlar::envtest
