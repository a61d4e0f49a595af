#include "engine/pending/quota_news.h"

#include <algorithm>

#include "engine/quota.h"

namespace ashlar {

bool is_refused_as_before(const State& state, const PendingQueue::Class& job_class) {
  const EquivalenceClass& key = job_class.key;
  if (job_class.verdict.reasons.empty() || !key.runs.empty() || !key.only.is_none()) return false;
  const Reason& reason = job_class.verdict.reasons.front();
  const auto dimension = static_cast<std::uint64_t>(reason.numbers[0]);
  if (reason.code != ReasonCode::kQuotaExhausted || dimension >= kQuotaDimensions) return false;
  const QueueId queue(reason.subject);
  if (!state.queues().is_within(key.queue, queue)) return false;  // it has moved since
  if (state.queues().shares().keeps_any() || !state.queues().held_above(key.queue).is_none()) return false;
  std::int64_t amount = std::min(key.members_needed, key.members_waiting);
  if (__builtin_mul_overflow(amount, state.quota_of_demand(key.demand)[dimension], &amount)) return false;
  const std::int64_t limit = state.queues().quota(queue)[dimension];
  return limit != kUnlimited && amount <= limit && amount > limit - state.queues().used(queue)[dimension];
}

bool is_quota_news_for(const State& state, const PendingQueue::Class& job_class) {
  const std::optional<Reason> refusal = quota_refusal(state, job_class.jobs.begin()->job);
  const std::vector<Reason>& reasons = job_class.verdict.reasons;
  return !refusal || (!reasons.empty() && reasons.front().code != refusal->code) ||
         (refusal->code == ReasonCode::kExceedsQuota) != (job_class.verdict.kind == VerdictKind::kNeverFits);
}

bool exceeds_quota(const State& state, const PendingQueue::Class& job_class) {
  const std::optional<Reason> refusal = quota_refusal(state, job_class.jobs.begin()->job);
  return refusal && refusal->code == ReasonCode::kExceedsQuota;
}

}  // namespace ashlar
