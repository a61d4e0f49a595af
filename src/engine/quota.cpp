#include "engine/quota.h"

#include <algorithm>
#include <utility>

#include "base/grown.h"
#include "engine/place/choice.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

/// The first limit that does not depend on the node and that these amounts, by key, would exceed.
std::optional<Reason> refusal_by_key(const State& state, QueueId queue, const std::vector<std::int64_t>& amounts) {
  std::optional<Reason> first;
  for (std::size_t k = 0; k < amounts.size(); ++k) {
    const std::optional<Reason> refusal = state.queues().refusal(k, queue, amounts[k]);
    if (refusal && (!first || refusal->code == ReasonCode::kExceedsQuota)) first = refusal;
    if (first && first->code == ReasonCode::kExceedsQuota) break;
  }
  return first;
}

/// Keys without a class: what a member uses wherever it is placed.
void add_anywhere(const State& state, MemberId member, std::vector<std::int64_t>& sums) {
  const auto keys = state.queues().keys();
  sums.resize(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k)
    if (keys[k].device_class.is_none())
      add_saturated(sums[k], amount_of(state.demand(state.member(member).demand), keys[k]));
}

}  // namespace

void add_saturated(std::int64_t& sum, std::int64_t amount) {
  if (__builtin_add_overflow(sum, amount, &sum)) sum = INT64_MAX;
}

void add_saturated(QuotaVector& sum, const QuotaVector& amounts) {
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) add_saturated(sum[d], amounts[d]);
}

void add_by_key(const State& state, MemberId member, NodeId node, const DeviceMask& devices,
                std::vector<std::int64_t>& sums) {
  const auto keys = state.queues().keys();
  sums.resize(keys.size());
  const Demand& demand = state.demand(state.member(member).demand);
  for (std::size_t k = 0; k < keys.size(); ++k)
    add_saturated(sums[k], counted_for(state.cluster(), node, demand, devices, keys[k]));
}

QuotaVector quota_needed(const State& state, JobId job) {
  QuotaVector sum{};
  state.each_needed(job, [&](MemberId, const Member& m) { add_saturated(sum, state.quota_of_demand(m.demand)); });
  return sum;
}

std::vector<std::int64_t> quota_needed_by_key(const State& state, JobId job) {
  std::vector<std::int64_t> by_key;
  state.each_needed(job, [&](MemberId m, const Member&) { add_anywhere(state, m, by_key); });
  return by_key;
}

std::vector<std::int64_t> quota_counters_needed(const State& state, JobId job) {
  const QuotaVector dimensions = quota_needed(state, job);
  std::vector<std::int64_t> counters(dimensions.begin(), dimensions.end());
  const std::vector<std::int64_t> by_key = quota_needed_by_key(state, job);
  counters.insert(counters.end(), by_key.begin(), by_key.end());
  return counters;
}

namespace {

/// What members of one job use together, as far as it does not depend on the node.
struct Usage {
  QuotaVector dimensions{};
  std::vector<std::int64_t> by_key;

  void add(const State& state, MemberId id) {
    add_saturated(dimensions, state.quota_of_demand(state.member(id).demand));
    add_anywhere(state, id, by_key);
  }
  /// The first limit of the queue, or above it, that this would exceed.
  std::optional<Reason> refusal(const State& state, QueueId queue) const {
    const std::optional<Reason> refusal = state.queues().refusal(queue, dimensions);
    if (by_key.empty() || (refusal && refusal->code == ReasonCode::kExceedsQuota)) return refusal;
    const std::optional<Reason> other = refusal_by_key(state, queue, by_key);
    return refusal && !(other && other->code == ReasonCode::kExceedsQuota) ? refusal : other;
  }
};

/// Whether the queue admits enough members if those come first that request the fewest devices.
bool admits_the_smallest(const State& state, JobId job, const Minimum& minimum) {
  std::vector<MemberId> members(minimum.waiting().begin(), minimum.waiting().end());
  sort_smallest_first(state, members);
  keep_within_quota(state, job, members);
  std::ranges::sort(members);
  return minimum.first_among(members).has_value();
}

/// Of a job with a choice of which the first members are refused: none if others are admitted that are enough; what
/// waits goes before what could never be admitted, which nobody knows unless all choices were looked at.
std::optional<Reason> refusal_of_others(const State& state, JobId job, Reason first) {
  const Minimum minimum(state, job);
  if (admits_the_smallest(state, job, minimum)) return std::nullopt;
  const Choices choices = minimum.choices(state, minimum.waiting());
  for (const std::vector<MemberId>& members : choices.all) {
    Usage usage;
    for (const MemberId id : members) usage.add(state, id);
    const std::optional<Reason> refusal = usage.refusal(state, state.job(job).queue);
    if (!refusal) return std::nullopt;
    const bool waits = refusal->code != ReasonCode::kExceedsQuota;
    const bool asks_less = refusal->subject == first.subject && refusal->numbers[0] == first.numbers[0] &&
                           refusal->numbers[1] < first.numbers[1];
    if (first.code == ReasonCode::kExceedsQuota && (waits || asks_less)) first = *refusal;
  }
  if (first.code != ReasonCode::kExceedsQuota || choices.are_complete) return first;
  return with_usage_of_now(state,
                           Reason{ReasonCode::kQuotaExhausted, first.subject, {first.numbers[0], 0, first.numbers[2]}});
}

}  // namespace

std::optional<Reason> quota_refusal(const State& state, JobId job) {
  const QueueId queue = state.job(job).queue;
  if (const QueueId held = state.queues().held_above(queue); !held.is_none())
    return Reason{ReasonCode::kQueueHeld, held.value, {}};
  if (state.job(job).is_refused)
    return Reason{ReasonCode::kQueueDraining, state.queues().refusing_above(queue, state.job(job).submitted).value, {}};
  if (!state.queues().is_limited(queue)) return std::nullopt;
  Usage needed;
  state.each_needed(job, [&](MemberId id, const Member&) { needed.add(state, id); });
  const std::optional<Reason> refusal = needed.refusal(state, queue);
  return refusal && has_choice(state, job) ? refusal_of_others(state, job, *refusal) : refusal;
}

bool QuotaLeft::admits(JobId job) {
  if (!state_.queues().keys().empty()) return !quota_refusal(state_, job);
  const QueueId queue = state_.job(job).queue;
  if (state_.job(job).is_refused || !state_.queues().held_above(queue).is_none()) return false;
  const QuotaVector& left = left_of(queue);
  const QuotaVector needed = quota_needed(state_, job);
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    if (needed[d] != 0 && needed[d] > left[d]) return has_choice(state_, job) && !quota_refusal(state_, job);
  return true;
}

/// The least that it and those above it have left of a limit.
const QuotaVector& QuotaLeft::left_of(QueueId queue) {
  std::uint32_t& at = grown(at_, queue.row());
  if (at != 0) return left_[at - 1];
  QuotaVector least{};
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) least[d] = state_.queues().left(d, queue);
  left_.push_back(least);
  at = static_cast<std::uint32_t>(left_.size());
  return left_.back();
}

namespace {

/// Adds the member if the queue admits it with the others.
bool add_admitted(const State& state, QueueId queue, Usage& usage, MemberId id) {
  Usage more = usage;
  more.add(state, id);
  if (more.refusal(state, queue)) return false;
  usage = std::move(more);
  return true;
}

}  // namespace

std::uint32_t members_within_quota(const State& state, JobId job) {
  const Job& j = state.job(job);
  const std::uint32_t waiting = j.members_present - j.members_placed;
  // nothing elastic: quota_refusal has looked at all
  if (waiting == 1 || j.members_min >= j.members_present) return waiting;
  if (!state.queues().is_limited(j.queue)) return waiting;
  Usage usage;
  std::uint32_t within = 0;
  state.each_waiting(job, [&](MemberId id, const Member&) {
    usage.add(state, id);
    if (usage.refusal(state, j.queue)) return false;
    ++within;
    return true;
  });
  return within < j.members_needed() && has_choice(state, job) ? j.members_needed() : within;
}

bool exceed_quota(const State& state, JobId job, std::span<const MemberId> members) {
  Usage usage;
  for (const MemberId id : members) usage.add(state, id);
  const std::optional<Reason> refusal = usage.refusal(state, state.job(job).queue);
  return refusal && refusal->code == ReasonCode::kExceedsQuota;
}

bool admits_one(const State& state, QueueId queue, DemandId demand) {
  const auto keys = state.queues().keys();
  if (state.queues().refusal(queue, state.quota_of_demand(demand))) return false;
  for (std::size_t k = 0; k < keys.size(); ++k)
    if (keys[k].device_class.is_none() && state.queues().refusal(k, queue, amount_of(state.demand(demand), keys[k])))
      return false;
  return true;
}

void keep_within_quota(const State& state, JobId job, std::vector<MemberId>& members) {
  const QueueId queue = state.job(job).queue;
  if (!state.queues().is_limited(queue)) return;
  Usage usage;
  std::erase_if(members, [&](MemberId id) { return !add_admitted(state, queue, usage, id); });
}

std::int64_t members_within_class_quota(const State& state, QueueId queue, const Demand& demand,
                                        DeviceClassId device_class) {
  const QueueTree& queues = state.queues();
  std::int64_t members = kUnlimited;
  if (device_class.is_none()) return members;
  for (std::size_t k = 0; k < queues.keys().size(); ++k) {
    if (queues.keys()[k].device_class != device_class) continue;
    const std::int64_t each = amount_of(demand, queues.keys()[k]);
    if (each <= 0) continue;
    if (const std::int64_t left = queues.left_by_key(k, queue); left != kUnlimited)
      members = std::min(members, std::max<std::int64_t>(left, 0) / each);
  }
  return members;
}

bool is_class_limited(const State& state, QueueId queue, NodeId node) {
  const QueueTree& queues = state.queues();
  for (std::size_t k = 0; k < queues.keys().size(); ++k)
    if (!queues.keys()[k].device_class.is_none() && state.cluster().has_class(node, queues.keys()[k].device_class))
      for (QueueId q = queue; !q.is_none() && q.row() < queues.rows(); q = queues.parent(q))
        if (queues.limit(k, q) != kUnlimited) return true;
  return false;
}

bool waits_for_class_quota(const Verdict& verdict) {
  return verdict.wake_on == WakeOn::kQuota && !verdict.reasons.empty() &&
         !quota_key(verdict.reasons.front().numbers[0]).device_class.is_none();
}

Reason with_usage_of_now(const State& state, Reason reason) {
  const QueueTree& queues = state.queues();
  const auto key = std::find(queues.keys().begin(), queues.keys().end(), quota_key(reason.numbers[0]));
  if (key == queues.keys().end()) return reason;
  const auto k = static_cast<std::size_t>(key - queues.keys().begin());
  const QueueId queue(reason.subject);
  const bool is_kept = reason.code == ReasonCode::kKeptByGuarantees;
  reason.numbers[1] = is_kept ? queues.counted_by_key(k, queue) - queues.used(k, queue) : queues.used(k, queue);
  reason.numbers[2] = queues.limit(k, QueueId(reason.subject));
  return reason;
}

QueueId limiting_queue(const Verdict& verdict) {
  if (verdict.wake_on != WakeOn::kQuota || verdict.reasons.empty() || waits_for_class_quota(verdict))
    return QueueId::none();
  return QueueId(verdict.reasons.front().subject);
}

}  // namespace ashlar
