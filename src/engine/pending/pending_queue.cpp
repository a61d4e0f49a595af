#include "engine/pending/pending_queue.h"

#include "base/check.h"
#include "base/grown.h"

namespace ashlar {
EquivalenceClass class_of(const State& state, JobId id) {
  const Job& j = state.job(id);
  EquivalenceClass key;
  key.queue = j.queue;
  key.within = j.within;
  key.prefer = j.prefer;
  key.members_waiting = j.members_present - j.members_placed;
  key.members_needed = j.members_needed();
  std::uint32_t like_the_first = 0;
  state.each_member(id, [&](MemberId, const Member& m) {
    if (m.is_placed()) return;
    if (key.demand.is_none()) {
      key.demand = m.demand;
      key.constraint = m.constraint;
    }
    const bool is_like_the_first = m.demand == key.demand && m.constraint == key.constraint;
    if (key.runs.empty() && is_like_the_first) {
      ++like_the_first;
      return;
    }
    if (key.runs.empty()) key.runs.push_back({key.demand, key.constraint, like_the_first});
    if (m.demand != key.runs.back().demand || m.constraint != key.runs.back().constraint)
      key.runs.push_back({m.demand, m.constraint, 0});
    ++key.runs.back().members;
  });
  if (j.members_placed > 0) key.only = id;
  if (j.members_placed > 0 && !j.within.is_none()) key.anchor = state.anchor(id, j.within);
  return key;
}

namespace {
bool is_in_parts(const EquivalenceClass& key) { return !key.only.is_none() || !key.runs.empty(); }

bool waits_for_room(const Verdict& verdict) {
  return verdict.wake_on == WakeOn::kCapacity || verdict.wake_on == WakeOn::kQuota;
}
}  // namespace

void PendingQueue::list_head(ClassId id) {
  const Class& job_class = classes_[id.row()];
  if (job_class.jobs.empty()) return;
  const Head head{*job_class.jobs.begin(), id};
  if (job_class.is_active) {
    active_heads_.insert(head);
    return;
  }
  if (waits_for_room(job_class.verdict) && !head.entry.is_surplus &&
      job_class.verdict.kind != VerdictKind::kNeverFits) {  // what can never run blocks no job
    blocked_heads_[job_class.key.queue].insert(head);
    // not looked at on the nodes yet
    if (job_class.verdict.wake_on == WakeOn::kQuota) changed_queues_.insert(job_class.key.queue);
  }
  if (job_class.verdict.wake_on == WakeOn::kCapacity) {
    if (!is_in_parts(job_class.key))
      waiting_for_capacity_[{job_class.key.demand, job_class.key.constraint}].insert(id);
    else
      waiting_in_parts_.insert(id);
  } else if (job_class.verdict.wake_on == WakeOn::kQuota) {
    waiting_for_quota_.insert(id);
  } else if (job_class.verdict.wake_on == WakeOn::kHeadOfQueue) {
    behind_heads_[job_class.key.queue].insert(id);
  }
}

void PendingQueue::unlist_head(ClassId id) {
  const Class& job_class = classes_[id.row()];
  if (job_class.jobs.empty()) return;
  const Head head{*job_class.jobs.begin(), id};
  if (job_class.is_active) {
    active_heads_.erase(head);
    return;
  }
  // Only if list_head has put it there: this runs for every class behind a head whenever the head moves.
  const WakeOn waits_for = job_class.verdict.wake_on;
  if (const auto it =
          waits_for_room(job_class.verdict) ? blocked_heads_.find(job_class.key.queue) : blocked_heads_.end();
      it != blocked_heads_.end()) {
    if (it->second.erase(head) != 0) {
      changed_queues_.insert(job_class.key.queue);
      if (behind_heads_.contains(job_class.key.queue)) moved_heads_.insert(job_class.key.queue);
    }
    if (it->second.empty()) blocked_heads_.erase(it);
  }
  if (waits_for == WakeOn::kCapacity && !is_in_parts(job_class.key)) {
    if (const auto it = waiting_for_capacity_.find({job_class.key.demand, job_class.key.constraint});
        it != waiting_for_capacity_.end()) {
      it->second.erase(id);
      if (it->second.empty()) waiting_for_capacity_.erase(it);
    }
  } else if (waits_for == WakeOn::kCapacity) {
    waiting_in_parts_.erase(id);
  } else if (waits_for == WakeOn::kQuota) {
    waiting_for_quota_.erase(id);
  } else if (waits_for == WakeOn::kHeadOfQueue) {
    if (const auto it = behind_heads_.find(job_class.key.queue); it != behind_heads_.end()) {
      it->second.erase(id);
      if (it->second.empty()) behind_heads_.erase(it);
    }
  }
}

void PendingQueue::enter(const State& state, JobId job) {
  ASHLAR_CHECK(!contains(job));
  const EquivalenceClass key = class_of(state, job);
  auto [it, is_new] = ids_.try_emplace(key, ClassId::none());
  if (is_new) {
    if (spare_.empty()) {
      it->second = ClassId(classes_.size());
      classes_.emplace_back();
    } else {
      it->second = spare_.back();
      spare_.pop_back();
    }
    Class& made = classes_[it->second.row()];
    made = Class{.key = key, .jobs = {}, .is_active = true, .verdict = {}, .devices = 0};
    state.each_member(job, [&](MemberId, const Member& m) {
      if (!m.is_placed()) made.devices += state.demand(m.demand).devices.count;
    });
  }
  const ClassId id = it->second;
  Class& job_class = classes_[id.row()];
  const Job& j = state.job(job);
  const Entry entry{j.waits_for_surplus(), order_->waiting(j), j.backlog_seq, job};
  const bool is_head = job_class.jobs.empty() || entry < *job_class.jobs.begin();
  if (is_head) unlist_head(id);
  job_class.jobs.insert(entry);
  if (is_head) list_head(id);
  grown(class_of_job_, job.row()) = id;
  grown(entry_of_job_, job.row()) = entry;
  ++size_;
  // it may now come before the head that blocks the others
  if (is_head && job_class.verdict.wake_on == WakeOn::kHeadOfQueue) activate(id);
  if (!job_class.is_active) newcomers_of_parked_.push_back(job);
}

void PendingQueue::leave(JobId job) {
  if (!contains(job)) return;
  const ClassId id = class_of_job_[job.row()];
  Class& job_class = classes_[id.row()];
  const Entry& entry = entry_of_job_[job.row()];
  const bool is_head = *job_class.jobs.begin() == entry;
  if (is_head) unlist_head(id);
  job_class.jobs.erase(entry);
  class_of_job_[job.row()] = ClassId::none();
  --size_;
  if (job_class.jobs.empty()) {
    ids_.erase(job_class.key);
    spare_.push_back(id);
  } else if (is_head) {
    list_head(id);
  }
}

void PendingQueue::activate(ClassId id) {
  Class& job_class = classes_[id.row()];
  if (job_class.is_active) return;
  unlist_head(id);
  job_class.is_active = true;
  list_head(id);
}

void PendingQueue::park(ClassId id, Verdict verdict) {
  Class& job_class = classes_[id.row()];
  unlist_head(id);
  job_class.is_active = false;
  job_class.verdict = std::move(verdict);
  list_head(id);
}

void PendingQueue::activate_behind_moved_heads() {
  if (moved_heads_.empty()) return;
  std::vector<ClassId> behind;
  for (const QueueId queue : std::exchange(moved_heads_, {}))
    if (const auto it = behind_heads_.find(queue); it != behind_heads_.end())
      behind.insert(behind.end(), it->second.begin(), it->second.end());
  for (const ClassId id : behind) activate(id);
}

void PendingQueue::hold(const Head& head) {
  if (head.entry.is_surplus) return;
  const auto [it, is_first] = held_heads_.try_emplace(class_at(head.job_class).key.queue, head);
  if (!is_first && head < it->second) it->second = head;
}

const PendingQueue::Head* PendingQueue::first_waiting(QueueId queue) const {
  const Head* blocked = first_blocked(queue);
  const auto held = held_heads_.find(queue);
  return held != held_heads_.end() && (blocked == nullptr || held->second < *blocked) ? &held->second : blocked;
}

const PendingQueue::Head* PendingQueue::first_blocked(QueueId queue) const {
  const auto it = blocked_heads_.find(queue);
  return it == blocked_heads_.end() ? nullptr : &*it->second.begin();
}

}  // namespace ashlar
