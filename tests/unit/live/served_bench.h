// The tracker and the engine behind it, before a server that says what a test wants: for what writes, pumped after each
// poll as the loop does.
#pragma once

#include "scripted_api.h"
#include "tracker_bench.h"

namespace ashlar::kube {

class ServedBench : public TrackerBench {
 protected:
  void TearDown() override { server.close(); }
  virtual http::ServerResponse serve(const http::ServerRequest& request) = 0;
  virtual void pump() = 0;
  template <class IsDone>
  bool until(IsDone&& is_done) {
    return server.until([&] {
      pump();
      return is_done();
    });
  }

  Millis skipped;  ///< by which the client's clock is ahead of the machine's
  ScriptedApi server{[this](const http::ServerRequest& request) { return serve(request); },
                     [this] {
                       const auto real = std::chrono::steady_clock::now().time_since_epoch();
                       return Millis(std::chrono::duration_cast<std::chrono::milliseconds>(real).count()) + skipped;
                     }};
};

}  // namespace ashlar::kube
