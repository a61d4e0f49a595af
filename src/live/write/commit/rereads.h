// Rereads: objects that are read again because an answer left their state open, each when it is due, within an adaptive
// window. Pods whose binding was answered with success are read too if the watch does not report it for long.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "kubeclient/adaptive_window.h"
#include "kubeclient/api.h"
#include "live/write/commit/commit_ticket.h"
#include "live/write/request_lane.h"

namespace ashlar::kube {

class Rereads {
 public:
  struct Hooks {
    /// The path to read; empty: the ticket needs it no more, and is taken.
    std::function<std::string(CommitTicket&)> begin;
    std::function<void(CommitTicket, const Answer&)> take;
  };
  Rereads(Api& api, RequestLane& lane, AdaptiveWindow::Limits limits, Hooks hooks);

  void later(CommitTicket ticket, Millis due) { due_.emplace(due, std::move(ticket)); }
  /// The ticket's pod is bound by an answer. `due`: when the watch must have reported it, in order.
  void confirm_later(const CommitTicket& ticket, Millis due) {
    confirmed_.push_back({due, ticket.slot, ticket.generation, ticket.turn});
  }
  void pump(Millis now);

  /// Those that wait for their time or for a place; confirmed ones do not count.
  std::size_t waiting() const { return due_.size(); }
  std::size_t window() const { return window_.size(); }
  /// When the next is due; max() if none is.
  Millis next_due() const;

 private:
  struct Confirmed {
    Millis due;
    PodSlot slot = kNoPod;
    std::uint32_t generation = 0, turn = 0;
  };
  void read(CommitTicket ticket);
  bool may_send(Millis now) const { return under_way_ < window_.size() && api_.budget().may_send(now); }

  Api& api_;
  RequestLane& lane_;
  Hooks hooks_;
  AdaptiveWindow window_;
  std::size_t under_way_ = 0;
  std::multimap<Millis, CommitTicket> due_;
  std::deque<Confirmed> confirmed_;  ///< by `due`
};

}  // namespace ashlar::kube
