#include "live/write/condition_review.h"

#include "base/digest.h"
#include "base/grown.h"

namespace ashlar::kube {

std::uint64_t ConditionReview::seen_of(const State& state) {
  const std::uint64_t nodes = hash_combine(state.cluster().digest(), state.cluster().facts_change_count());
  return hash_combine(nodes, state.queues().change_count());
}

ClassId ConditionReview::counted_class(const Engine& engine, JobId job) {
  const PendingQueue& pending = engine.pending();
  if (job.is_none() || !pending.contains(job)) return ClassId::none();
  const ClassId id = pending.class_id(job);
  const PendingQueue::Class& job_class = pending.class_at(id);
  const WakeOn wake_on = job_class.verdict.wake_on;
  const bool has_numbers = wake_on == WakeOn::kCapacity || wake_on == WakeOn::kQuota;
  return !job_class.is_active && has_numbers ? id : ClassId::none();
}

bool ConditionReview::is_current(const Engine& engine, ClassId id, std::uint64_t seen) const {
  if (id.row() >= counted_.size()) return false;
  const Counted& counted = counted_[id.row()];
  const PendingQueue::Class& job_class = engine.pending().class_at(id);
  return counted.as_of == seen && counted.kept == job_class.verdict && counted.key == job_class.key;
}

Verdict ConditionReview::verdict_of(const Engine& engine, JobId job) const {
  const ClassId id = counted_class(engine, job);
  if (!id.is_none() && id.row() < counted_.size() && is_current(engine, id, counted_[id.row()].as_of))
    return counted_[id.row()].now;
  return engine.verdict_of(job);
}

Millis ConditionReview::due_in(const State& state, Millis now) const {
  if (unchanged_ == SIZE_MAX && seen_ == seen_of(state)) return Millis::max();
  return std::max(Millis(0), next_ - now);
}

void ConditionReview::step(Engine& engine, State& state, const Tables& tables, Millis now,
                           const std::function<bool(PodSlot)>& tell) {
  if (due_in(state, now) > Millis(0)) return;
  next_ = now + kEvery;
  if (const std::uint64_t seen = seen_of(state); seen != seen_) {
    seen_ = seen;
    unchanged_ = 0;
  }
  const std::size_t slots = tables.pods.slots();
  bool has_counted = false;
  for (std::size_t looks = 0; looks < kLooksMax && unchanged_ < slots; ++cursor_, ++unchanged_) {
    if (cursor_ >= slots) cursor_ = 0;
    const PodRecord& pod = tables.pods[cursor_];
    if (pod.phase != PodRecord::Phase::kWaiting && pod.phase != PodRecord::Phase::kHeld) continue;
    ++looks;
    if (const ClassId id = counted_class(engine, pod.job); !id.is_none() && !is_current(engine, id, seen_)) {
      if (has_counted) return;  // in its turn
      const PendingQueue::Class& job_class = engine.pending().class_at(id);
      grown(counted_, id.row()) = {job_class.key, seen_, job_class.verdict,
                                   engine.verdict_with_numbers_of_now(state, pod.job)};
      has_counted = true;
    }
    if (!tell(cursor_)) continue;
    ++cursor_;
    unchanged_ = 0;
    return;
  }
  if (unchanged_ >= slots) unchanged_ = SIZE_MAX;
}

}  // namespace ashlar::kube
