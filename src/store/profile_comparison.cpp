#include "store/profile_comparison.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/grown.h"
#include "state/ledger.h"

namespace ashlar::store {
namespace {

JobId job_of(const Action& action) {
  return std::visit([](const auto& a) { return a.job; }, action);
}

void note_decisions(const Plan& plan, std::map<JobId, std::pair<JobDecision, JobDecision>>& jobs,
                    JobDecision std::pair<JobDecision, JobDecision>::*side) {
  for (const Action& action : plan.actions) {
    JobDecision& decision = jobs[job_of(action)].*side;
    if (const auto* bind = std::get_if<Bind>(&action)) decision.binds.push_back(*bind);
    if (std::holds_alternative<Evict>(action)) decision.is_evicted = true;
  }
}

bool are_equal(JobDecision& a, JobDecision& b) {
  const auto by_member = [](const Bind& x, const Bind& y) { return x.member < y.member; };
  std::sort(a.binds.begin(), a.binds.end(), by_member);
  std::sort(b.binds.begin(), b.binds.end(), by_member);
  return a.is_evicted == b.is_evicted &&
         std::equal(a.binds.begin(), a.binds.end(), b.binds.begin(), b.binds.end(), [](const Bind& x, const Bind& y) {
           return x.member == y.member && x.node == y.node && x.devices == y.devices && x.each == y.each;
         });
}

bool is_placed_alike(const State& s, const Member& a, const State& t, const Member& b) {
  return a.node == b.node && a.devices == b.devices && std::ranges::equal(s.grants_of(a), t.grants_of(b));
}

}  // namespace

ProfileComparison::ProfileComparison(Profile profile, EngineOptions options, const State& start)
    : state_(start),
      engine_(std::move(profile), {.binds_per_step_max = options.binds_per_step_max, .has_verdicts = true}) {
  // The new engine has seen nothing yet: it gets the waiting jobs, in order of arrival.
  std::vector<std::pair<std::uint64_t, JobId>> waiting;
  for (std::size_t j = 0; j < state_.job_rows(); ++j)
    if (const Job& job = state_.job(JobId(j)); job.is_live && job.is_in_backlog)
      waiting.emplace_back(job.backlog_seq, JobId(j));
  std::sort(waiting.begin(), waiting.end());
  for (const auto& [turn, job] : waiting) Ledger(state_).refresh_backlog(job);
}

void ProfileComparison::apply(const Event& event) {
  if (const auto* submitted = std::get_if<Submitted>(&event.body)) {
    const std::size_t row = submitted->workload.job.row();
    if (!state_.is_live(submitted->workload.job)) {  // a new job in this row
      grown(judged_, row) = Judged::kNo;
      grown(verdicts_, row) = grown(recorded_verdicts_, row) = Verdict{};
    }
  }
  ashlar::apply(state_, event);
}

void ProfileComparison::decide(const State& recorded, const Plan& plan) {
  const Plan other = engine_.decide(state_, plan.at);
  for (const VerdictChange& v : plan.verdicts) grown(recorded_verdicts_, v.job.row()) = v.verdict;
  for (const VerdictChange& v : other.verdicts) grown(verdicts_, v.job.row()) = v.verdict;
  compare(plan, other);
  for (const Plan* p : {&other, &plan})
    for (const Action& action : p->actions) align(recorded, job_of(action), plan.at);
  align_nominations(recorded, plan.at);
}

void ProfileComparison::compare(const Plan& recorded, const Plan& other) {
  std::map<JobId, std::pair<JobDecision, JobDecision>> jobs;
  note_decisions(recorded, jobs, &std::pair<JobDecision, JobDecision>::first);
  note_decisions(other, jobs, &std::pair<JobDecision, JobDecision>::second);
  for (auto& [job, stances] : jobs) {
    auto& [was, is] = stances;
    Judged& judged = grown(judged_, job.row());
    if (judged == Judged::kDifferent) continue;
    const bool is_same = are_equal(was, is);
    was.verdict = grown(recorded_verdicts_, job.row());
    is.verdict = grown(verdicts_, job.row());
    comparisons_.push_back({job, is_same, judged == Judged::kNo, was, is});
    judged = is_same ? Judged::kSame : Judged::kDifferent;
  }
}

/// Either profile may have dropped nominations that its jobs outrank, which is no action of its plan.
void ProfileComparison::align_nominations(const State& recorded, Millis now) {
  const auto lists = [](std::span<const MemberId> all, MemberId m) {
    return std::find(all.begin(), all.end(), m) != all.end();
  };
  const std::vector<MemberId> mine(state_.nominations().begin(), state_.nominations().end());
  for (const MemberId m : mine) {
    if (lists(recorded.nominations(), m)) continue;
    Ledger(state_).drop_nomination(m, state_.member(m).node);
    align(recorded, state_.member(m).job, now);
  }
  for (const MemberId m : recorded.nominations()) {
    if (lists(mine, m)) continue;
    align(recorded, state_.member(m).job, now);
    Ledger(state_).restore_nomination(m);
  }
}

/// Puts the members of a job where the recorded run has them.
void ProfileComparison::align(const State& recorded, JobId job, Millis now) {
  if (!state_.is_live(job) || !recorded.is_live(job)) return;
  state_.each_member(job, [&](MemberId id, const Member& m) {
    const Member& wanted = recorded.member(id);
    if (!m.is_placed() || (is_placed_alike(state_, m, recorded, wanted) && m.phase == wanted.phase)) return;
    Ledger(state_).note_freed(m.node);
    Ledger(state_).unplace(id);
  });
  state_.each_member(job, [&](MemberId id, const Member& m) {
    const Member& wanted = recorded.member(id);
    if (m.is_placed() || !wanted.is_placed()) return;
    const auto grants = recorded.grants_of(wanted);
    const DeviceGrantsId row = Ledger(state_).intern({grants.begin(), grants.end()});
    Ledger(state_).place(id, wanted.node, wanted.devices, wanted.phase, row);
  });
  Ledger(state_).set_given_way(job, recorded.job(job).has_given_way);
  state_.each_member(
      job, [&](MemberId id, const Member&) { Ledger(state_).set_leaving(id, recorded.member(id).is_leaving); });
  const bool should_run = recorded.job(job).is_started;
  if (state_.job(job).is_started && !should_run) Ledger(state_).stop(job, now);
  if (!state_.job(job).is_started && should_run) Ledger(state_).run(job, now);
  Ledger(state_).refresh_backlog(job);
  Ledger(state_).settle_backlog(job);
}

}  // namespace ashlar::store
