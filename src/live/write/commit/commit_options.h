// CommitOptions: times and limits of the commits of pods, and what became of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/quantity.h"
#include "kubeclient/adaptive_window.h"
#include "kubeclient/bind_outcome.h"

namespace ashlar::kube {

struct CommitOptions {
  AdaptiveWindow::Limits binds = AdaptiveWindow::around(64);   ///< bindings, and writes before them, not settled
  AdaptiveWindow::Limits rereads = AdaptiveWindow::around(8);  ///< re-reads under way
  Millis retry_min{100}, retry_max{1'000};                     ///< before what was found undone is sent again, doubling
  Millis reread_min{500}, reread_max{10'000};                  ///< before a failed re-read is repeated, doubling
  /// outside the engine once the binding was given up, doubling with each repetition
  Millis hold_min{1'000}, hold_max{5 * 60 * 1'000};
  /// after an answer of success, until the watch must have reported the pod as bound; else it is read again
  Millis unseen_max{60'000};
  Millis wait_max{600'000};  ///< for what a CommitWork waits for
  Millis look_every{1'000};  ///< at what is waited for, without a report of a change
};

struct CommitCounters {
  std::uint64_t sent = 0, reread = 0, given_up = 0;
  std::uint64_t undone = 0;                              ///< answered with success, and the pod has no node
  std::uint64_t writes = 0;                              ///< before bindings
  std::uint64_t writes_taken_back = 0, writes_left = 0;  ///< of pods given up; left: could not be taken back
  std::array<std::uint64_t, kBindOutcomes> by_outcome{};
  std::uint64_t of(BindOutcome outcome) const { return by_outcome[static_cast<std::size_t>(outcome)]; }
  std::uint64_t bound() const { return of(BindOutcome::kBound); }
  friend bool operator==(const CommitCounters&, const CommitCounters&) = default;
};

/// Pods that were stopped for others.
struct EvictionCounters {
  std::uint64_t accepted = 0, refused = 0;
  std::uint64_t late = 0;  ///< they had not left a minute after their grace
  friend bool operator==(const EvictionCounters&, const EvictionCounters&) = default;
};

}  // namespace ashlar::kube
