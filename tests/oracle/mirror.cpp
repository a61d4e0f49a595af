#include "mirror.h"

#include <algorithm>
#include <set>

#include "draw.h"

namespace ashlar::oracle {

/// What each event changes.
struct MirrorNews {
  Mirror& m;

  template <class Other>
  void operator()(const Other&) {}
  void operator()(const NodeSeen& e) {
    PlainNode& node = m.world_.nodes[e.node.row()];
    node = plain_of(m.world_, e.facts);
  }
  void operator()(const DeviceClassDefined& e) {
    unsigned capabilities = 0;
    for (const CapabilityId c : e.device_class.capabilities) capabilities |= 1u << c.row();
    define_model(m.world_, static_cast<int>(e.id.row()), capabilities);
  }
  template <class Change>
  void change(NodeId node, Change of) {
    PlainNode& plain = m.world_.nodes[node.row()];
    NodeFacts facts = facts_of(plain, m.world_.nested + m.world_.orthogonal);
    of(facts);
    plain = plain_of(m.world_, facts);
  }
  void operator()(const NodeCapacityChanged& e) {
    change(e.node, [&](NodeFacts& facts) { facts.allocatable = e.allocatable; });
  }
  void operator()(const NodeDevicesChanged& e) {
    change(e.node, [&](NodeFacts& facts) { facts.devices = e.devices; });
  }
  void operator()(const NodeGone& e) {
    m.world_.nodes[e.node.row()].is_there = false;
    for (std::size_t j = 0; j < m.world_.jobs.size(); ++j)
      for (std::size_t r = 0; r < m.ids_[j].size(); ++r)
        if (m.world_.jobs[j].members[r].node == static_cast<int>(e.node.row())) clear(j, r);
  }
  void operator()(const QueueDefined& e) {
    const std::int64_t cores = e.quota[1] == kUnlimited ? kUnlimited : e.quota[1] / 1000;
    m.world_.queues[e.id.row()] = {static_cast<int>(e.parent.row()), e.quota[0], cores};
  }
  void operator()(const GangSpecDefined& e) {
    std::vector<PlainGroup>& groups = m.specs_[e.id];
    groups.clear();
    const auto level = [](LevelId id) { return id.is_none() ? kNowhere : static_cast<int>(id.row()); };
    for (const GangGroup& group : e.spec.groups)
      groups.push_back({static_cast<int>(group.members_min), level(group.within), level(group.prefer)});
  }
  void operator()(const Submitted& e) {
    const Workload& w = e.workload;
    PlainJob& job = m.world_.jobs[w.job.row()];
    job = {};
    job.min = static_cast<int>(std::max(w.members_min, 1u));
    if (!w.spec.is_none()) job.groups = m.specs_.at(w.spec);
    job.is_each_needed = w.members_min == 0;
    job.within = w.within.is_none() ? kNowhere : static_cast<int>(w.within.row());
    job.prefer = w.prefer.is_none() ? kNowhere : static_cast<int>(w.prefer.row());
    job.queue = static_cast<int>(w.queue.row());
    job.is_ours = w.is_ours;
    job.priority = w.priority;
    job.submitted_ms = w.submitted.value;
    m.is_live_[w.job.row()] = 1;
    m.has_run_[w.job.row()] = 0;
    estimate(w.job, w.estimate);
    add(w.job, w.members);
  }
  void operator()(const MembersAdded& e) {
    if (m.is_live_[e.job.row()] == 0) return;
    m.world_.jobs[e.job.row()].min = static_cast<int>(std::max(e.members_min, 1u));
    m.world_.jobs[e.job.row()].is_each_needed = e.members_min == 0;
    add(e.job, e.members);
  }
  void operator()(const MemberGone& e) {
    const auto [job, rank] = m.find(e.member);
    if (job == kNowhere) return;
    const auto j = static_cast<std::size_t>(job);
    m.world_.jobs[j].members.erase(m.world_.jobs[j].members.begin() + rank);
    m.ids_[j].erase(m.ids_[j].begin() + rank);
    m.is_bound_[j].erase(m.is_bound_[j].begin() + rank);
    m.job_of_.erase(e.member);
  }
  void operator()(const Ended& e) {
    const std::size_t j = e.job.row();
    for (const MemberId id : m.ids_[j]) m.job_of_.erase(id);
    m.world_.jobs[j].members.clear();
    m.ids_[j].clear();
    m.is_bound_[j].clear();
    m.is_live_[j] = 0;
  }
  void operator()(const Bound& e) {
    const auto [job, rank] = m.find(e.member);
    if (job == kNowhere || !m.world_.nodes[e.node.row()].is_there) return;
    PlainMember& member = m.world_.jobs[static_cast<std::size_t>(job)].members[static_cast<std::size_t>(rank)];
    member.put(static_cast<int>(e.node.row()), {});
    e.devices.each([&](int device) { member.devices.push_back(device); });
    m.is_bound_[static_cast<std::size_t>(job)][static_cast<std::size_t>(rank)] = 1;
  }
  void operator()(const BindRejected& e) {
    const auto [job, rank] = m.find(e.member);
    if (job != kNowhere && m.is_bound_[static_cast<std::size_t>(job)][static_cast<std::size_t>(rank)] == 0)
      clear(static_cast<std::size_t>(job), static_cast<std::size_t>(rank));
  }
  void operator()(const Evicted& e) {
    if (e.member.is_none()) return m.take_off(static_cast<int>(e.job.row()));
    const auto [job, rank] = m.find(e.member);
    if (job == static_cast<int>(e.job.row())) clear(static_cast<std::size_t>(job), static_cast<std::size_t>(rank));
  }
  void operator()(const Nominated& e) {
    const auto [job, rank] = m.find(e.member);
    if (job == kNowhere || m.is_bound_[static_cast<std::size_t>(job)][static_cast<std::size_t>(rank)] != 0) return;
    clear(static_cast<std::size_t>(job), static_cast<std::size_t>(rank));
    if (e.node.is_none() || !m.world_.nodes[e.node.row()].is_there) return;
    PlainJob& of = m.world_.jobs[static_cast<std::size_t>(job)];
    PlainMember& member = of.members[static_cast<std::size_t>(rank)];
    const int node = static_cast<int>(e.node.row());
    const PlainAsk ask{m.world_.demands[static_cast<std::size_t>(member.demand)],
                       m.world_.constraints[static_cast<std::size_t>(member.constraint)]};
    member.put(node, devices_taken_to_get(m.world_, node, ask), true);
    of.priority = e.priority;
  }
  void operator()(const PriorityChanged& e) {
    if (m.is_live_[e.job.row()] != 0) m.world_.jobs[e.job.row()].priority = e.priority;
  }
  void operator()(const EstimateChanged& e) {
    if (m.is_live_[e.job.row()] != 0) estimate(e.job, e.estimate);
  }
  void operator()(const ConstraintChanged& e) {
    const auto [job, rank] = m.find(e.member);
    if (job == kNowhere) return;
    PlainMember& member = m.world_.jobs[static_cast<std::size_t>(job)].members[static_cast<std::size_t>(rank)];
    if (!member.is_placed()) member.constraint = static_cast<int>(e.constraint.row());
  }

 private:
  void estimate(JobId id, const Estimate& estimate) {
    PlainJob& job = m.world_.jobs[id.row()];
    job.p50_ms = estimate.p50.value;
    if (m.has_run_[id.row()] == 0)
      job.lasts_ms = estimate.p90 == Millis::max() ? job.p50_ms : std::max(job.p50_ms, estimate.p90.value);
  }
  void clear(std::size_t job, std::size_t rank) {
    PlainMember& member = m.world_.jobs[job].members[rank];
    member.take_off();
    m.is_bound_[job][rank] = 0;
  }
  void add(JobId job, const std::vector<MemberSpec>& members) {
    for (const MemberSpec& spec : members) {
      m.world_.jobs[job.row()].members.push_back({.demand = static_cast<int>(spec.demand.row()),
                                                  .constraint = static_cast<int>(spec.constraint.row()),
                                                  .devices = {},
                                                  .group = static_cast<int>(spec.group)});
      m.ids_[job.row()].push_back(spec.member);
      m.is_bound_[job.row()].push_back(0);
      m.job_of_[spec.member] = static_cast<int>(job.row());
    }
  }
};

Mirror::Mirror(const PlainWorld& drawn)
    : world_(drawn),
      ids_(drawn.jobs.size()),
      is_live_(drawn.jobs.size(), 0),
      is_bound_(drawn.jobs.size()),
      has_run_(drawn.jobs.size(), 0) {
  for (PlainNode& node : world_.nodes) node.is_there = false;
  for (PlainJob& job : world_.jobs) job = {};
  for (int model = 0; model < kPlainModels; ++model) define_model(world_, model, 0);
}

void Mirror::tell(const Event& event) { std::visit(MirrorNews{*this}, event.body); }

std::pair<int, int> Mirror::find(MemberId member) const {
  const auto it = job_of_.find(member);
  if (it == job_of_.end()) return {kNowhere, kNowhere};
  const auto& ids = ids_[static_cast<std::size_t>(it->second)];
  return {it->second, static_cast<int>(std::find(ids.begin(), ids.end(), member) - ids.begin())};
}

void Mirror::take_off(int job) {
  const auto j = static_cast<std::size_t>(job);
  for (PlainMember& m : world_.jobs[j].members) {
    m.node = kNowhere;
    m.devices.clear();
  }
  std::fill(is_bound_[j].begin(), is_bound_[j].end(), std::uint8_t{0});
}

/// Those fall that the job outranks and that are no longer there after the decision; false where there are none, or one
/// on no node that the job takes.
bool Mirror::fall_to(int job, const std::vector<Bind>& binds, const std::vector<MemberId>& nominated_after) {
  long fallen = 0;
  for (std::size_t j = 0; j < world_.jobs.size(); ++j) {
    for (std::size_t r = 0; r < world_.jobs[j].members.size(); ++r) {
      PlainMember& m = world_.jobs[j].members[r];
      const bool is_kept = std::count(nominated_after.begin(), nominated_after.end(), ids_[j][r]) > 0;
      if (!m.is_nominated || is_kept || world_.jobs[j].priority >= world_.jobs[static_cast<std::size_t>(job)].priority)
        continue;
      const bool is_on_its_node = std::any_of(
          binds.begin(), binds.end(), [&](const Bind& bind) { return static_cast<int>(bind.node.row()) == m.node; });
      if (!is_on_its_node) continue;
      m.take_off();
      ++fallen;
    }
  }
  falls_ += fallen;
  return fallen > 0;
}

std::string Mirror::start(const std::vector<Bind>& binds, const std::vector<MemberId>& nominated_after) {
  std::vector<PlainBind> plain;
  for (const Bind& bind : binds) {
    const auto [job, rank] = find(bind.member);
    if (job != static_cast<int>(bind.job.row())) return "a bind of a member that is not there";
    if (!world_.nodes[bind.node.row()].is_there) return "a bind to a node that is not there";
    PlainBind one{job, rank, static_cast<int>(bind.node.row()), {}};
    bind.devices.each([&](int device) { one.devices.push_back(device); });
    has_run_[static_cast<std::size_t>(job)] = 1;
    plain.push_back(std::move(one));
  }
  PlainWorld tried = world_;
  std::string fault = broken_rule(tried, plain);
  if (!fault.empty() && fall_to(plain.front().job, binds, nominated_after)) {
    tried = world_;
    fault = broken_rule(tried, plain);
  }
  world_ = std::move(tried);
  return fault;
}

std::string Mirror::carry_out(const Plan& plan, const Judging& judging) {
  std::vector<PlainWorld> moments{world_};  // the decision starts one job after the other
  std::vector<Bind> together;
  const auto start_these = [&] {
    std::string fault = start(together, judging.nominated);
    together.clear();
    if (judging.has_true_reasons) moments.push_back(world_);
    return fault;
  };
  for (const Action& action : plan.actions) {
    const Bind* bind = std::get_if<Bind>(&action);
    if (!together.empty() && (bind == nullptr || bind->job != together.front().job))
      if (std::string fault = start_these(); !fault.empty()) return fault;
    if (bind != nullptr) together.push_back(*bind);
    if (const auto* evict = std::get_if<Evict>(&action)) take_off(static_cast<int>(evict->job.row()));
  }
  if (!together.empty())
    if (std::string fault = start_these(); !fault.empty()) return fault;
  for (std::size_t j = 0; j < world_.jobs.size(); ++j)
    for (std::size_t r = 0; r < world_.jobs[j].members.size(); ++r)
      if (world_.jobs[j].members[r].is_nominated &&
          std::count(judging.nominated.begin(), judging.nominated.end(), ids_[j][r]) == 0)
        return "the nomination of job " + std::to_string(j) + " fell and nobody needed its node";
  for (const VerdictChange& change : plan.verdicts) {
    if (!judging.has_true_reasons) {
      ++heard_.of_stoppers;
      continue;
    }
    if (change.verdict.at < plan.at) {
      ++heard_.not_new;
      continue;
    }
    std::string fault;
    Heard* heard = &heard_;
    for (const PlainWorld& moment : moments) {
      fault =
          untrue(moment, static_cast<int>(change.job.row()), change.verdict, judging, std::exchange(heard, nullptr));
      if (fault.empty()) break;
    }
    if (!fault.empty()) return "job " + std::to_string(change.job.row()) + " has a verdict that is not true: " + fault;
  }
  return "";
}

std::string Mirror::difference(const State& state) const {
  for (std::size_t j = 0; j < world_.jobs.size(); ++j) {
    const std::string who = "job " + std::to_string(j);
    if (state.is_live(JobId(j)) != (is_live_[j] != 0))
      return who + (is_live_[j] != 0 ? " is lost" : " is kept though it ended");
    for (std::size_t r = 0; r < ids_[j].size(); ++r) {
      const MemberId id = ids_[j][r];
      if (!state.is_live(id) || state.member(id).job != JobId(j))
        return who + " has lost member " + std::to_string(id.row());
      const NodeId node = state.member(id).node;
      if ((node.is_none() ? kNowhere : static_cast<int>(node.row())) != world_.jobs[j].members[r].node)
        return who + " member " + std::to_string(id.row()) + " is not where it was put";
    }
  }
  for (const int job : waiting())
    if (!state.job(JobId(job)).is_in_backlog)
      return "job " + std::to_string(job) + " is forgotten: it neither runs nor waits";
  return "";
}

std::vector<int> Mirror::waiting() const {
  std::vector<int> jobs;
  for (std::size_t j = 0; j < world_.jobs.size(); ++j) {
    const PlainJob& job = world_.jobs[j];
    const int present = static_cast<int>(job.members.size());
    if (is_live_[j] != 0 && job.is_ours && job.has_enough_members() && job.placed() < present)
      jobs.push_back(static_cast<int>(j));
  }
  return jobs;
}

std::string Mirror::passed_over(const Plan& plan, bool is_strict) const {
  const auto goes_before = [&](int one, std::size_t other) {
    const PlainJob &a = world_.jobs[static_cast<std::size_t>(one)], &b = world_.jobs[other];
    return std::pair(-a.priority, a.submitted_ms) < std::pair(-b.priority, b.submitted_ms);
  };
  const std::vector<int> waits = waiting();
  const auto is_blocked = [&](int job) {  // by somebody of its own queue
    return std::any_of(waits.begin(), waits.end(), [&](int other) {
      return other != job && !goes_before(job, static_cast<std::size_t>(other)) &&
             world_.jobs[static_cast<std::size_t>(other)].queue == world_.jobs[static_cast<std::size_t>(job)].queue;
    });
  };
  std::set<std::size_t> started;
  for (const Action& action : plan.actions)
    if (const auto* bind = std::get_if<Bind>(&action)) started.insert(bind->job.row());
  for (const std::size_t late : started) {
    PlainWorld without = world_;
    for (const Action& action : plan.actions) {
      const auto* bind = std::get_if<Bind>(&action);
      if (bind == nullptr || bind->job.row() != late) continue;
      PlainMember& m = without.jobs[late].members[static_cast<std::size_t>(find(bind->member).second)];
      m.take_off();
    }
    for (const int early : waits) {
      if (!goes_before(early, late) || started.contains(static_cast<std::size_t>(early)) ||
          (is_strict && is_blocked(early)))
        continue;
      const PlainJob& of = world_.jobs[static_cast<std::size_t>(early)];
      if (of.lacking() == 0) continue;  // members above the minimum give way
      if (can_be_placed(without, early) == Answer::kYes)
        return "job " + std::to_string(early) + " could have run instead of job " + std::to_string(late);
    }
  }
  return "";
}

bool waits_ahead(const PlainWorld& world, PlainOrder order, int one, int other) {
  const PlainJob &a = world.jobs[static_cast<std::size_t>(one)], &b = world.jobs[static_cast<std::size_t>(other)];
  if (one == other || !a.is_ours || !a.has_enough_members() || a.lacking() == 0) return false;
  if (b.lacking() == 0) return true;  // members above the minimum come after every minimum
  switch (order) {
    case PlainOrder::kFifo:
      return a.submitted_ms <= b.submitted_ms;
    case PlainOrder::kSjf:
      return a.p50_ms <= b.p50_ms;
    default:
      return std::pair(-a.priority, a.submitted_ms) <= std::pair(-b.priority, b.submitted_ms);
  }
}

bool Mirror::is_idle() const {
  return std::all_of(world_.jobs.begin(), world_.jobs.end(), [](const PlainJob& job) { return job.placed() == 0; });
}

}  // namespace ashlar::oracle
