// quota: what a job's queue admits: whether the members that it needs together may run, and how many of an elastic
// gang's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/plan.h"
#include "state/state.h"

namespace ashlar {

/// Adds; a sum beyond int64 counts as the largest.
void add_saturated(std::int64_t& sum, std::int64_t amount);
void add_saturated(QuotaVector& sum, const QuotaVector& amounts);

/// The usage of the members needed together. Sums beyond int64 count as the largest.
QuotaVector quota_needed(const State& state, JobId job);

/// The same by key (QueueTree::keys), as far as it does not depend on the node.
std::vector<std::int64_t> quota_needed_by_key(const State& state, JobId job);

/// Both, the dimensions first.
std::vector<std::int64_t> quota_counters_needed(const State& state, JobId job);

/// The limit that the members needed together would exceed, on whatever nodes; none if the queue admits them, or others
/// that would be enough.
std::optional<Reason> quota_refusal(const State& state, JobId job);

/// What queues have left, for many questions about one state: each queue is looked at once.
class QuotaLeft {
 public:
  explicit QuotaLeft(const State& state) : state_(state) {}
  /// Whether the queue of the job admits the members needed together: there is no quota_refusal.
  bool admits(JobId job);

 private:
  const QuotaVector& left_of(QueueId queue);

  const State& state_;
  std::vector<QuotaVector> left_;  ///< of those asked about
  std::vector<std::uint32_t> at_;  ///< by queue: its place in that list, from 1; 0 = not asked about
};

/// Adds what the member uses of each key (QueueTree::keys) on these devices of the node.
void add_by_key(const State& state, MemberId member, NodeId node, const DeviceMask& devices,
                std::vector<std::int64_t>& sums);

/// How many of the job's waiting members, in rank order, its queue admits; as many as are needed if it admits others
/// than the first. There must be no quota_refusal.
std::uint32_t members_within_quota(const State& state, JobId job);

/// Whether these members of the job together are more than its queue could ever admit.
bool exceed_quota(const State& state, JobId job, std::span<const MemberId> members);

/// Whether the queue admits one more member with this demand, on whatever node.
bool admits_one(const State& state, QueueId queue, DemandId demand);

/// Leaves those of the waiting members that the queue of the job admits together, the first ones first.
void keep_within_quota(const State& state, JobId job, std::vector<MemberId>& members);

/// How many members with this demand the limits of the queue and of those above it still admit on nodes of that device
/// class; kUnlimited if none binds there.
std::int64_t members_within_class_quota(const State& state, QueueId queue, const Demand& demand,
                                        DeviceClassId device_class);

/// Whether the queue, or one above it, limits anything by the device class of the node or of a device of it.
bool is_class_limited(const State& state, QueueId queue, NodeId node);

/// Whether the verdict waits for quota of one device class.
bool waits_for_class_quota(const Verdict& verdict);

/// The reason kQuotaExhausted with the usage and the limit of now.
Reason with_usage_of_now(const State& state, Reason reason);

/// The queue whose quota the verdict waits for; none if it waits for something else, or for quota of one device class:
/// capacity of another class would do as well.
QueueId limiting_queue(const Verdict& verdict);

}  // namespace ashlar
