#include "engine/quota.h"

namespace ashlar {
namespace {

void add(QuotaVector& sum, const QuotaVector& one) {
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    if (__builtin_add_overflow(sum[d], one[d], &sum[d])) sum[d] = INT64_MAX;
}

}  // namespace

QuotaVector quota_needed(const State& state, JobId job) {
  QuotaVector sum{};
  const Job& j = state.job(job);
  std::uint32_t counted = 0;
  const std::uint32_t needed = j.members_needed();
  for (MemberId m = j.first; !m.is_none() && counted < needed; m = state.member(m).next) {
    if (state.member(m).is_placed()) continue;
    ++counted;
    add(sum, state.quota_of_demand(state.member(m).demand));
  }
  return sum;
}

std::optional<Reason> quota_refusal(const State& state, JobId job) {
  const QueueId queue = state.job(job).queue;
  return state.queues().is_limited(queue) ? state.queues().refusal(queue, quota_needed(state, job)) : std::nullopt;
}

std::uint32_t members_within_quota(const State& state, JobId job) {
  const Job& j = state.job(job);
  const std::uint32_t waiting = j.members_present - j.members_placed;
  // nothing elastic: quota_refusal has looked at all
  if (waiting == 1 || j.members_min >= j.members_present) return waiting;
  if (!state.queues().is_limited(j.queue)) return waiting;
  QuotaVector sum{};
  std::uint32_t within = 0;
  for (MemberId m = j.first; !m.is_none(); m = state.member(m).next) {
    if (state.member(m).is_placed()) continue;
    add(sum, state.quota_of_demand(state.member(m).demand));
    if (state.queues().refusal(j.queue, sum)) break;
    ++within;
  }
  return within;
}

QueueId limiting_queue(const Verdict& verdict) {
  if (verdict.wake_on != WakeOn::kQuota || verdict.reasons.empty()) return QueueId::none();
  return QueueId(verdict.reasons.front().subject);
}

}  // namespace ashlar
