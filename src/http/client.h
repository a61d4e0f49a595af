// Client: an HTTP/2 client (libcurl multi; HTTP/1.1 if the server supports nothing newer) driven by its owner: nothing
// happens between two calls of poll(), and every callback runs inside poll() on the owner's thread. Other threads may
// only call wakeup() and post(). Cost: about 50 us of CPU for a small POST with 64 in flight over TLS (bench_rawbind);
// a request holds one pooled easy handle and its buffers.
//
//   http::Client client({.base_url = "https://127.0.0.1:6443", .tls = {.ca_file = "ca.crt"}, .bearer_token = token});
//   client.send({.method = http::Method::kGet, .path = "/readyz"}, [](Result<http::Response> answer) { ... });
//   while (client.in_flight() > 0) client.poll(100_ms);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::http {

enum class Method : unsigned char { kGet, kPost, kPut, kPatch, kDelete };

/// TLS material, each either as a file or as PEM text (the text takes precedence if both are set).
struct Tls {
  std::string ca_file, ca_pem;      ///< trust anchors; the system's if both are empty
  std::string cert_file, cert_pem;  ///< client certificate chain, optional
  std::string key_file, key_pem;    ///< its private key
  std::string server_name;          ///< name to verify instead of the URL's host, optional
  bool insecure_skip_verify = false;
};

/// Where and how to connect; one Client talks to one server.
struct ClientOptions {
  std::string base_url;  ///< "https://host:port", optionally with a path prefix
  Tls tls;
  std::string bearer_token;                ///< sent as Authorization unless empty; replaceable by set_bearer_token()
  std::string basic_user, basic_password;  ///< HTTP basic authentication if basic_user is not empty
  std::string user_agent = "ashlar";
  std::string proxy;              ///< "http://host:port"; empty: direct, whatever the environment says
  Millis connect_timeout{5'000};  ///< TCP and TLS set-up
  /// of short requests: data that the other side's kernel has not taken for so long is given up
  Millis unacknowledged_max{20'000};
  /// more are queued here in order (Go servers allow 100 to 250 streams a connection)
  std::size_t requests_in_flight_max = 256;
  std::size_t queue_max = 1'000'000;       ///< waiting requests; beyond it send() answers kUnavailable at once
  std::size_t body_bytes_max = 64u << 20;  ///< a longer answer fails its request with kTooLong
};

struct Request {
  Method method = Method::kGet;
  std::string path;  ///< path and query, appended to base_url
  std::string body;
  const char* content_type = "application/json";  ///< static string; of the body
  const char* accept = "application/json";        ///< static string
  /// whole request from the moment it leaves the queue; 0 = none (watch streams)
  Millis timeout{30'000};
  /// Called when the request is about to be sent on a connection, after all waiting for one; false: it is not sent and
  /// fails with kUnavailable.
  /// Empty: always sent. Runs inside poll() and must not call the client.
  std::function<bool()> may_send;
  /// before all waiting requests, even beyond requests_in_flight_max; for few small ones, such as a lease's
  bool is_urgent = false;
  bool has_own_connection = false;  ///< set for long answers, such as lists; streams have one anyway
  std::size_t body_bytes_max = 0;   ///< of its answer, where that is less than the client's; 0: the client's
};

struct Response {
  int status = 0;
  std::string body;          ///< empty for streams
  std::string content_type;  ///< of the answer, lower-case media type with parameters
  Millis retry_after{0};     ///< from a Retry-After header in seconds; 0 if absent
};

/// Handlers of a streamed answer. `on_chunk` returns false to end the stream (on_done then reports success).
struct StreamHandlers {
  std::function<void(const Response&)> on_open;  ///< status and headers have arrived; before the first chunk
  /// body bytes; not called for a status >= 400, whose body goes to on_done
  std::function<bool(std::string_view)> on_chunk;
  std::function<void(Result<Response>)> on_done;  ///< the end, for whatever reason; exactly once unless cancelled
};

using RequestId = std::uint64_t;
using OnDone = std::function<void(Result<Response>)>;

/// Counters since construction, for metrics.
struct ClientCounters {
  std::uint64_t requests = 0, failures = 0, connections = 0, bytes_sent = 0, bytes_received = 0;
};

class Client {
 public:
  /// Refuses (kInvalid) malformed URLs and TLS material that cannot be read. Opens no connection yet.
  static Result<std::unique_ptr<Client>> create(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends; `on_done` runs once inside a later poll(), never inside send(). Any HTTP status is an answer; an Error
  /// means that there was none: kTimeout (the effect is unknown), kInternal (the same: the server ended this exchange,
  /// and not its connection), kUnavailable (not connected, broken off), kInvalid (TLS error: certificate or name not
  /// accepted).
  RequestId send(Request request, OnDone on_done);
  /// Sends and passes the body on as it arrives. `request.timeout` 0 means no limit; `idle` > 0 ends it with kTimeout
  /// after that silence.
  RequestId stream(Request request, StreamHandlers handlers, Millis idle = Millis(0));
  /// Forgets a request: its callbacks no longer run; whether the server carried it out is unknown. Unknown ids are
  /// ignored.
  void cancel(RequestId id);
  /// Ends all short requests under way (kUnavailable; their callbacks run here) and resets their connections: what the
  /// kernel has not delivered of them it never will. Not from within a callback.
  void reset_connections();

  /// Does all pending work and waits up to `timeout` for more; returns after the first round that made progress.
  /// Owner's thread only.
  void poll(Millis timeout);
  /// Makes a sleeping poll() return. Any thread.
  void wakeup();
  /// Runs `work` inside poll() on the owner's thread. Any thread.
  void post(std::function<void()> work);

  void set_bearer_token(std::string token);
  /// Replaces the client certificate for every request that starts from now on; those under way continue with the old
  /// one.
  void set_client_certificate(std::string cert_pem, std::string key_pem);

  /// Requests and streams not yet answered, including queued ones.
  std::size_t in_flight() const;
  const ClientCounters& counters() const;

 private:
  struct Loop;
  explicit Client(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace ashlar::http
