// CommitTable: what follows when a step of a pod's commit has an outcome, as one table of all pairs. Pure functions.
//
//   reserve -> write (each) -> wait -> bind -> confirm;    given up: undo (each write that was sent)
//
//   const CommitRule& rule = rule_of(CommitOutcome::kThrottled, CommitStep::kBind);   // resend, for at most 30 s
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/quantity.h"
#include "kubeclient/bind_outcome.h"

namespace ashlar::kube {

enum class CommitStep : std::uint8_t {
  kReserve,  ///< the pod has a place; nothing was sent
  kWrite,    ///< a write before the binding
  kWait,     ///< for what its CommitWork waits for
  kBind,
  kConfirm,  ///< the binding was answered with success; the watch has not reported it yet
  kUndo,     ///< a write is taken back; the place is free already
};
inline constexpr std::size_t kCommitSteps = static_cast<std::size_t>(CommitStep::kUndo) + 1;  // for tests

enum class CommitOutcome : std::uint8_t {
  // answers to the step's write, see BindOutcome
  kDone,
  kRefused,
  kConflict,
  kMissing,
  kThrottled,
  kFailed,
  kUnknown,
  // what a re-read finds
  kFoundDone,
  kFoundUndone,
  kFoundOther,  ///< as another writer wants it: being deleted, gated, bound elsewhere, another pod's volume
  kFoundGone,   ///< it, or the one of that uid, does not exist
  kUnreadable,  ///< the answer says nothing about the object
  // what happens meanwhile
  kHolds,      ///< what it waits for is there
  kBroken,     ///< and cannot come any more, or could not from the start
  kTimeOut,    ///< the step took too long
  kOutdated,   ///< that by which the place was chosen has changed
  kPlaceLost,  ///< the place, or the pod, is gone
  kBusy,       ///< what was written for an earlier place of the pod is still being taken back
};
inline constexpr std::size_t kCommitOutcomes = static_cast<std::size_t>(CommitOutcome::kBusy) + 1;  // for tests

enum class CommitMove : std::uint8_t {
  kUnstated,    ///< no entry: does not compile
  kImpossible,  ///< the step has no such outcome
  kAdvance,     ///< the next write or step
  kResend,      ///< the same again later; the place is kept
  kReread,      ///< the server's object counts; until it is known nothing is free, but see place_kept_max
  kGiveUp,      ///< the place is free at once; the pod, or the unbound part of its gang, waits with a reason; then undo
  kChooseAnew,  ///< the engine chooses again at once; undo
  kTakeBack,    ///< as kGiveUp, of a binding that was answered with success
  kAdopt,       ///< the pod as it was read replaces what is known of it
  kForget,      ///< the pod is gone; undo
  kRelease,     ///< the place is free already; undo
  kEnd,
};

struct CommitRule {
  CommitMove move = CommitMove::kUnstated;
  /// kResend: this many in a row, counting this one, are kGiveUp; in kUndo, kReread too: kEnd; 0: no limit
  int times_max = 0;
  /// kResend, kReread: this long after the step's first request the outcome is kTimeOut; 0: no limit of its own
  Millis place_kept_max;
};

const CommitRule& rule_of(CommitOutcome outcome, CommitStep step);
CommitOutcome outcome_of(BindOutcome answer);

std::string_view name_of(CommitStep step);        // for tests
std::string_view name_of(CommitOutcome outcome);  // for tests

}  // namespace ashlar::kube
