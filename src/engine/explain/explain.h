// explain: why a job waits: every node is counted under the first rule that refuses it, the gang's best domain is named
// with its capacity, quota with its limit; and whether the job could ever run on this cluster. Cost: O(nodes x rules),
// computed once per class and decision, not per job.
#pragma once

#include <span>
#include <vector>

#include "engine/place/tables/fit_table.h"
#include "model/plan.h"
#include "policy/profile.h"
#include "state/state.h"

namespace ashlar {

class Engine;

/// The verdict for a job that was tried and not placed: kWaits or kNeverFits, the binding reason first.
Verdict explain_shortage(State& state, FitTables& fit_tables, const Profile& profile, JobId job, Millis now);

/// A change that would let the job start now, shown by trying it with all of the job's groups.
struct Remedy {
  enum class Kind : std::uint8_t {
    kDropWithin,
    kWidenWithin,
    kFewerMembers,
    kFewerDevices,
    kMoreQuota,
    kFreeDevices,
    kMoreNodes,
    kDropGroupWithin
  };
  Kind kind = Kind::kMoreNodes;
  /// total members, most devices of a member, devices, nodes, or the number of a group from 1 (0: each), by kind
  std::int64_t amount = 0;
  LevelId level;  ///< kWidenWithin: the level that would suffice; else the one the job, or group, must stay within
  NodeId node;    ///< kMoreNodes: empty nodes like this one
  LabelKeyId new_domain =
      {};  ///< kMoreNodes: the label of which each has a value of its own; none: they are as that one
  struct Limit {
    QueueId queue;
    QuotaKey of = {};
    std::int64_t lacking = 0;
    bool is_of_borrowing = false;  ///< what the queue may borrow is the limit, not its quota
    friend bool operator==(const Limit&, const Limit&) = default;
  };
  std::vector<Limit> limits;  ///< kMoreQuota: all of them must be raised
  /// What one group of the gang needs of the change.
  struct OfGroup {
    std::uint32_t group = 0;  ///< its number, from 0
    std::int64_t amount = 0;  ///< its members in total, devices, or nodes, by kind
    LevelId level;            ///< that it must stay within: its own, else the gang's
    NodeId node;              ///< kMoreNodes: empty nodes like this one
    friend bool operator==(const OfGroup&, const OfGroup&) = default;
  };
  /// kFewerMembers, kFreeDevices, kMoreNodes for a gang of groups: those that need something, ascending. Empty also
  /// where too many do: then `level` is the finest that any of them must stay within.
  std::vector<OfGroup> of_groups;
};

/// Placements tried for one answer: enough for each binary search, some 100 ms on 5,000 nodes. A gang of thousands may
/// need more, and one of many kinds on many nodes has fewer; then the last search ends early, and its remedy is missing
/// or is sufficient but not the smallest.
inline constexpr int kRemedyTriesMax = 96;

struct RemedyOptions {
  ResourceId counts_devices;               ///< the resource, if any, that a pod requests in the same amount as devices
  std::span<const LabelKeyId> node_names;  ///< labels that name a single node: a new one has other values
  int* tries = nullptr;                    ///< if given, set to the number of placements tried
};

/// The smallest changes of each kind; empty if none of those tried helps, and for a job that waits for its turn rather
/// than for capacity or quota. Jobs ahead of it may take the same capacity first. Cost: a copy of the state and up to
/// kRemedyTriesMax placements, so for readers only.
std::vector<Remedy> find_remedies(const State& state, const Engine& engine, JobId job,
                                  const RemedyOptions& options = {});

}  // namespace ashlar
