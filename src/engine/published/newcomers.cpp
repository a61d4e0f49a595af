#include "engine/published/newcomers.h"

#include <algorithm>

namespace ashlar {
namespace {

bool all_waiting_came(const EngineData& e, const State& state, Millis now) {
  bool is_so = true;
  e.pending.each_class([&](ClassId, const PendingQueue::Class& job_class) {
    job_class.each_job(
        [&](const PendingQueue::Entry& entry) { is_so = is_so && state.job(entry.job).submitted == now; });
  });
  return is_so;
}

}  // namespace

bool list_newcomers(const EngineData& e, const State& state, Cycle& cycle) {
  const auto key = e.profile->order->newcomers;
  if (key == nullptr) return false;
  const auto has_just_come = [&](const PendingQueue::Head& h) {
    return state.job(h.entry.job).submitted == cycle.plan.at;
  };
  const auto& heads = e.pending.active_heads();
  if (!std::all_of(heads.begin(), heads.end(), has_just_come) || !all_waiting_came(e, state, cycle.plan.at))
    return false;
  e.pending.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
    for (const PendingQueue::Entry& entry : job_class.jobs)
      cycle.work.add({{entry.is_surplus, key(state.job(entry.job)), entry.turn, entry.job}, id, job_class.key.queue});
  });
  cycle.is_listed_whole = true;
  return true;
}

}  // namespace ashlar
