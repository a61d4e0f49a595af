#include "checks.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <variant>

namespace ashlar::bench {
namespace {

constexpr int kInVainMax = 1000;
constexpr std::size_t kFaultsMax = 3;
constexpr std::int64_t kWhole = 1000;

/// Queue q of the scenario; the root's row is the first.
std::size_t number_of(QueueId queue) { return queue.row() - 1; }

/// "job 3 (1000) job 5 (300)": thousandths of the device.
std::string users_text(const State& state, NodeId node, int device) {
  std::string text;
  for (const MemberId id : state.members_on(node)) {
    const Member& member = state.member(id);
    if (!member.devices.test(device)) continue;
    text += (text.empty() ? "job " : ", job ") + std::to_string(member.job.row()) + " (" +
            std::to_string(state.demand(member.demand).devices.milli_each.value) + ")";
  }
  return text;
}

std::string named(JobId job) { return "job " + std::to_string(job.row()); }

}  // namespace

void Checks::fault(const Plan& plan, const std::string& words) {
  if (faults_.size() < kFaultsMax) faults_.push_back("at " + std::to_string(plan.at.value) + " ms: " + words);
}

void Checks::check_pace(const Plan& plan) {
  in_vain_ = plan.at == at_ && plan.actions.empty() ? in_vain_ + 1 : 0;
  at_ = plan.at;
  if (in_vain_ > kInVainMax) throw std::runtime_error("decisions do not come to an end");
}

/// No device of a node is given twice.
void Checks::check_devices(const State& state, const Plan& plan) {
  for (std::size_t n = 0; n < drawn_.nodes; ++n) {
    std::array<std::int64_t, kDevicesPerNode> taken{};
    for (const MemberId id : state.members_on(NodeId(n))) {
      const Member& member = state.member(id);
      if (state.job(member.job).is_hold) continue;
      const DeviceRequest& request = state.demand(member.demand).devices;
      if (member.devices.count() != request.count) fault(plan, named(member.job) + " has not the devices it requests");
      member.devices.each([&](int device) {
        if (device < kDevicesPerNode) taken[static_cast<std::size_t>(device)] += request.milli_each.value;
      });
    }
    for (std::size_t device = 0; device < taken.size(); ++device)
      if (taken[device] > kWhole)
        fault(plan, "GPU " + std::to_string(device) + " of node-" + std::to_string(n) +
                        " is given twice: " + users_text(state, NodeId(n), static_cast<int>(device)));
  }
}

void Checks::check_quotas(const State& state, const Plan& plan) {
  std::vector<std::int64_t> used(drawn_.queues.size());
  for (std::size_t row = 0; row < state.job_rows(); ++row) {
    if (!state.is_live(JobId(row)) || state.job(JobId(row)).is_hold) continue;
    state.each_member(JobId(row), [&](MemberId, const Member& member) {
      if (!member.is_placed()) return;
      for (int q = static_cast<int>(number_of(state.job(JobId(row)).queue)); q >= 0;
           q = drawn_.queues[static_cast<std::size_t>(q)].parent)
        used[static_cast<std::size_t>(q)] += state.demand(member.demand).devices.milli_total();
    });
  }
  for (std::size_t q = 0; q < used.size(); ++q)
    if (drawn_.queues[q].quota_gpus >= 0 && used[q] > drawn_.queues[q].quota_gpus * kWhole)
      fault(plan, "queue q" + std::to_string(q) + " uses more than its quota");
}

/// Gangs are whole and in one domain, and nothing starts in the window of others.
void Checks::check_started(const State& state, const Plan& plan) {
  std::map<JobId, std::uint32_t> jobs;  // with their members that the plan places
  for (const Action& action : plan.actions) {
    const auto* bind = std::get_if<Bind>(&action);
    if (bind == nullptr) continue;
    ++jobs[bind->job];
    for (const DrawnWindow& window : drawn_.windows) {
      if (window.node != bind->node.row() || plan.at < window.from || plan.at >= window.until) continue;
      int queue = static_cast<int>(number_of(state.job(bind->job).queue));
      while (queue >= 0 && queue != window.queue) queue = drawn_.queues[static_cast<std::size_t>(queue)].parent;
      if (window.queue < 0 || queue != window.queue)
        fault(plan, named(bind->job) + " starts on node-" + std::to_string(window.node) + ", which is kept for others");
    }
  }
  for (const auto& [id, placed] : jobs) {
    const Job& job = state.job(id);
    if (job.has_given_way) continue;
    ++starts_;
    if (placed == job.members_present)
      started_[incarnation(state, id)] = plan.at;  // else it gets back what it has lost
    if (job.members_placed != job.members_present) fault(plan, named(id) + " is started in part");
    std::set<std::size_t> racks;
    state.each_member(id, [&](MemberId, const Member& member) {
      if (member.is_placed()) racks.insert(member.node.row() / drawn_.per_rack);
    });
    if (!job.within.is_none() && racks.size() > 1) fault(plan, named(id) + " is spread over racks");
  }
}

bool Checks::gave_way_for(const Incarnation& one, const Incarnation& other) const {
  std::vector<Incarnation> open{one};
  std::set<Incarnation> seen;
  while (!open.empty()) {
    const Incarnation next = open.back();
    open.pop_back();
    if (next == other) return true;
    if (const auto it = gave_way_.find(next); seen.insert(next).second && it != gave_way_.end())
      open.insert(open.end(), it->second.begin(), it->second.end());
  }
  return false;
}

/// Each stop is for a job that starts at once, of one that is not protected, and not in a circle.
void Checks::check_stopped(const State& state, const Plan& plan) {
  for (auto it = gave_way_.begin(); it != gave_way_.end();) {
    std::erase_if(it->second, [&](const Incarnation& other) { return !is_present(state, other); });
    it = it->second.empty() || !is_present(state, it->first) ? gave_way_.erase(it) : std::next(it);
  }
  for (const Action& action : plan.actions) {
    const auto* evict = std::get_if<Evict>(&action);
    if (evict == nullptr) continue;
    ++stops_;
    const Incarnation victim = incarnation(state, evict->job), winner = incarnation(state, evict->for_job);
    const auto is_its = [&](const Action& other) {
      const auto* bind = std::get_if<Bind>(&other);
      return bind != nullptr && bind->job == evict->for_job;
    };
    if (std::ranges::none_of(plan.actions, is_its))
      fault(plan, named(evict->job) + " is stopped for one that waits on");
    if (drawn_.is_of_a_peer) continue;
    if (gave_way_for(winner, victim)) fault(plan, named(evict->job) + " is stopped by one that gave way for it");
    gave_way_[victim].insert(winner);
    const Job &stopped = state.job(evict->job), &started = state.job(evict->for_job);
    const DrawnQueue& queue = drawn_.queues[number_of(stopped.queue)];
    const bool is_own = stopped.queue == started.queue;
    const auto since = started_.find(victim);
    if (since != started_.end() && plan.at - since->second < (is_own ? queue.from_own : queue.from_others))
      fault(plan, named(evict->job) + " is stopped while it is protected");
    if (is_own && stopped.priority > started.priority) fault(plan, named(evict->job) + " has the higher priority");
  }
}

void Checks::look_at(const State& state, const Plan& plan) {
  ++decisions_;
  digest_ = digest_ * 1'099'511'628'211u + digest_of(plan);
  check_pace(plan);
  if (plan.actions.empty()) return;
  check_stopped(state, plan);
  check_started(state, plan);
  check_devices(state, plan);
  check_quotas(state, plan);
}

}  // namespace ashlar::bench
