// Nodes reserved for pods that other schedulers nominated (usually after a preemption of theirs), and jobs that need
// not respect that.
#include "engine/place/nomination.h"

#include <algorithm>

#include "engine/place/placement.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

bool is_outranked(const State& state, MemberId nominated, JobId by) {
  const Member& m = state.member(nominated);
  return m.is_placed() && m.phase == Member::Phase::kAssumed && state.job(m.job).priority < state.job(by).priority;
}

/// By a rule about pods: a job's about this one, or its own.
bool may_close_other_nodes(const State& state, MemberId nominated) {
  const Member& m = state.member(nominated);
  return !m.labels.is_none() || state.cluster().constraint(m.constraint).has_company();
}

/// Drops one claim after the other until the job is placed, beyond kTriesMax all that are left. False with an empty
/// trial if that does not help.
template <typename Place>
bool place_without_some_of(const std::vector<MemberId>& claims, Trial& trial, const Place& place) {
  constexpr std::size_t kTriesMax = 16;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    trial.evict(claims[i]);
    const bool is_tried = i + 1 < kTriesMax || i + 1 == claims.size();
    if (is_tried && place()) return true;
  }
  trial.rollback_to(0);
  return false;
}

}  // namespace

std::vector<MemberId> outranked_nominations(const State& state, JobId job) {
  std::vector<MemberId> outranked;
  for (const MemberId m : state.nominations())
    if (is_outranked(state, m, job)) outranked.push_back(m);
  return outranked;
}

bool outranks_a_nomination(const State& state, JobId job) {
  const auto nominations = state.nominations();
  return std::any_of(nominations.begin(), nominations.end(), [&](MemberId m) { return is_outranked(state, m, job); });
}

bool place_over_nominations(EngineData& e, State& state, Trial& trial, JobId job, Millis now) {
  const std::vector<MemberId> outranked = outranked_nominations(state, job);
  if (outranked.empty()) return false;
  const auto place = [&] {
    return place_job({trial, e.fit_tables, *e.profile, e.draws, members_within_quota(state, job), now}, job).is_placed;
  };
  std::vector<NodeId> at;
  for (const MemberId m : outranked) {
    at.push_back(state.member(m).node);
    trial.evict(m);
  }
  if (!place()) {
    trial.rollback_to(0);
    return false;
  }
  std::vector<NodeId> used;
  each_placement(trial.steps(), [&](const Trial::Placement& placement) { used.push_back(placement.node); });
  trial.rollback_to(0);
  // Only claims on nodes that the job takes are dropped, and those elsewhere without which its rules have no node.
  std::vector<MemberId> elsewhere;
  for (std::size_t i = 0; i < outranked.size(); ++i) {
    if (std::find(used.begin(), used.end(), at[i]) != used.end())
      trial.evict(outranked[i]);
    else if (may_close_other_nodes(state, outranked[i]))
      elsewhere.push_back(outranked[i]);
  }
  return place() || place_without_some_of(elsewhere, trial, place);
}

std::optional<PendingQueue::Entry> first_that_outranks_more(const State& state, const PendingQueue::Class& job_class,
                                                            const PendingQueue::Entry& than) {
  if (state.nominations().empty()) return std::nullopt;
  const std::size_t outranked = outranked_nominations(state, than.job).size();
  for (auto it = job_class.jobs.upper_bound(than); it != job_class.jobs.end(); ++it)
    if (state.job(it->job).priority > state.job(than.job).priority &&
        outranked_nominations(state, it->job).size() > outranked)
      return *it;
  return std::nullopt;
}

}  // namespace ashlar
