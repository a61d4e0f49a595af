// BindQueue: bindings that wait to be sent, and which is next: of the namespace with the fewest under way, of these the
// first that came. A namespace whose bindings are not answered for a while (its admission webhook is slow, perhaps on
// purpose) is slow until some are answered in time again: it may have a few under way, outside the others' window, so
// that neither their bindings nor the engine wait for it. Cost: O(log namespaces) per binding, O(slow namespaces).
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
#include <tuple>
#include <vector>

#include "base/quantity.h"
#include "kubeclient/pooled_string.h"
#include "live/write/commit/commit_ticket.h"

namespace ashlar::kube {

class BindQueue {
 public:
  static constexpr Millis kSlowAfter{2'000};        ///< without an answer
  static constexpr std::size_t kSlowShare = 8;      ///< bindings that a slow namespace may have under way
  static constexpr std::size_t kSlowInAllMax = 16;  ///< bindings that slow namespaces may have under way together
  static constexpr std::size_t kNewShare = 8;       ///< bindings under way in a namespace before the first is answered
  static constexpr std::size_t kNewInAllMax = 16;   ///< in such namespaces together
  /// In new and slow ones together new ones are sent up to this: a server lets few requests hang, and then serves none.
  static constexpr std::size_t kUnprovenMax = 32;
  /// A namespace is tardy if its last answer took this long, and this many times as long as the fastest of late: the
  /// engine does not wait for what waits there, and its answers say nothing of the server.
  static constexpr Millis kTardyAfter{250};
  static constexpr std::int64_t kTardyFactor = 8;
  static constexpr Millis kOfLate{30'000};
  static constexpr int kUnclearMax = 4;         ///< failures of a namespace in a row after which it is slow, too
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
  /// Answered or failed; `is_unclear`: in a way that may be specific to its namespace. Returns whether the answer says
  /// something of the server: its namespace was not slow, and is not tardy.
  bool note_answered(std::uint64_t request, Millis now, bool is_unclear = false);
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
  /// Those that wait only for a free place in the window, not for a slow or tardy namespace.
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
    bool is_new = true;  ///< no binding was answered in time yet
    bool is_tardy = false;
    int in_time = 0;  ///< answers in time since the last late one; slow lanes only
    int unclear = 0;  ///< failures since the last other answer
    Millis late_at;   ///< of the last late one, or when it was found to be slow
    Millis seen_at;   ///< the last answer
    bool is_unused() const { return waiting.empty() && under_way == 0; }
    bool is_hindered() const { return is_slow || is_tardy; }
  };
  struct Sent {
    PooledString ns;
    Millis at;
    bool is_overdue = false;
  };
  using Lanes = std::map<PooledString, Lane>;
  /// Lanes with something that waits, by the number under way and that of the first waiting one.
  using Heads = std::set<std::tuple<std::size_t, std::uint64_t, PooledString>>;
  Heads& heads_of(const Lane& lane) { return lane.is_slow ? slow_heads_ : lane.is_new ? new_heads_ : heads_; }
  static Heads::value_type head_of(Lanes::const_iterator it) {
    return {it->second.under_way, it->second.waiting.front().number, it->first};
  }
  Lanes::iterator lane_of(const PooledString& ns);
  /// Changes a lane, and with it where it stands in all that counts or lists it.
  template <class Change>
  void change(Lanes::iterator it, Change&& change);
  void note_time(Lane& lane, Millis took, Millis now);
  void turn_slow(Lanes::iterator it, Millis now);
  void forget(Millis now);
  void drop_if_unused(Lanes::iterator it);

  Lanes lanes_;
  Heads heads_, new_heads_, slow_heads_;
  std::map<std::uint64_t, Sent> sent_;                  ///< by request
  std::set<std::pair<Millis, std::uint64_t>> in_time_;  ///< sent and not overdue yet
  std::set<PooledString> slow_;
  std::shared_ptr<Later> later_ = std::make_shared<Later>();
  std::uint64_t last_number_ = 0;
  std::size_t size_ = 0, hindered_ = 0, slow_under_way_ = 0, new_under_way_ = 0;
  Millis fastest_ = Millis::max(), fastest_at_;  ///< answer of late, and when
  Millis forgotten_at_;
};

}  // namespace ashlar::kube
