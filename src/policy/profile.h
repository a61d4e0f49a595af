// Profile: which policies decide, in which order. Data, never an if: a profile that reproduces a paper names the
// paper's rules as policies. Built-in profiles are a table; others come from YAML (src/config) by the same names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "policy/device_policy.h"
#include "policy/feasible_policy.h"
#include "policy/order_policy.h"
#include "policy/queue_order_policy.h"
#include "policy/score/fgd/mix.h"
#include "policy/score_policy.h"

namespace ashlar {

/// What happens behind a job that cannot start.
enum class Blocking : std::uint8_t {
  kStrict,  ///< no job of the same queue passes it
  kSkip,    ///< any job that fits may start
  /// a job may start that ends before the reserved time, or leaves what is needed then (EASY backfill on named nodes)
  kEasy,
  kEasyByCount,  ///< the same by the number of devices of the whole cluster, as published
};
/// Their names in YAML and .case files, by value.
inline constexpr std::string_view kBlockingNames[] = {"strict", "skip", "easy", "easy-by-count"};
/// How devices are found for a gang.
enum class PlacementRule : std::uint8_t {
  kScored,       ///< feasible nodes by tiers of points; gangs by best-fit domain
  kConsolidate,  ///< whole nodes and best fit by idle devices, first fit in node order for the rest (Helios' rule)
};
inline constexpr std::size_t kPlacementRules = 2;
/// Whether running jobs may be stopped for waiting ones.
enum class VictimRule : std::uint8_t {
  kNone,
  /// order decides which jobs may run by device count alone, before any placement is known (SRTF, Tiresias as
  /// published)
  kByQuotaUnverified,
  /// jobs that borrow what is guaranteed to the waiting one's queue, then those of its queue with lower priority, for a
  /// place that is known
  kPriority,
  /// the same, but of each those whose stop loses least (Job::lost_if_stopped)
  kLostWork,
  kKai,    ///< as KAI-Scheduler does, with its order of queues alone
  kKueue,  ///< as Kueue does, with its orders of queues alone
};
inline constexpr std::size_t kVictimRules = 6;

/// What a replay of a published trace does besides the decisions, as the simulator of the profile's paper did (ashlar
/// sim queue); ignored elsewhere.
struct ReplayRules {
  bool ranks_by_estimate = false;  ///< Workload::order_hint is the trace's estimate of the run time, else the true one
  Millis end_lag{0};               ///< delay from a job's last second until its end is seen
};

struct Profile {
  static constexpr std::size_t kTiersMax = 4;    ///< 16 bits of the 64-bit key each
  static constexpr Millis kGraceMax{3'600'000};  ///< what takes its place waits for so long
  static constexpr Millis kAgeingMax{std::int64_t{366} * 24 * 3'600'000};
  static constexpr Millis kHalfLifeMax{std::int64_t{366} * 24 * 3'600'000};

  std::string name;
  std::vector<const FeasiblePolicy*> feasible;
  std::vector<std::vector<const ScorePolicy*>> tiers;  ///< compared in order; points add up inside a tier
  const DevicePolicy* device = nullptr;
  const OrderPolicy* order = nullptr;
  const QueueOrderPolicy* queue_order = &default_queue_order();  ///< between queues; `order` inside each
  Blocking blocking = Blocking::kSkip;
  PlacementRule placement = PlacementRule::kScored;
  VictimRule victim = VictimRule::kNone;
  Millis grace{0};                       ///< for which the pods of a stopped job run on and keep their devices
  Millis half_life{86'400'000};          ///< of what queues have used; 0: only what they use now counts
  Millis ageing{600'000};                ///< after it a waiting job holds nodes without a known time; 0: never
  Millis cadence{0};                     ///< decide only at multiples of this (0 = whenever there are events)
  FgdMix mix;                            ///< expected pods of FGD; empty if not used
  std::uint64_t seed = 1;                ///< of every random choice
  bool is_default_domain_search = true;  ///< gangs without topology requirements still prefer few innermost domains
  ReplayRules replay;

  /// Lowers fits[i] by all rules except those by facts, which Cluster::allowed keeps.
  void lower_by_what_is_free(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) const;
  /// Whether one of its policies scores by expected pods (`mix`).
  bool needs_mix() const;
  /// Whether running jobs give way to a waiting one once its place is known.
  bool stops_for_a_place() const { return victim == VictimRule::kPriority || stops_by_lost_work(); }
  /// Whether those give way first whose stop loses least.
  bool stops_by_lost_work() const { return victim == VictimRule::kLostWork; }
  /// Whether a peer's turns, which the order of queues names, stop jobs.
  bool stops_in_turns() const { return victim == VictimRule::kKai || victim == VictimRule::kKueue; }
  /// Whether the live scheduler may use it: not if it stops jobs before a place is known.
  bool is_allowed_live() const { return victim == VictimRule::kNone || stops_for_a_place() || stops_in_turns(); }
};

/// Adds the missing rules, facts of the node first: every profile has them all, since a pod placed against one would be
/// refused by its node or take another pod's resources. Rules already in the list keep their order.
void add_mandatory_rules(std::vector<const FeasiblePolicy*>& feasible);
/// Has its tier to itself: its points cannot be added to those of others.
bool is_exclusive(const ScorePolicy& policy);
/// The message where such a policy shares its tier.
std::string must_be_alone(const ScorePolicy& policy);

/// What is missing in a profile or contradicts itself, and the key of the profile file concerned.
struct ProfileProblem {
  std::string_view key;
  std::string text;
};
/// None if the profile can decide.
std::optional<ProfileProblem> validate(const Profile& profile);

/// Names of the built-in profiles, `ashlar` first.
std::span<const std::string_view> builtin_profile_names();  // for tests
/// A built-in profile, or an Error naming the nearest known name.
Result<Profile> builtin_profile(std::string_view name);

}  // namespace ashlar
