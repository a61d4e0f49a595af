// BindQueue: bindings that wait to be sent, and which is next: of the namespace with the fewest under way, the first
// that came; no namespace waits long for others whose admission webhooks let theirs hang, perhaps on purpose. What is
// overdue (SentBindings) takes no place in the window, a namespace that falls silent has to be answered before more of
// it is sent, and one with a late binding is slow and has a few under way. Cost: O(log namespaces) per binding, O(slow
// namespaces).
//
//   queue.push(ns, ticket);
//   while (auto next = queue.next(taken, window)) queue.note_sent(request, next->ns, now), send(next->ticket);
//   queue.note_answered(request, now);
#pragma once

#include <algorithm>
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
#include "live/write/sent_bindings.h"

namespace ashlar::kube {

class BindQueue {
 public:
  static constexpr std::size_t kSlowShare = 8;  ///< bindings that a slow namespace may have under way
  /// Bindings that slow namespaces may have under way together. Those whose last answer was in time do not count, and
  /// those that have none get one in turn, those first that were late the fewest times: of such probes this many may be
  /// under way before they are overdue, and kProbesWhileHanging where many hang.
  static constexpr std::size_t kSlowInAllMax = 16;
  static constexpr std::size_t kProbesMax = 8, kProbesWhileHanging = 2;
  static constexpr std::size_t kNewShare = 8;      ///< bindings under way in a namespace before one is answered
  static constexpr std::size_t kNewInAllMax = 16;  ///< in such namespaces together, but for those that are overdue
  /// A server lets few requests hang, and then serves none: kube-apiserver may have 56 seats for a scheduler without a
  /// priority level of its own. While this many are overdue, new namespaces have kNewWhileHanging under way, and where
  /// any namespace waits for its first place, what is overdue for kAbandonAfter is abandoned.
  static constexpr std::size_t kHangingMax = 48;
  static constexpr std::size_t kNewWhileHanging = 4;
  static constexpr Millis kAbandonAfter{500};
  /// Overdue bindings of other than slow ones that take no place; those of late ones may fill half of the window, too.
  static constexpr std::size_t kApartMax = 64;
  /// With as many overdue a namespace is silent, whatever is answered.
  static constexpr std::size_t kOverdueShare = 32;
  /// As many known namespaces that fall silent within kSilentFor make all of them new again.
  static constexpr std::size_t kSilentMax = 8;
  static constexpr Millis kSilentFor{10'000};
  /// Failures in a row after which a namespace is slow, too; each other answer outweighs a quarter of a failure, so
  /// that one of which more than a fifth fail becomes slow before its failures speak of the server for long.
  static constexpr int kUnclearMax = 2;
  static constexpr int kUnclearWeight = 4;
  static constexpr int kInTimeAgain = 4;        ///< answers, one after the other, after which it is not slow any more
  static constexpr Millis kRemembered{60'000};  ///< a slow one that has none, since its last late answer
  struct Next {
    PooledString ns;
    CommitTicket ticket;
  };

  void push(const PooledString& ns, CommitTicket ticket);
  /// The first that may be sent; nothing if none may. `taken`: places of the window that are not free.
  std::optional<Next> next(std::size_t taken, std::size_t window);
  /// The request is a binding of that namespace.
  void note_sent(std::uint64_t request, const PooledString& ns, Millis now);
  /// Answered or failed; `is_unclear`: in a way that may be specific to its namespace. Returns whether the answer says
  /// something of the server: its namespace was not slow, and is not tardy.
  bool note_answered(std::uint64_t request, Millis now, bool is_unclear = false);
  /// A binding of that namespace is to be sent or re-read later, as long as what is returned lives.
  std::shared_ptr<void> note_later(const PooledString& ns);
  /// Whether one that was noted so may be sent now: of a new or slow namespace only a few are under way.
  bool may_send_again(const PooledString& ns) const;
  /// Takes notice of what is overdue and late by now, and returns the namespaces that have become slow.
  std::vector<PooledString> find_slow(Millis now);
  /// When find_slow() is due next; max() if nothing is under way.
  Millis next_look() const { return sent_.next_look(); }
  /// The request that is overdue for the longest, if namespaces of which nothing is under way wait and too many hang.
  std::optional<std::uint64_t> to_abandon(Millis now) const;

  std::size_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }
  /// Those that wait only for a free place in the window, not for a slow or tardy namespace.
  std::size_t unhindered() const { return size_ - hindered_; }
  /// Under way for slow namespaces.
  std::size_t slow_under_way() const { return of(Kind::kSlow).under_way + of(Kind::kRecovering).under_way; }
  /// Under way for slow namespaces, and overdue ones of others: none of them counts in the window.
  std::size_t apart() const;
  /// These, and what is noted for later of namespaces that are slow or silent.
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
    std::size_t under_way = 0, overdue = 0;
    bool is_slow = false;
    bool is_new = true;      ///< no binding was answered in time yet, or since it fell silent
    bool is_tardy = false;   ///< the engine does not wait for it, and its answers say nothing of the server
    int in_time = 0;         ///< answers in time since the last late one; slow lanes only
    std::size_t late = 0;    ///< late answers since the last in time; slow lanes only
    int unclear = 0;         ///< kUnclearWeight for each failure, less one for each other answer
    std::size_t exempt = 0;  ///< of those that wait, the first: pushed while the engine did not wait for the lane
    Millis late_at;          ///< of the last late one, or when it was found to be slow
    Millis seen_at;          ///< the last answer
    bool is_unused() const { return waiting.empty() && under_way == 0; }
    /// Nothing is known of it but that it does not answer.
    bool is_silent() const { return !is_slow && is_new && overdue > 0; }
    bool is_hindered() const { return is_slow || is_tardy || is_silent(); }
  };
  enum class Kind : std::uint8_t {
    kKnown,   ///< answered in time
    kLate,    ///< the same, but tardily or not all
    kNew,     ///< nothing is known of it
    kSilent,  ///< nothing but that it does not answer: none may go
    kSlow,
    kProbed,      ///< slow, and nothing of it is under way
    kRecovering,  ///< slow, but its last answer was in time
  };
  static constexpr std::size_t kKinds = 7;
  using Lanes = std::map<PooledString, Lane>;
  /// Lanes with something that waits, by the number under way (kProbed: of late answers) and that of the first waiting.
  using Heads = std::set<std::tuple<std::size_t, std::uint64_t, PooledString>>;
  /// Of the lanes of one kind.
  struct OfKind {
    Heads heads;
    std::size_t under_way = 0, overdue = 0;
  };
  static Kind kind_of(const Lane& lane);
  OfKind& of(Kind kind) { return by_kind_[static_cast<std::size_t>(kind)]; }
  const OfKind& of(Kind kind) const { return by_kind_[static_cast<std::size_t>(kind)]; }
  static Heads::value_type head_of(Lanes::const_iterator it) {
    const Lane& lane = it->second;
    const bool is_probed = kind_of(lane) == Kind::kProbed;
    return {is_probed ? lane.late : lane.under_way, lane.waiting.front().number, it->first};
  }
  Lanes::iterator lane_of(const PooledString& ns);
  /// Changes a lane, and with it where it stands in all that counts or lists it.
  template <class Change>
  void change(Lanes::iterator it, Change&& change);
  bool has_new_place() const;
  bool has_probe_place() const;
  bool has_slow_place(std::size_t under_way) const {
    return under_way < kSlowShare && of(Kind::kSlow).under_way < kSlowInAllMax;
  }
  void make_new(Lane& lane) const;
  void note_overdue(const SentBindings::Sent& sent, Millis now);
  void note_silent(Millis now);
  void turn_slow(Lanes::iterator it, Millis now);
  void forget(Millis now);
  void drop_if_unused(Lanes::iterator it);

  Lanes lanes_;
  OfKind by_kind_[kKinds];
  SentBindings sent_;
  std::set<PooledString> slow_;
  std::shared_ptr<Later> later_ = std::make_shared<Later>();
  std::uint64_t last_number_ = 0;
  std::size_t size_ = 0, hindered_ = 0;
  std::size_t fallen_silent_ = 0;  ///< known lanes, since `silent_since_`
  Millis silent_since_;
  Millis forgotten_at_;
};

}  // namespace ashlar::kube
