#include "held.h"

#include <algorithm>
#include <map>

#include "engine/quota.h"

namespace ashlar::bench {

bool could_start(State& state, Engine& engine, JobId job) {
  if (quota_refusal(state, job)) return false;
  Trial trial(state);
  return engine.try_place(trial, job);
}

std::vector<JobId> HeldJobs::newly(State& state, Engine& engine) {
  std::vector<PendingQueue::Entry> held;
  engine.pending().each_class([&](ClassId, const PendingQueue::Class& job_class) {
    const bool lacks_room = !job_class.is_active && (job_class.verdict.wake_on == WakeOn::kCapacity ||
                                                     job_class.verdict.wake_on == WakeOn::kQuota);
    std::vector<PendingQueue::Entry> unknown;
    job_class.each_job([&](const PendingQueue::Entry& entry) {
      if (!known_.contains(state.job(entry.job).backlog_seq)) unknown.push_back(entry);
    });
    // jobs of a class have the same place; most often all of them are known
    if (lacks_room || unknown.empty() || !could_start(state, engine, unknown.front().job)) return;
    held.insert(held.end(), unknown.begin(), unknown.end());
  });
  std::sort(held.begin(), held.end());
  std::vector<JobId> jobs;
  for (const PendingQueue::Entry& entry : held) {
    known_.insert(state.job(entry.job).backlog_seq);
    jobs.push_back(entry.job);
  }
  return jobs;
}

std::vector<JobId> heads_before(State& state, Engine& engine, JobId job) {
  const PendingQueue::Entry entry = engine.pending().entry_of(job);
  std::map<QueueId, PendingQueue::Entry> first, first_held;
  engine.pending().each_class([&](ClassId, const PendingQueue::Class& job_class) {
    PendingQueue::Entry head = job_class.jobs.empty() ? *job_class.held.begin() : *job_class.jobs.begin();
    if (!job_class.held.empty()) head = std::min(head, *job_class.held.begin());
    if (head.is_surplus || !(head < entry) || engine.pending().never_fits(engine.pending().class_id(head.job))) return;
    auto& firsts = could_start(state, engine, head.job) ? first_held : first;
    const auto [it, is_first] = firsts.try_emplace(job_class.key.queue, head);
    if (!is_first && head < it->second) it->second = head;
  });
  std::vector<PendingQueue::Entry> heads;
  for (const auto& [queue, head] : first) heads.push_back(head);
  for (const auto& [queue, head] : first_held)
    if (const auto it = first.find(queue); it == first.end() || head < it->second) heads.push_back(head);
  std::sort(heads.begin(), heads.end());
  std::vector<JobId> jobs;
  for (const PendingQueue::Entry& head : heads) jobs.push_back(head.job);
  return jobs;
}

}  // namespace ashlar::bench
