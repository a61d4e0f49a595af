// CommitWork: what is written for a pod between the decision and its binding (claims and volumes, for example), what
// the binding then waits for, and how that is taken back. Its provider makes one for each pod that needs it; a pod
// without costs nothing.
//
//   reserve -> write 0 -> write 1 -> ... -> wait -> bind -> confirm
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "live/track/pod_table.h"

namespace ashlar::kube {

/// What an object shows about one of the writes.
enum class WriteFinding : std::uint8_t {
  kDone,        ///< it is as written
  kUndone,      ///< it is not, and may be written (again)
  kOther,       ///< another writer has it, or it is another object of that name: the write is impossible
  kUnreadable,  ///< the text is no such object (a proxy's page): nothing is known
};

enum class WaitState : std::uint8_t {
  kNotYet,
  kHolds,   ///< the binding may be sent
  kBroken,  ///< it cannot come true any more: the pod is given up at once
};

struct CommitWait {
  WaitState state = WaitState::kHolds;
  std::string words;           ///< what is missing or broken, for conditions: "claim ns/data is not bound yet"
  bool has_own_limit = false;  ///< it ends by itself, however long it takes
};

/// A write that is refused, a wait that breaks or takes too long, and a place that is lost end it: the place is free at
/// once, and what was written is taken back, the last first. Nothing is written once the right to write has ended, not
/// even that: the next leader finds the objects as they are. Members of a gang have one each.
///
/// All functions are called on the thread of the leader's loop; they may read the tables but not change them. The
/// object ends when the binding was answered with success or, if it was given up, when its writes are taken back: a
/// reservation that it holds may end then.
class CommitWork {
 public:
  virtual ~CommitWork() = default;

  /// Why it cannot be done, known before anything is written: the pod is given up at once. Empty: it can be tried. Does
  /// not change.
  virtual std::string problem() const { return {}; }
  /// Number of writes, sent one after another; 0: only waits. Does not change.
  virtual std::size_t writes() const = 0;
  /// The object of a write, for logs and conditions: "persistentvolumeclaim ns/data".
  virtual std::string subject(std::size_t write) const = 0;
  /// Its path at the API server: sent as PATCH, read again with GET where an answer leaves its state open.
  virtual std::string path(std::size_t write) const = 0;
  /// The write as a JSON merge patch, made when it is sent. It carries the object's uid and resource version, so that
  /// nothing of others is overwritten. `object`: as it was read again (JSON) after a write that did not succeed; empty
  /// the first time.
  virtual std::string patch(std::size_t write, std::string_view object) const = 0;
  /// `object`: the body of the answer to the write or of a re-read, JSON if a server of Kubernetes sent it.
  virtual WriteFinding look_at(std::size_t write, std::string_view object) const = 0;
  /// Whether writes are taken back when the pod is given up; false: what was written stays, and nothing is read.
  virtual bool is_taken_back() const { return true; }
  /// The patch that takes a write back, made of the object as it is now (JSON; look_at() has found it kDone). Empty:
  /// it is to stay.
  virtual std::string undo_patch(std::size_t write, std::string_view object) const = 0;
  /// Looked at after the last write, once a second from then on, and at Binder::look_again().
  virtual CommitWait wait() const = 0;
  /// The pod will not be bound by this; its writes are taken back from now on.
  virtual void note_given_up() {}
};

/// Of a pod that was just assumed on a node; null: its binding is sent at once. Called once for each binding of a plan,
/// in the order of the plan.
using CommitWorkOf = std::function<std::shared_ptr<CommitWork>(PodSlot)>;

}  // namespace ashlar::kube
