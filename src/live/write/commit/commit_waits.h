// CommitWaits: pods whose writes are done and whose binding waits for watched objects. Each is looked at once a second,
// a tenth of them at a time, and when a change of what it waits for is reported; they take no place in the window of
// bindings. O(pods that wait) a second.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "live/track/tracker.h"
#include "live/write/commit/commit_options.h"
#include "live/write/commit/commit_ticket.h"

namespace ashlar::kube {

class CommitWaits {
 public:
  /// The wait of this ticket has ended, with words where it failed.
  using OnEnd = std::function<void(CommitTicket, CommitOutcome)>;
  CommitWaits(Tracker& tracker, const CommitOptions& options, OnEnd on_end)
      : tracker_(tracker), options_(options), on_end_(std::move(on_end)) {}

  /// Looked at at once.
  void add(CommitTicket ticket, Millis now);
  /// What the pod waits for has changed.
  void look_again(PodSlot slot) { again_.push_back(slot); }
  /// The same at once.
  void look_now(PodSlot slot, Millis now);
  void pump(Millis now);

  std::size_t size() const { return waiting_.size(); }
  /// max() if nothing waits.
  Millis next_due() const { return waiting_.empty() ? Millis::max() : next_look_; }

 private:
  using Waiting = std::multimap<PodSlot, CommitTicket>;  ///< first_sent: since when
  /// kUnknown: it still waits.
  CommitOutcome look_at(CommitTicket& ticket, Millis now) const;
  Waiting::iterator look(Waiting::iterator it, Millis now);
  /// Between looks at parts of those that wait.
  Millis part_every() const;

  Tracker& tracker_;
  const CommitOptions& options_;
  OnEnd on_end_;
  Waiting waiting_;
  std::vector<PodSlot> again_;
  Millis next_look_;                ///< monotonic
  PodSlot next_slot_ = PodSlot(0);  ///< the next to be looked at
};

}  // namespace ashlar::kube
