// policy: the shape of a policy: a kernel over columns, called once per decision for a range of rows. Feasible policies only remove, score policies
// only add points inside their tier, device policies pick devices on a chosen node, order policies give sort keys. A kernel reads only the view that
// it is given, does not allocate, and has no branch per node where that can be avoided.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bitset.h"
#include "base/id.h"
#include "base/rng.h"
#include "model/plan.h"
#include "state/state.h"

namespace ashlar {

struct FgdMix;

/// Rows [first, first + count) of the node columns. Output spans are indexed from 0 = first.
struct NodeRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// What a kernel may see: the cluster, one member's demand and constraint, and the profile's parameters.
struct NodeView {
  const Cluster& cluster;
  const Demand& demand;
  const Constraint& constraint;
  const FgdMix* mix = nullptr;  ///< target workload of FGD, if the profile has one
  std::uint64_t draw = 0;       ///< a fresh random number per decision, for policies that draw
};

inline constexpr std::uint16_t kFitsMax = 1024;  ///< members of one demand on one node; more are not counted

/// Lowers fits[i] to the number of such members that the node could take by this rule alone.
using FeasibleKernel = void (*)(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);
/// A node rule. One of `holds` and `lower` is set.
struct FeasiblePolicy {
  std::string_view name;
  ReasonCode reason;               ///< the reason a node is counted under when this is the first rule to refuse it
  NodeRule holds = nullptr;        ///< by facts of the node alone; the state keeps the result per constraint (Cluster::allowed)
  FeasibleKernel lower = nullptr;  ///< by what is free
  bool is_lasting = false;         ///< of those by facts: permanent properties of the node, not its present condition (cordoned, tainted)

  bool is_by_facts() const { return holds != nullptr; }
};
/// All rules by facts. The state's feasibility sets use this one.
bool is_allowed_by_facts(const Constraint& constraint, const NodeFacts& facts);
/// The lasting ones among them: whether the node could ever be allowed, given its labels and devices.
bool is_meant_for(const Constraint& constraint, const NodeFacts& facts);

using Points = std::int32_t;
inline constexpr Points kPointsMax = 1000;  ///< a policy adds 0..kPointsMax (domain policies 0..kDomainPointsMax)
inline constexpr Points kDomainPointsMax = 65535;

/// Adds points to each row; higher is better. Called with rows that may be infeasible: the points of those are ignored.
using ScoreKernel = void (*)(const NodeView& view, NodeRange rows, std::span<Points> points);
/// Points for every topology group (domain of the innermost nested level).
using DomainKernel = void (*)(const NodeView& view, std::span<Points> points);
struct ScorePolicy {
  std::string_view name;
  ScoreKernel add = nullptr;          ///< one of add and add_domain is set
  DomainKernel add_domain = nullptr;  ///< such a policy is alone in its tier
  bool is_drawn = false;              ///< depends on NodeView::draw: never kept between decisions
};

/// Chooses the devices on a node that fits.
using DeviceKernel = DeviceMask (*)(const NodeView& view, NodeId node);
struct DevicePolicy {
  std::string_view name;
  DeviceKernel choose;
};

/// Sort key of a job; smaller goes first, equal keys go by turn.
struct OrderKey {
  std::int64_t major = 0;
  std::int64_t minor = 0;
  bool operator==(const OrderKey&) const = default;
  /// Written by hand: sets of thousands are walked with it, and the compiler does not inline the default one.
  std::strong_ordering operator<=>(const OrderKey& o) const { return major != o.major ? major <=> o.major : minor <=> o.minor; }
};
struct OrderPolicy {
  std::string_view name;
  OrderKey (*waiting)(const State& state, JobId job);              ///< fixed while the job waits
  OrderKey (*running)(const State& state, JobId job, Millis now);  ///< may change with time; null if running jobs are never reordered
  /// If the order of waiting jobs that all arrived at `now` differs from `waiting` (QSSF), their key; else null.
  OrderKey (*newcomers)(const State& state, JobId job);
  /// First time after `now` at which a running job's key changes, without an event, in a way that could change which jobs may run; null = never.
  Millis (*changes_at)(const State& state, JobId job, Millis now);
};

// Tables: one row per policy, in the order of the docs. Lookup returns nullptr for an unknown name.
std::span<const FeasiblePolicy> feasible_policies();
std::span<const ScorePolicy> score_policies();
std::span<const DevicePolicy> device_policies();
std::span<const OrderPolicy> order_policies();
const FeasiblePolicy* find_feasible(std::string_view name);
const ScorePolicy* find_score(std::string_view name);
const DevicePolicy* find_device(std::string_view name);
const OrderPolicy* find_order(std::string_view name);

}  // namespace ashlar
