// Api: the http::Client of one cluster plus credentials that renew themselves (token file each minute; exec plugin
// before expiry and after a 401, never without a pause) and one mapping from HTTP answers to kinds of error. Driven by
// its owner through poll(); all callbacks run there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/result.h"
#include "http/client.h"
#include "kubeclient/credentials/kubeconfig.h"
#include "kubeclient/request_budget.h"

namespace ashlar::kube {

/// An answer of the API server, or the lack of one.
/// `result`: ok for 2xx; else kConflict 409, kNotFound 404, kExpired 410, kDenied 401/403, kInvalid
/// 400/405/406/413/415/422, kUnavailable 429/5xx or no connection, kTimeout (also 504: the effect is unknown).
struct Answer {
  Result<void> result;
  int status = 0;    ///< HTTP status; 0 if there was no answer
  std::string body;  ///< of a success; for failures the message is in `result`
  bool is_protobuf = false;
  std::string reason;     ///< metav1.Status.reason of a failure, e.g. "AlreadyExists"
  Millis retry_after{0};  ///< requested by the server on 429/503; 0: none
  /// An admission webhook refused the request, with a status of its own choice: the server works.
  bool is_of_webhook = false;
  bool ok() const { return result.ok(); }
};
using OnAnswer = std::function<void(Answer)>;

/// 429, 502, 503 and connections that fail are trouble; 500, 504, 408, timeouts and a single stream that the server
/// resets are unclear; every other answer is sound, and what an admission webhook refuses.
ServerHealth health_of(const Answer& answer);

/// The server's answer as an Answer: parses metav1.Status of failures (JSON or protobuf).
Answer to_answer(Result<http::Response> response);

struct ApiOptions {
  Access access;
  std::string user_agent = "ashlar";
  std::size_t requests_in_flight_max = 256;
  Millis unacknowledged_max{20'000};  ///< see http::ClientOptions
  std::function<Millis()> now;        ///< wall clock for credential expiry and jitter; default: the system's
  std::function<Millis()> monotonic;  ///< never set back; for timers and pauses; default: the system's
  std::uint64_t seed = 0;             ///< of the jitter of back-offs; 0: from the system
  /// between two starts of the exec plugin: one that only has expired credentials is not run without pause
  Millis exec_interval_min{5'000};
};

class Api {
 public:
  /// Reads TLS files and credentials (runs the exec plugin once); opens no connection. From now on the process ignores
  /// SIGPIPE, unless it has a handler: a connection that breaks during a write is an error, not the end of the process.
  static Result<std::unique_ptr<Api>> create(ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// A request whose credentials are refused (401) is sent once more with fresh ones before the callback sees it;
  /// `may_send` is checked each time.
  http::RequestId send(http::Request request, OnAnswer on_answer);
  /// A stream refused with 401 only causes the credentials to renew; reopening it is left to the caller.
  http::RequestId stream(http::Request request, http::StreamHandlers handlers, Millis idle);
  /// Includes requests that were refused and wait for fresh credentials.
  void cancel(http::RequestId id);
  /// Cancels all short requests under way, so that none can arrive that has not arrived yet; see http::Client.
  void reset_connections();

  /// Runs timers and I/O; returns after progress or `timeout`. All callbacks run inside.
  void poll(Millis timeout);
  void wakeup();                          ///< any thread
  void post(std::function<void()> work);  ///< any thread

  /// Runs `work` inside poll() after `delay`; returns an id for cancel_timer. Used for back-off.
  std::uint64_t after(Millis delay, std::function<void()> work);
  void cancel_timer(std::uint64_t id);  ///< no effect if it has fired, or the id is 0

  Millis now() const;
  Millis monotonic() const;  ///< never set back
  /// Limits requests while the server is in trouble; shared by all writers.
  RequestBudget& budget();
  /// Uniform in [0, 1); jitter only.
  double jitter();
  const Access& access() const;
  std::size_t in_flight() const;
  const http::ClientCounters& counters() const;

 private:
  struct Session;
  explicit Api(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

/// Sends and polls until the answer arrives; for start-up, tests and command-line verbs only.
Answer call(Api& api, http::Request request);

}  // namespace ashlar::kube
