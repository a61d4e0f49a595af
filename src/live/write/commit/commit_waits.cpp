#include "live/write/commit/commit_waits.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ashlar::kube {
namespace {

constexpr std::size_t kParts = 10;

}  // namespace

void CommitWaits::add(CommitTicket ticket, Millis now) {
  ticket.first_sent = now;
  const PodSlot slot = ticket.slot;
  const bool is_first = waiting_.empty();
  const auto it = waiting_.emplace(slot, std::move(ticket));
  if (is_first) next_look_ = now + part_every();
  look(it, now);
}

void CommitWaits::pump(Millis now) {
  for (const PodSlot slot : std::exchange(again_, {})) look_now(slot, now);
  if (waiting_.empty() || now < next_look_) return;
  const Millis every = part_every();
  const std::size_t parts = static_cast<std::size_t>((now - next_look_).value / every.value) + 1;
  const std::size_t each = (waiting_.size() + kParts - 1) / kParts;
  next_look_ = now + every;
  auto it = waiting_.lower_bound(next_slot_);
  for (std::size_t left = std::min(waiting_.size(), each * std::min(parts, kParts)); left > 0; --left) {
    if (it == waiting_.end()) it = waiting_.begin();
    it = look(it, now);
  }
  next_slot_ = it == waiting_.end() ? PodSlot(0) : it->first;
}

Millis CommitWaits::part_every() const {
  const auto parts = static_cast<std::int64_t>(std::clamp<std::size_t>(waiting_.size(), 1, kParts));
  return std::max(Millis(1), Millis(options_.look_every.value / parts));
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
  if (wait.has_own_limit || now < ticket.first_sent + options_.wait_max) return CommitOutcome::kUnknown;
  ticket.words += ", after " + std::to_string(options_.wait_max.value / 1000) + " s";
  return CommitOutcome::kTimeOut;
}

}  // namespace ashlar::kube
