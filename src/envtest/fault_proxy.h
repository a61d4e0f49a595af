// FaultProxy: a proxy between a client and an API server that injects the faults of a network, a load balancer or a
// failing server. It takes plain HTTP/1.1 on a loopback port, forwards over TLS, and applies each fault to the next
// requests (or watch events) that match it, counting every hit, so that a test can distinguish a fault that was
// survived from one that never happened. One thread per connection; for tests.
//
//   auto proxy = envtest::FaultProxy::start(plane.server()).value();
//   access.server = proxy->url();
//   auto fault = proxy->inject({.kind = Fault::Kind::kResetAfter, .method = "POST", .path = "/binding", .times = 3});
//   ...
//   EXPECT_EQ(proxy->hits(fault), 3u);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::envtest {

struct Fault {
  enum class Kind : std::uint8_t {
    kDelay,       ///< the request is forwarded after `delay`
    kDrop,        ///< the connection is closed before the request is forwarded: the server never sees it
    kResetAfter,  ///< the server carries the request out, and the connection is reset before its answer is passed on
    kStatus,      ///< answered with `status` (and Retry-After) by the proxy, also of success; the server never sees it
    kGarble,      ///< the body of the answer, or one event of a watch, arrives with bytes overwritten
    kTruncate,    ///< half of the answer's body arrives, then the connection is closed
    kDuplicate,   ///< one event of a watch arrives twice
    kSilence,     ///< the watch stays open and delivers nothing more
  };
  Kind kind = Kind::kDelay;
  std::string method;     ///< empty: any
  std::string path;       ///< a part of path and query; empty: any
  std::size_t times = 1;  ///< this many requests, or events of watches
  int status = 503;
  Millis retry_after;  ///< sent with kStatus unless 0; whole seconds
  Millis delay{100};
  std::string message = "injected by the fault proxy";  ///< of the Status object sent with kStatus
};

class FaultProxy {
 public:
  using FaultId = std::size_t;

  /// `server`: "https://127.0.0.1:PORT"; its certificate is not checked.
  static Result<std::unique_ptr<FaultProxy>> start(const std::string& server);
  /// Cuts every connection and joins all threads.
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::string url() const;  ///< "http://127.0.0.1:PORT"
  /// From now on; faults that match the same request apply in the order of injection, one per request.
  FaultId inject(Fault fault);
  /// How many requests or events it has hit so far.
  std::size_t hits(FaultId id) const;
  /// Faults that have hits left no longer apply; their counts stay.
  void clear();
  /// Requests received so far whose path and query contain `part`.
  std::size_t requests(std::string_view part = {}) const;

  /// A request forwarded to the server (no watch), unchanged, with its id in the server's audit log.
  struct Forwarded {
    std::string audit_id, method, target, body;
    int status = 0;  ///< of the answer that the client received whole; 0: none
  };
  /// Those whose path and query contain `part`, oldest first.
  std::vector<Forwarded> forwarded(std::string_view part = {}) const;

 private:
  struct Loop;
  explicit FaultProxy(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace ashlar::envtest
