// BindQueue: bindings that wait to be sent, in order of arrival, and which is next. A namespace whose bindings are not
// answered for a while (its admission webhook is slow, perhaps on purpose) is slow until some of its bindings are
// answered in time again: it may have a few bindings under way, outside the window of the others, so that neither their
// bindings nor the engine wait for it. Cost: O(log namespaces) per binding, and O(slow namespaces).
//
//   queue.push(ns, ticket);
//   while (auto next = queue.next(room)) queue.note_sent(request, next->ns, now), send(next->ticket);
//   queue.note_answered(request, now);
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "kubeclient/pooled_string.h"
#include "live/write/commit/commit_ticket.h"

namespace ashlar::kube {

class BindQueue {
 public:
  static constexpr Millis kSlowAfter{2'000};        ///< without an answer
  static constexpr std::size_t kSlowShare = 8;      ///< bindings that a slow namespace may have under way
  static constexpr std::size_t kSlowInAllMax = 64;  ///< bindings that slow namespaces may have under way together
  static constexpr int kInTimeAgain = 4;        ///< answers, one after the other, after which it is not slow any more
  static constexpr Millis kRemembered{60'000};  ///< a slow one that has none, since its last late answer
  struct Next {
    PooledString ns;
    CommitTicket ticket;
  };

  void push(const PooledString& ns, CommitTicket ticket);
  /// The first that may be sent; nothing if none may. `has_room`: whether the window of namespaces that are not slow
  /// has a free place.
  std::optional<Next> next(bool has_room);
  /// The request is a binding of that namespace.
  void note_sent(std::uint64_t request, const PooledString& ns, Millis now);
  /// Answered or failed. Returns whether it was counted in the window: its namespace was not slow.
  bool note_answered(std::uint64_t request, Millis now);
  /// A binding of that namespace is to be sent or re-read later, as long as what is returned lives.
  std::shared_ptr<void> note_later(const PooledString& ns);
  /// Whether one that was noted so may be sent now: of a slow namespace only a few are under way.
  bool may_send_again(const PooledString& ns) const;
  /// Finds the namespaces that have become slow by now, and returns them.
  std::vector<PooledString> find_slow(Millis now);
  /// When find_slow() is due next; max() if nothing is under way.
  Millis next_look() const;

  std::size_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }
  /// Those that wait only for a free place in the window, not for a slow namespace.
  std::size_t unhindered() const { return size_ - hindered_; }
  /// Under way for slow namespaces: not counted in the window.
  std::size_t slow_under_way() const { return slow_under_way_; }
  /// Of slow namespaces, under way or noted for later: none of them counts in the window.
  std::size_t outside_window() const;

 private:
  /// By namespace: noted for later. Tickets elsewhere may outlive the queue.
  using Later = std::map<PooledString, std::size_t>;
  struct Waiting {
    std::uint64_t number;
    CommitTicket ticket;
  };
  struct Lane {
    std::deque<Waiting> waiting;
    std::size_t under_way = 0;
    bool is_slow = false;
    int in_time = 0;  ///< answers in time since the last late one; slow lanes only
    Millis late_at;   ///< of that one, or when it was found to be slow
    bool is_unused() const { return waiting.empty() && under_way == 0; }
  };
  struct Sent {
    PooledString ns;
    Millis at;
    bool is_overdue = false;
  };
  using Lanes = std::map<PooledString, Lane>;
  using Heads = std::set<std::pair<std::uint64_t, PooledString>>;  ///< first waiting number of a lane
  Heads& heads_of(const Lane& lane) { return lane.is_slow ? slow_heads_ : heads_; }
  void turn(Lanes::iterator it, bool is_slow);
  void drop_if_unused(Lanes::iterator it);

  Lanes lanes_;
  Heads heads_, slow_heads_;
  std::map<std::uint64_t, Sent> sent_;                  ///< by request
  std::set<std::pair<Millis, std::uint64_t>> in_time_;  ///< sent and not overdue yet
  std::set<PooledString> slow_;
  std::shared_ptr<Later> later_ = std::make_shared<Later>();
  std::uint64_t last_number_ = 0;
  std::size_t size_ = 0, hindered_ = 0, slow_under_way_ = 0;
};

}  // namespace ashlar::kube
