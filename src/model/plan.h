// Plan: what the engine decided in one step and why. Values only; the actuator carries it out, the recorder keeps it, every reader shows the same reasons.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"
#include "model/demand.h"

namespace ashlar {

using Revision = std::uint64_t;  ///< number of events applied so far

/// Why something waits or was refused. Names are stable: they appear in status, metrics and logs.
enum class ReasonCode : std::uint8_t {
  kNone,
  kInsufficientResource,  ///< subject = ResourceId; numbers: nodes short, best free, needed
  kInsufficientGpu,     ///< subject = DemandId; numbers: nodes short, best free milli-GPU on one node (for a share: on one device), needed milli-GPU
  kModelMismatch,       ///< numbers: nodes of another accelerator model
  kSelectorMismatch,    ///< subject = ConstraintId; numbers: nodes whose labels do not match
  kTaintNotTolerated,   ///< subject = ConstraintId; numbers: nodes
  kNotReady,            ///< numbers: nodes
  kPortTaken,           ///< numbers: nodes
  kNominatedElsewhere,  ///< numbers: nodes held for other schedulers' nominated pods
  kTopologyFragmented,  ///< subject = LevelId; numbers: members that fit in the best domain, members needed, domain
  kGangPartial,         ///< numbers: members that fit anywhere, members needed
  kNoSuchDomain,        ///< subject = LevelId: no node carries the level's label
  kExceedsCluster,      ///< would not fit an empty cluster; numbers as of the binding shortage
  kQuotaExhausted,      ///< subject = QueueId; numbers: dimension, used, limit
  kExceedsQuota,        ///< asks more than the queue's whole quota; subject = QueueId; numbers: dimension, asked, limit
  kQueueUnknown,        ///< subject = QueueId
  kBehindHead,          ///< numbers: 1 = the head of the queue blocks
  kReservationHeld,     ///< would delay the head's reservation; numbers: its time
  kMembersMissing,      ///< numbers: members present, members needed
  kNoNodes,             ///< the cluster has no nodes
  kLimitReached,        ///< a work budget ran out before the search ended; subject = kLimitOf..., numbers: budget
  kInsufficientGpuMemory,  ///< devices enough, but not with so much memory; numbers: nodes short, best free MiB on one device, needed MiB
};
std::string_view reason_name(ReasonCode code);

/// What kLimitReached is about: the search for a place, or for a proof that the job could or could not run on the empty cluster.
inline constexpr std::uint32_t kLimitOfSearch = 0, kLimitOfProof = 1;

/// One reason with its numbers; the meaning of `subject` and `numbers` is given by the code.
struct Reason {
  ReasonCode code = ReasonCode::kNone;
  std::uint32_t subject = 0;
  std::array<std::int64_t, 3> numbers{};
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// What a waiting job needs to happen before it is worth another look.
enum class WakeOn : std::uint8_t { kNothing, kCapacity, kQuota, kMembers, kHeadOfQueue, kTime, kConfiguration };
std::string_view wake_name(WakeOn wake);

/// The outcome for one job. Not an error.
enum class VerdictKind : std::uint8_t { kPending, kPlaced, kWaits, kNeverFits, kOverQuota, kReserved, kDeferred };
std::string_view verdict_name(VerdictKind kind);

struct Verdict {
  VerdictKind kind = VerdictKind::kPending;
  WakeOn wake_on = WakeOn::kNothing;
  Millis at;                    ///< when it was reached
  Millis until;                 ///< kReserved, kDeferred: from when it may run
  std::vector<Reason> reasons;  ///< the binding one first
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct Bind {
  MemberId member;
  JobId job;
  NodeId node;
  DeviceMask devices;
};
struct Evict {
  JobId job;
  Millis grace;
};
struct Reserve {
  JobId job;
  Millis from;
  Millis until;
};
using Action = std::variant<Bind, Evict, Reserve>;

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

/// A fingerprint of a plan: equal plans have equal digests on every machine.
std::uint64_t digest_of(const Plan& plan);

}  // namespace ashlar
