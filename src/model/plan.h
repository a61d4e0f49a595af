// Plan: what the engine decided in one step and why. Values only; the actuator carries it out, the recorder keeps it,
// every reader shows the same reasons.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"
#include "model/demand.h"
#include "model/device_grant.h"
#include "model/reason.h"

namespace ashlar {

using Revision = std::uint64_t;  ///< number of events applied so far

/// What must happen before a waiting job is worth another look.
enum class WakeOn : std::uint8_t { kNothing, kCapacity, kQuota, kMembers, kHeadOfQueue, kTime, kConfiguration };

/// The outcome for one job. Not an error.
enum class VerdictKind : std::uint8_t { kPending, kPlaced, kWaits, kNeverFits, kOverQuota };
std::string_view verdict_name(VerdictKind kind);

struct Verdict;
/// Of the event after which the job is evaluated again. A job that can never fit is not helped by another job's end: it
/// needs a node or a higher quota.
std::string_view wake_name(const Verdict& verdict);

struct Verdict {
  VerdictKind kind = VerdictKind::kPending;
  WakeOn wake_on = WakeOn::kNothing;
  Millis at;                    ///< when it was reached
  std::vector<Reason> reasons;  ///< the binding one first
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct Bind {
  MemberId member;
  JobId job;
  NodeId node;
  DeviceMask devices;
  DeviceShare each = {};  ///< what it holds of each of these devices
};
/// By which rule a job was stopped, for another one or with its queue.
enum class StopReason : std::uint8_t {
  kNone,
  kLowerPriority,
  kNewer,
  kReclaimed,
  kWhileBorrowing,
  kLonger,
  kQueueStopped,
  kMoved,
  kFairShare
};
std::string_view stop_reason_name(StopReason reason);
/// "its priority is lower": why it was the one to be stopped; empty for none.
std::string_view stop_reason_words(StopReason reason);

struct Evict {
  JobId job;
  Millis grace;  ///< for which its pods run on and keep their devices; binds for `for_job` wait until they are gone
  MemberId member = {};  ///< none: all placed members of the job
  JobId for_job = {};    ///< which gets the place; none: no one job
  StopReason reason = StopReason::kNone;
};
using Action = std::variant<Bind, Evict>;

/// A verdict that is new or has changed in this step.
struct VerdictChange {
  JobId job;
  Verdict verdict;
};

struct Plan {
  Revision based_on = 0;
  Millis at;
  Millis look_again_at = Millis::max();  ///< decide again then, even if nothing happens
  std::vector<Action> actions;           ///< in the order in which they must be carried out
  std::vector<VerdictChange> verdicts;
  std::uint32_t examined = 0;  ///< jobs looked at, for metrics
};

/// A fingerprint of a plan: equal plans have equal digests on every machine. Without what follows from the rest:
/// Bind::each as long as no policy chooses it, and Evict::reason; replays compare plans by their bytes.
std::uint64_t digest_of(const Plan& plan);  // for tests

}  // namespace ashlar
