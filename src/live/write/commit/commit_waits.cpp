#include "live/write/commit/commit_waits.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ashlar::kube {

void CommitWaits::add(CommitTicket ticket, Millis now) {
  if (waiting_.empty()) next_look_ = now + options_.look_every;
  ticket.first_sent = now;
  const PodSlot slot = ticket.slot;
  look(waiting_.emplace(slot, std::move(ticket)), now);
}

void CommitWaits::pump(Millis now) {
  for (const PodSlot slot : std::exchange(again_, {})) look_now(slot, now);
  if (waiting_.empty() || now < next_look_) return;
  next_look_ = now + options_.look_every;
  for (auto it = waiting_.begin(); it != waiting_.end();) it = look(it, now);
}

void CommitWaits::look_now(PodSlot slot, Millis now) {
  for (auto it = waiting_.lower_bound(slot); it != waiting_.end() && it->first == slot;) it = look(it, now);
}

CommitWaits::Waiting::iterator CommitWaits::look(Waiting::iterator it, Millis now) {
  const CommitOutcome outcome = look_at(it->second, now);
  const bool waits_on = outcome == CommitOutcome::kUnknown;
  if (find_assumed(tracker_.pods(), it->second) != nullptr)
    tracker_.note_bind_wait(it->first, waits_on ? it->second.words : std::string());
  if (waits_on) return std::next(it);
  CommitTicket ticket = std::move(it->second);
  it = waiting_.erase(it);
  on_end_(std::move(ticket), outcome);
  return it;
}

CommitOutcome CommitWaits::look_at(CommitTicket& ticket, Millis now) const {
  if (find_assumed(tracker_.pods(), ticket) == nullptr) return CommitOutcome::kPlaceLost;
  if (tracker_.is_place_outdated(ticket.slot, nullptr)) return CommitOutcome::kOutdated;
  CommitWait wait = ticket.progress->work->wait();
  ticket.words = std::move(wait.words);
  if (wait.state != WaitState::kNotYet)
    return wait.state == WaitState::kHolds ? CommitOutcome::kHolds : CommitOutcome::kBroken;
  if (now < ticket.first_sent + options_.wait_max) return CommitOutcome::kUnknown;
  ticket.words += ", after " + std::to_string(options_.wait_max.value / 1000) + " s";
  return CommitOutcome::kTimeOut;
}

}  // namespace ashlar::kube
