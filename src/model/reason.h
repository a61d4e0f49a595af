// Reason: why a job waits or was refused, as a code with a subject and numbers. The name of each code, the meaning of
// its numbers and its text are in one row of a table, which every printer of reasons reads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace ashlar {

/// Names are stable: they appear in status, metrics and logs. Values too: they appear in the decision log.
enum class ReasonCode : std::uint8_t {
  kNone,
  kInsufficientResource,
  kInsufficientGpu,  ///< for a share: of one device
  kModelMismatch,
  kSelectorMismatch,
  kTaintNotTolerated,
  kNotReady,
  kPortTaken,
  kNominatedElsewhere,
  kTopologyFragmented,
  kGangPartial,
  kNoSuchDomain,
  kExceedsCluster,
  kQuotaExhausted,
  kExceedsQuota,
  kQueueUnknown,
  kBehindHead,
  kReservationHeld,
  kMembersMissing,
  kNoNodes,
  kLimitReached,
  kInsufficientGpuMemory,
  kPodAntiAffinity,
  kCapacityHeld,
  kUnhealthyGpu,
  kGroupFragmented,  ///< the reason after it says how much the best domain of that level has for the group
  kCapabilityMissing,
  kTopologySpread,
  kPodAffinity,
  kOwnAntiAffinity,
  kVolumeNodeAffinity,
  kFeatureMissing,
  kKeptByGuarantees,  ///< as kQuotaExhausted: with what queues below keep of their guarantees
  kQueueHeld,
  kSearchPutOff,
  kQueueDraining,
};
/// Whether it ends when the queue that it names is released.
constexpr bool is_of_gate(ReasonCode code) {
  return code == ReasonCode::kQueueHeld || code == ReasonCode::kQueueDraining;
}
inline constexpr ReasonCode kLastReason = ReasonCode::kQueueDraining;

/// The object of kLimitReached: of the search for a place the kinds of members placed, the steps of exact search or the
/// nodes looked at; or the search for a proof that the job could or could not run on the empty cluster.
inline constexpr std::uint32_t kLimitOfKinds = 0, kLimitOfProof = 1, kLimitOfSteps = 2, kLimitOfLooks = 3;

/// One reason with its numbers; their meaning is in the code's row.
struct Reason {
  ReasonCode code = ReasonCode::kNone;
  std::uint32_t subject = 0;
  std::array<std::int64_t, 3> numbers{};
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// The subject of a reason: the kind of its row number.
enum class ReasonSubject : std::uint8_t {
  kNone,
  kResource,
  kDemand,
  kConstraint,
  kLevel,
  kQueue,
  kBudget,
  kHold,
  kCapability
};

/// The meaning of a number of a reason.
enum class ReasonUnit : std::uint8_t {
  kNone,
  kNodes,
  kMembers,
  kAmount,     ///< of the resource that is the subject
  kMilliGpu,   ///
  kMiB,        ///< of one device's memory
  kDomain,     ///< a row of the level that is the subject
  kDimension,  ///< what a quota counts, see quota_number()
  kQuota,      ///< an amount of what the first number says
  kInstant,    ///< milliseconds
  kOwner,      ///< for whom something is held, see owner_of_number()
  kGroup,      ///< a group of the gang, counted from 1
  kCount,
};

/// One number of a reason. `name` is its name in `.case` files; "%" in it stands for the dimension.
struct ReasonNumber {
  std::string_view name = {};
  ReasonUnit unit = ReasonUnit::kNone;
};

/// The table row of a code.
struct ReasonRow {
  ReasonCode code;
  std::string_view name;
  ReasonSubject subject = ReasonSubject::kNone;
  std::array<ReasonNumber, 3> numbers{};
  /// Whether other or more nodes would help. Autoscalers act on exactly these.
  bool is_about_nodes = false;
  /// A sentence for people. {0} {1} {2} are the numbers with their units, {subject} the subject's name, {detail} what
  /// only the reader's side knows, {0|is|are} a word depending on whether the first number is one.
  std::string_view english = {};
  /// kube-scheduler's text for each node that it counts; empty if it counts none, or has a separate text for each.
  std::string_view per_node = {};
};

/// There is one row for each code.
const ReasonRow& row_of(ReasonCode code);
inline std::string_view reason_name(ReasonCode code) { return row_of(code).name; }

}  // namespace ashlar
