// RequestBudget: how many requests may be sent to an API server that is in trouble. After 429, 502, 503 or a failed
// connection, one request is sent at a time: after the server's Retry-After, else after 200 ms, doubling to 5 s. The
// first sound answer to a request sent since then ends the trouble; the number under way then grows from 8, by one for
// each sound answer, so that a recovering server is not flooded.
//
//   if (!budget.may_send(now)) return;              // called again at budget.next_at() or after the next answer
//   const RequestBudget::Pass pass = budget.begin(now);
//   send(request, [=](Answer answer) { budget.end(pass, {health_of(answer), answer.retry_after}, now()); });
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/quantity.h"

namespace ashlar::kube {

/// What an answer shows about the server as a whole.
enum class ServerHealth : std::uint8_t {
  kSound,    ///< it works, whether or not it did what was requested
  kTrouble,  ///< the server, or the network path to it, accepts no more for now
  kUnclear,  ///< this request failed in a way that may be specific to it, e.g. a slow webhook
};

/// Times are monotonic.
class RequestBudget {
 public:
  static constexpr Millis kIntervalMin{200}, kIntervalMax{5'000};
  static constexpr Millis kRetryAfterMax{60'000};  ///< a server that requests more gets one request a minute
  static constexpr std::size_t kWindowAfterTrouble = 8, kWindowMax = 1024;
  /// this many other failures are trouble, too, if they take this long without a sign of life between them, or one of
  /// them is of a request that no webhook sees
  static constexpr int kUnclearInRowMax = 16;
  static constexpr Millis kUnclearFor{5'000};

  /// Identifies one request: answers to requests sent before the trouble began do not end it.
  struct Pass {
    std::uint64_t era = 0;
  };
  struct Report {
    ServerHealth health = ServerHealth::kSound;
    Millis retry_after{0};  ///< requested by the server; 0: none
    bool is_read = false;   ///< no admission webhook sees it
  };

  bool may_send(Millis now) const {
    return is_in_trouble_ ? now >= next_at_ : under_way_ - std::min(under_way_, apart_) < window_;
  }
  /// When may_send() becomes true by itself; 0 if only an answer, or nothing, is missing.
  Millis next_at() const { return is_in_trouble_ ? next_at_ : Millis(0); }
  bool is_in_trouble() const { return is_in_trouble_; }

  Pass begin(Millis now) {
    ++under_way_;
    if (is_in_trouble_) next_at_ = now + interval_;
    return {era_};
  }
  void end(Pass pass, Report report, Millis now) {
    cancel();
    switch (report.health) {
      case ServerHealth::kSound:
        return note_sound(pass);
      case ServerHealth::kTrouble:
        return note_trouble(pass, report.retry_after, now);
      case ServerHealth::kUnclear:
        if (unclear_in_row_++ == 0) unclear_since_ = now;
        has_failed_read_ = has_failed_read_ || report.is_read;
        if (unclear_in_row_ >= kUnclearInRowMax && (has_failed_read_ || now >= unclear_since_ + kUnclearFor))
          note_trouble(pass, report.retry_after, now);
    }
  }
  /// What the answer to a request outside this budget shows that no webhook sees, e.g. the renewal of a lease: a sound
  /// one that failures of writes elsewhere may be the fault of their webhooks. Does not end trouble.
  void note_other(ServerHealth health) {
    if (health == ServerHealth::kSound) unclear_in_row_ = 0;
    has_failed_read_ = health == ServerHealth::kUnclear || (has_failed_read_ && health != ServerHealth::kSound);
  }
  /// As many of the requests under way show nothing of the server, e.g. those that wait for a slow webhook: they take
  /// no place in the window.
  void set_apart(std::size_t under_way) { apart_ = under_way; }
  /// The request will not be answered.
  void cancel() {
    ASHLAR_CHECK(under_way_ > 0);
    --under_way_;
  }

 private:
  void note_sound(Pass pass) {
    unclear_in_row_ = 0;
    has_failed_read_ = false;
    if (!is_in_trouble_) {
      window_ = std::min(window_ + 1, kWindowMax);
      return;
    }
    if (pass.era != era_) return;
    is_in_trouble_ = false;
    window_ = kWindowAfterTrouble;
  }
  void note_trouble(Pass pass, Millis retry_after, Millis now) {
    if (!is_in_trouble_) {
      is_in_trouble_ = true;
      ++era_;
      interval_ = kIntervalMin;
      next_at_ = now + interval_;
    } else if (pass.era == era_) {
      interval_ = std::min(interval_ * 2, kIntervalMax);
      next_at_ = std::max(next_at_, now + interval_);
    }
    next_at_ = std::max(next_at_, now + std::min(retry_after, kRetryAfterMax));
  }

  bool is_in_trouble_ = false;
  std::uint64_t era_ = 0;  ///< number of times trouble began
  std::size_t under_way_ = 0, apart_ = 0, window_ = kWindowMax;
  int unclear_in_row_ = 0;
  bool has_failed_read_ = false;  ///< among them
  Millis unclear_since_;          ///< the first of them
  Millis interval_ = kIntervalMin, next_at_;
};

}  // namespace ashlar::kube
