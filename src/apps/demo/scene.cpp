#include "apps/demo/scene.h"

#include <algorithm>
#include <set>

namespace ashlar::demo {
namespace {

constexpr std::size_t kNewsMax = 200;

std::string clipped(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 1) + "…";
}

/// Without "Gang train of 8: ", since the line names the job already; so more of the reason fits a terminal.
std::string without_gang(std::string words, const Act& act) {
  const std::string gang = "ang " + act.name + " of " + std::to_string(act.members) + ": ";
  const std::size_t at = words.find(gang);
  const bool is_named = at != std::string::npos && at > 0 && (words[at - 1] == 'g' || words[at - 1] == 'G');
  return is_named ? words.erase(at - 1, gang.size() + 1) : words;
}

/// "demo/train (vision)": the job as `ashlar why` knows it, by its PodGroup or its only pod, and its team.
std::string job_and_team(const Act& act) {
  return std::string(kStoryNamespace) + "/" + act.name + (act.is_gang() ? "" : "-0") + " (" + act.team + ")";
}

}  // namespace

int Job::racks() const {
  std::set<int> racks;
  for (const int n : node_of_member)
    if (n >= 0) racks.insert(n / kNodesPerRack);
  return static_cast<int>(racks.size());
}

void Scene::add(const Act& act, Millis now) {
  Job job;
  job.act = act;
  job.pod_prefix = act.name;
  job.created_at = now;
  job.node_of_member.assign(static_cast<std::size_t>(act.members), -1);
  job.bound_at_of_member.resize(static_cast<std::size_t>(act.members));
  job.devices_of_member.resize(static_cast<std::size_t>(act.members));
  jobs_.push_back(std::move(job));
}

void Scene::tell(const std::string& line) {
  news_.push_back(line);
  ++reported_;
  if (news_.size() > kNewsMax) news_.pop_front();
}

void Scene::bind(Job& job, std::size_t member, int node, std::string devices, Millis now) {
  if (job.node_of_member[member] >= 0) return;
  job.node_of_member[member] = node;
  job.devices_of_member[member] = std::move(devices);
  job.bound_at_of_member[member] = now;
  job.last_bound_at = now;
  if (job.bound++ == 0) job.first_bound_at = now;
  if (!job.is_bound()) return;
  const std::string where =
      job.act.is_gang() ? std::to_string(job.act.members) + " x " + std::to_string(job.act.gpus) + " GPUs in " +
                              (job.racks() == 1 ? "rack " + std::to_string(job.node_of_member[0] / kNodesPerRack)
                                                : std::to_string(job.racks()) + " racks")
                        : "node " + std::to_string(job.node_of_member[0]);
  const auto waited = (job.last_bound_at - job.created_at).value;
  tell("+ " + job_and_team(job.act) + "  " + where +
       (waited > 1500 ? "  after " + std::to_string(waited / 1000) + " s" : ""));
  job.waits_because.clear();
}

void Scene::note_wait(Job& job, const std::string& words) {
  if (job.is_bound() || job.waits_because == words) return;
  job.waits_because = words;
  tell("~ " + job_and_team(job.act) + "  waits: " + clipped(without_gang(words, job.act), 220));
}

bool Scene::is_over() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.is_over; });
}

}  // namespace ashlar::demo
