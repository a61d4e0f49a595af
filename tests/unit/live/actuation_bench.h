// The actuator behind a bench, before a server that answers bindings and re-reads as a test wants.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "live/write/binder.h"
#include "served_bench.h"

namespace ashlar::kube {

class Actuation : public ServedBench {
 protected:
  using Phase = PodRecord::Phase;
  Actuation() {
    is_answering = false;
    see(node("n", 8));
  }
  http::ServerResponse serve(const http::ServerRequest& request) override {
    const bool is_refused = !refused_pod.empty() && request.path.find(refused_pod) != std::string::npos;
    if (request.method == "POST" && is_refused) return ScriptedApi::status(422);
    if (request.method == "POST")
      return bind_status < 300 ? http::json(bind_status, said) : ScriptedApi::status(bind_status, refusal);
    if (read_failures > 0) {
      --read_failures;
      return ScriptedApi::status(503);
    }
    if (read_status != 200) return ScriptedApi::status(read_status);
    if (!exists) return ScriptedApi::missing();
    const bool is_pod = odd_status == 200 && odd.starts_with(R"({"kind":"Pod")");
    if (!odd.empty()) return is_pod ? ScriptedApi::whole_pod(odd) : http::json(odd_status, odd);
    return ScriptedApi::pod(request, bound_to);
  }
  std::unique_ptr<Binder> binder_with(CommitOptions o, Millis retry_min = Millis(10)) {
    o.retry_min = retry_min;
    o.retry_max = std::max(retry_min, Millis(20));
    o.reread_min = Millis(20);
    return std::make_unique<Binder>(server.api(), tracker, o,
                                    Binder::Hooks{.may_write = [this] { return is_leading; },
                                                  .on_plan = {},
                                                  .state_now = [this]() -> const State& {
                                                    tracker.settle_bound();
                                                    driver.catch_up();
                                                    return state;
                                                  },
                                                  .work_of = [this](PodSlot slot) { return work_of(slot); },
                                                  .log =
                                                      [this](LogLevel level, const LogLine& line) {
                                                        if (level == LogLevel::kWarning)
                                                          warnings.push_back(line.message);
                                                      }});
  }
  /// What is written before a pod's binding; null: nothing.
  virtual std::shared_ptr<CommitWork> work_of(PodSlot) { return nullptr; }
  void pump() override { binder->pump(); }
  /// Decides on a pod (of one device) and hands the plan over.
  void place(int pods = 1) {
    for (int i = 0; i < pods; ++i) see(pod("p" + std::to_string(i), 1));
    step();
    binder->submit(plan);
  }
  Phase phase(const std::string& name = "p0") { return record(name).phase; }

  int bind_status = 201, read_status = 200, read_failures = 0;
  bool exists = true, is_leading = true;
  std::string bound_to, refused_pod, refusal = "no", said = ScriptedApi::done().body;
  int odd_status = 200;
  std::string odd;  ///< the answer to a re-read, if not empty
  std::vector<std::string> warnings;
  std::unique_ptr<Binder> binder = binder_with({});
};

}  // namespace ashlar::kube
