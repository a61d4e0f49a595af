#include "sim/world.h"

#include <algorithm>

#include "base/check.h"

namespace ashlar::sim {
namespace {

/// A stop is heard of at the latest so much later, even if nothing else happens.
constexpr Millis kStopHeardAfter = Millis(1000);

}  // namespace

World::World(SimClock& clock, const Catalog& catalog, JobFeed feed, WorldRules rules)
    : clock_(clock), catalog_(catalog), feed_(std::move(feed)), rules_(rules) {
  fetch();
}

void World::fetch() {
  const Millis before = next_job_.submit;
  has_next_job_ = feed_(next_job_);
  ASHLAR_CHECK(!has_next_job_ || next_job_.submit >= before || arrived_ == 0);
}

void World::set_node_changes(std::vector<NodeChange> changes, std::span<const NodeFacts> facts) {
  node_changes_ = std::move(changes);
  facts_ = facts;
}

void World::drop_outdated_ends() {
  while (!ends_.empty() && !is_current(ends_.top())) ends_.pop();
}

Millis World::next_event() {
  if (!opening_.empty()) return clock_.now();
  drop_outdated_ends();
  Millis at = has_stops_ ? clock_.now() + kStopHeardAfter : Millis::max();
  if (!ends_.empty()) at = std::min(at, ends_.top().at);
  if (has_next_job_) at = std::min(at, next_job_.submit);
  if (next_node_change_ < node_changes_.size()) at = std::min(at, node_changes_[next_node_change_].at);
  return at;
}

void World::take(std::vector<Event>& out) {
  std::move(opening_.begin(), opening_.end(), std::back_inserter(out));
  opening_.clear();
  std::move(answers_.begin(), answers_.end(), std::back_inserter(out));
  answers_.clear();
  has_stops_ = false;
  const Millis now = clock_.now();
  for (;;) {
    drop_outdated_ends();
    const Millis end_at = ends_.empty() ? Millis::max() : ends_.top().at;
    const Millis node_at = next_node_change_ < node_changes_.size() ? node_changes_[next_node_change_].at : Millis::max();
    const Millis job_at = has_next_job_ ? next_job_.submit : Millis::max();
    const Millis at = std::min({end_at, node_at, job_at});
    if (at > now) return;
    if (end_at == at) {
      const End end = ends_.top();
      ends_.pop();
      end_job(end, out);
    } else if (node_at == at) {
      change_node(node_changes_[next_node_change_++], out);
    } else {
      arrive(out);
    }
    tell_load(at);
  }
}

void World::arrive(std::vector<Event>& out) {
  JobId id(live_.size());
  if (spare_jobs_.empty()) {
    live_.emplace_back();
  } else {
    id = spare_jobs_.back();
    spare_jobs_.pop_back();
  }
  Live& live = live_[id.row()];
  live.job = next_job_;
  live.remaining = next_job_.duration;
  live.waiting_since = next_job_.submit;
  live.queued = Millis(0);
  const JobKind& kind = catalog_.kind(next_job_.kind);
  live.missing = kind.members;
  out.push_back({next_job_.submit, Submitted{}});
  Workload& w = std::get<Submitted>(out.back().body).workload;
  w.job = id;
  w.queue = next_job_.queue;
  w.priority = next_job_.priority;
  w.members_min = kind.members;
  w.within = kind.within;
  w.prefer = kind.prefer;
  w.submitted = next_job_.submit;
  w.estimate = next_job_.estimate;
  w.rank = next_job_.rank;
  w.members.reserve(kind.members);
  for (const MemberNeed& need : kind.needs) {
    for (std::uint32_t i = 0; i < need.count; ++i) {
      MemberId member(member_rows_);
      if (spare_members_.empty()) {
        ++member_rows_;
      } else {
        member = spare_members_.back();
        spare_members_.pop_back();
      }
      live.members.push_back(member);
      w.members.push_back({member, need.demand, need.constraint});
    }
  }
  ++arrived_;
  fetch();
}

void World::end_job(const End& end, std::vector<Event>& out) {
  Live& live = live_[end.job.row()];
  out.push_back({end.at, Ended{end.job}});
  if (listeners_.ended) listeners_.ended({live.job.vc, live.job.submit, end.at, live.queued});
  stop_job(live, end.at);
  forget_nodes(live);
  spare_members_.insert(spare_members_.end(), live.members.rbegin(), live.members.rend());
  live.members.clear();
  spare_jobs_.push_back(end.job);
  ++ended_;
}

void World::start_job(JobId id, Millis at) {
  Live& live = live_[id.row()];
  live.started_at = at;
  live.queued += at - live.waiting_since;
  ends_.push({at + live.remaining + rules_.end_lag, turns_++, id, live.run});
  busy_cards_ += catalog_.kind(live.job.kind).cards;
  ++running_;
}

/// It no longer runs, for whatever reason.
void World::stop_job(Live& live, Millis at) {
  ++live.run;
  live.remaining -= std::min(live.remaining, at - live.started_at);
  live.waiting_since = at;
  busy_cards_ -= catalog_.kind(live.job.kind).cards;
  --running_;
}

void World::evict_job(JobId id, Millis at) {
  Live& live = live_[id.row()];
  const JobKind& kind = catalog_.kind(live.job.kind);
  if (live.missing == 0) stop_job(live, at);
  live.remaining += rules_.restart_of(kind.cards);
  live.missing = kind.members;
  forget_nodes(live);
  answers_.push_back({at, Evicted{id, live.remaining}});
  has_stops_ = true;
  ++preemptions_;
}

void World::forget_nodes(const Live& live) {
  if (member_node_.empty()) return;
  for (const MemberId m : live.members)
    if (m.row() < member_node_.size()) member_node_[m.row()] = NodeId::none();
}

void World::submit(const Plan& plan) {
  for (const Action& action : plan.actions) {
    if (const Bind* bind = std::get_if<Bind>(&action)) {
      Live& live = live_[bind->job.row()];
      ASHLAR_CHECK(live.missing > 0);
      if (!node_changes_.empty()) {
        if (bind->member.row() >= member_node_.size()) {
          member_node_.resize(bind->member.row() + 1);
          member_job_.resize(bind->member.row() + 1);
        }
        member_node_[bind->member.row()] = bind->node;
        member_job_[bind->member.row()] = bind->job;
      }
      answers_.push_back({plan.at, Bound{bind->member, bind->node, bind->cards}});
      if (--live.missing == 0) start_job(bind->job, plan.at);
    } else if (const Evict* evict = std::get_if<Evict>(&action)) {
      evict_job(evict->job, plan.at);
    }
  }
  if (!plan.actions.empty()) tell_load(plan.at);
}

/// A job that loses a member starts over once it is whole again: nothing says that it kept a checkpoint. Its other members keep their cards.
void World::change_node(const NodeChange& change, std::vector<Event>& out) {
  if (change.is_there) {
    out.push_back({change.at, NodeSeen{change.node, facts_[change.node.row()]}});
    return;
  }
  out.push_back({change.at, NodeGone{change.node}});
  for (std::size_t m = 0; m < member_node_.size(); ++m) {
    if (member_node_[m] != change.node) continue;
    member_node_[m] = NodeId::none();
    Live& live = live_[member_job_[m].row()];
    if (live.missing == 0) stop_job(live, change.at);
    ++live.missing;
    live.remaining = live.job.duration;
    out.push_back({change.at, EstimateChanged{member_job_[m], live.job.estimate}});
  }
}

void World::tell_load(Millis at) {
  if (listeners_.load) listeners_.load(at, busy_cards_, present() - running_);
}

}  // namespace ashlar::sim
