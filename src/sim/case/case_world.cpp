#include "sim/case/case_world.h"

#include <algorithm>

namespace ashlar::sim {

void CaseWorld::deliver(const EventBody& body, std::vector<Event>& out) {
  if (const auto* e = std::get_if<Submitted>(&body)) {
    submitted_.push_back(e->workload.job);
    runs_[e->workload.job.row()].is_submitted = true;
  } else if (const auto* ended = std::get_if<Ended>(&body)) {
    if (ended->job.row() < runs_.size() && state_.is_live(ended->job)) runs_[ended->job.row()].ended_at = clock_.now();
  }
  out.push_back({clock_.now(), body});
}

void CaseWorld::take(std::vector<Event>& out) {
  const Millis now = clock_.now();
  while (!pending_.empty() && pending_.begin()->first <= now) {
    const Pending pending = std::move(pending_.begin()->second);
    pending_.erase(pending_.begin());
    if (const auto* end = std::get_if<End>(&pending)) {
      if (runs_[end->job.row()].turn == end->turn) deliver(EventBody(Ended{end->job}), out);
    } else {
      deliver(std::get<EventBody>(pending), out);
    }
  }
  for (; next_happening_ < file_.happenings.size() && file_.happenings[next_happening_].at <= now; ++next_happening_) {
    const auto& what = file_.happenings[next_happening_].what;
    if (const auto* body = std::get_if<EventBody>(&what))
      deliver(*body, out);
    else if (const auto* reject = std::get_if<RejectNext>(&what))
      rejected_next_.insert(reject->member);
    else if (const auto* runs = std::get_if<RunsFor>(&what))
      runs_[runs->job.row()].left = runs->duration;
  }
}

void CaseWorld::submit(const Plan& plan) {
  const Millis answer_at = clock_.now() + file_.binding;
  for (const Action& action : plan.actions) {
    if (const auto* bind = std::get_if<Bind>(&action)) {
      if (rejected_next_.erase(bind->member) != 0)
        pending_.emplace(answer_at, EventBody(BindRejected{bind->member}));
      else
        pending_.emplace(answer_at, EventBody(Bound{bind->member, bind->node, bind->cards}));
    } else if (const auto* evict = std::get_if<Evict>(&action)) {
      Run& run = runs_[evict->job.row()];
      if (run.is_running && run.left != Millis::max()) run.left -= clock_.now() - run.since;
      run.is_running = false;
      ++run.turn;
      pending_.emplace(answer_at, EventBody(Evicted{evict->job, run.left}));
    }
  }
}

bool CaseWorld::is_bound(JobId job) const {
  if (!state_.is_live(job)) return false;
  std::uint32_t bound = 0;
  state_.each_member(job, [&](MemberId, const Member& m) { bound += m.phase == Member::Phase::kBound ? 1 : 0; });
  // A gang that has started goes on counting when it loses some of its members.
  return bound > 0 && (runs_[job.row()].is_running || bound >= state_.job(job).members_min);
}

void CaseWorld::observe() {
  const Millis now = clock_.now();
  for (const JobId job : submitted_) {
    Run& run = runs_[job.row()];
    const bool is_running = is_bound(job);
    if (run.left == Millis::max() || is_running == run.is_running) continue;
    run.is_running = is_running;
    ++run.turn;
    if (is_running) {
      run.since = now;
      pending_.emplace(now + run.left, End{job, run.turn});
    } else {
      run.left = std::max(run.left - (now - run.since), Millis(0));
    }
  }
}

Millis CaseWorld::next_at() const {
  Millis next = pending_.empty() ? Millis::max() : pending_.begin()->first;
  if (next_happening_ < file_.happenings.size()) next = std::min(next, file_.happenings[next_happening_].at);
  return next;
}

}  // namespace ashlar::sim
