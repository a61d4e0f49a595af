// A reflector's server that follows a script, and a clock of the test's own: what is asked, when, and what is reported.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../http/loopback.h"
#include "base/rng.h"
#include "kubeclient/reflector.h"

namespace ashlar::kube {

using Asked = std::vector<std::string>;

inline constexpr std::uint64_t kSeed = 7;
inline constexpr const char* kExpired =
    R"({"type":"ERROR","object":{"kind":"Status","reason":"Expired","code":410,"message":"too old"}})"
    "\n";

inline std::string object(const std::string& name, int version, const std::string& uid, const std::string& ns = "") {
  return R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"(","uid":")" + uid +
         R"(","resourceVersion":")" + std::to_string(version) + R"("}})";
}
inline std::string event(const std::string& type, const std::string& what) {
  return R"({"type":")" + type + R"(","object":)" + what + "}\n";
}

/// One answer of the server.
struct Step {
  std::string head = "200 OK", body;
  bool is_watch = false, breaks_off = false;
  Millis lives{};  ///< so much later, by the test's clock, it is given
};
inline Step list(int version, const std::string& items = "", const std::string& token = "") {
  return {.body = R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"(","continue":")" + token +
                  R"("},"items":[)" + items + "]}"};
}
inline Step watch(std::string events, Millis lives = {}) {
  return {.body = std::move(events), .is_watch = true, .lives = lives};
}
inline Step refusal(const std::string& head) { return {.head = head, .body = "no"}; }

class Paced : public ::testing::Test {
 protected:
  /// The server plays the steps, and 500 after the last.
  void open(std::vector<Step> steps) {
    reset();
    steps_ = std::move(steps);
    server_ = std::make_unique<http::Loopback>(
        [this](http::Wire& wire, const std::string& request) { answer(wire, request); });
    // A wall clock that was set back stands still for a while; nothing here goes by it.
    api = Api::create({.access = {.origin = "test", .server = server_->url()},
                       .now = [] { return Millis(5'000'000); },
                       .monotonic = [this] { return Millis(clock_.load()); },
                       .seed = kSeed})
              .value();
  }
  template <class T = Namespace>
  Reflector<T> follow(ReflectorOptions options = {}) {
    options.on_error = [this](const Error& error) { note("!"), errors.push_back(error.message); };
    return Reflector<T>(*api, std::move(options), [this](Change<T>&& change) {
      note("+~-="[static_cast<int>(change.kind)] + change.object.name.str() +
           (change.object.resource_version != 0 ? std::to_string(change.object.resource_version) : ""));
    });
  }
  void reset() {
    api.reset();
    server_.reset();
    log.clear();
    errors.clear();
    asked_.clear();
    next_ = 0;
    jitter = Rng(kSeed);
  }
  /// Polls until nothing is under way.
  void settle() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    do api->poll(Millis(1));
    while (api->in_flight() > 0 && std::chrono::steady_clock::now() < deadline);
    EXPECT_EQ(api->in_flight(), 0u);
  }
  void later(Millis by) {
    clock_ += by.value;
    api->poll(Millis(0));
  }
  /// The next request goes out after so long and no sooner; then whatever follows from it.
  void expect_next_in(Millis delay) {
    ASSERT_EQ(api->in_flight(), 0u);
    later(delay - Millis(1));
    EXPECT_EQ(api->in_flight(), 0u) << "sooner than " << delay.value << " ms";
    later(Millis(1));
    EXPECT_EQ(api->in_flight(), 1u) << "later than " << delay.value << " ms";
    settle();
  }
  /// Between half of it and the whole, by the next number of the seed.
  Millis jittered(std::int64_t millis) {
    return Millis(static_cast<std::int64_t>(static_cast<double>(millis) * (0.5 + 0.5 * jitter.uniform())));
  }
  /// "list" or "watch", in order, since the last call.
  Asked asked() {
    Asked kinds;
    for (const std::string& head : asked_in_full())
      kinds.push_back(head.find("?watch=1&") != std::string::npos ? "watch" : "list");
    return kinds;
  }
  Asked asked_in_full() {
    const std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }
  void note(const std::string& what) {
    log.push_back(what);
    if (on_note) on_note();
  }
  Millis now() const { return Millis(clock_.load()); }

  std::unique_ptr<Api> api;
  Rng jitter{kSeed};
  std::vector<std::string> log, errors;
  std::function<void()> on_note;

 private:
  void answer(http::Wire& wire, const std::string& request) {
    Step step = refusal("500 No");
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(request);
      if (next_ < steps_.size()) step = steps_[next_++];
    }
    clock_ += step.lives.value;
    const std::string head = "HTTP/1.1 " + step.head + "\r\nConnection: close\r\n";
    if (!step.is_watch)
      return wire.say(head + "Content-Length: " + std::to_string(step.body.size()) + "\r\n\r\n" + step.body);
    wire.say(head + "Transfer-Encoding: chunked\r\n\r\n" + (step.body.empty() ? "" : http::Loopback::chunk(step.body)));
    if (!step.breaks_off) wire.say(http::Loopback::chunk(""));
  }

  std::atomic<std::int64_t> clock_{1'000'000};
  std::mutex mutex_;
  std::vector<Step> steps_;
  std::size_t next_ = 0;
  Asked asked_;
  std::unique_ptr<http::Loopback> server_;
};

}  // namespace ashlar::kube
