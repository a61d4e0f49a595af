#include "apps/demo/scene.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace ashlar::demo {
namespace {

constexpr std::size_t kNewsMax = 200;

/// "node-17" -> 17; -1 for other names.
int node_number(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  return dash == std::string_view::npos ? -1 : std::atoi(std::string(name.substr(dash + 1)).c_str());
}

std::string clipped(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 1) + "…";
}

}  // namespace

std::string own_words(const std::string& message) {
  constexpr std::string_view kHistogram = "nodes are available";
  const std::size_t histogram = message.find(kHistogram);
  const std::size_t end = histogram == std::string::npos ? histogram : message.find(". ", histogram);
  if (end == std::string::npos || message.find(kHistogram, end) != std::string::npos) return message;
  return message.substr(end + 2);
}

int Job::racks() const {
  std::set<int> racks;
  for (const int n : node_of_member)
    if (n >= 0) racks.insert(n / kNodesPerRack);
  return static_cast<int>(racks.size());
}

Scene::Scene(kube::Api& api, std::string ns) : api_(api), ns_(std::move(ns)) {}

void Scene::start() {
  kube::ReflectorOptions pods;
  pods.path = "/api/v1/namespaces/" + ns_ + "/pods";
  pods_ = std::make_unique<kube::Reflector<kube::Pod>>(api_, pods, [this](kube::Change<kube::Pod>&& change) {
    if (change.kind == kube::Change<kube::Pod>::Kind::kAdded || change.kind == kube::Change<kube::Pod>::Kind::kModified)
      see_pod(change.object);
  });
  kube::ReflectorOptions groups;
  groups.path = "/apis/scheduling.k8s.io/v1beta1/namespaces/" + ns_ + "/podgroups";
  groups_ =
      std::make_unique<kube::Reflector<kube::PodGroup>>(api_, groups, [this](kube::Change<kube::PodGroup>&& change) {
        if (change.kind == kube::Change<kube::PodGroup>::Kind::kAdded ||
            change.kind == kube::Change<kube::PodGroup>::Kind::kModified)
          see_group(change.object);
      });
  pods_->start();
  groups_->start();
  for (int i = 0; i < 200 && !(pods_->is_synced() && groups_->is_synced()); ++i) api_.poll(Millis(50));
}

void Scene::tell(const std::string& line) {
  news_.push_back(line);
  if (news_.size() > kNewsMax) news_.pop_front();
}

Job* Scene::job_of(std::string_view pod, int* member) {
  for (Job& job : jobs_) {
    if (pod.size() <= job.pod_prefix.size() + 1 || pod.substr(0, job.pod_prefix.size()) != job.pod_prefix ||
        pod[job.pod_prefix.size()] != '-')
      continue;
    const std::string tail(pod.substr(job.pod_prefix.size() + 1));
    if (tail.find_first_not_of("0123456789") != std::string::npos) continue;
    *member = std::atoi(tail.c_str());
    return *member < job.act.members ? &job : nullptr;
  }
  return nullptr;
}

void Scene::see_pod(const kube::Pod& pod) {
  int member = 0;
  Job* job = job_of(pod.name.view(), &member);
  if (job == nullptr) return;
  const auto m = static_cast<std::size_t>(member);
  if (!pod.node_name.view().empty() && job->node_of_member[m] < 0) {
    job->node_of_member[m] = node_number(pod.node_name.view());
    const kube::PooledString* devices =
        pod.annotations == nullptr ? nullptr : kube::find_label(*pod.annotations, "ashlar.dev/cards");
    if (devices != nullptr) job->devices_of_member[m] = std::string(devices->view());
    job->last_bound_at = api_.now();
    if (job->bound++ == 0) job->first_bound_at = job->last_bound_at;
    if (!job->is_bound()) return;
    const std::string where =
        job->act.is_gang() ? std::to_string(job->act.members) + " x " + std::to_string(job->act.gpus) + " GPUs in " +
                                 (job->racks() == 1 ? "rack " + std::to_string(job->node_of_member[0] / kNodesPerRack)
                                                    : std::to_string(job->racks()) + " racks")
                           : "node " + std::to_string(job->node_of_member[0]);
    const auto waited = (job->last_bound_at - job->created_at).value;
    tell("+ " + job->act.team + "/" + job->act.name + "  " + where +
         (waited > 1500 ? "  after " + std::to_string(waited / 1000) + " s" : ""));
    job->waits_because.clear();
  } else if (pod.node_name.view().empty() && pod.scheduled.status == kube::ConditionStatus::kFalse &&
             !job->act.is_gang()) {
    note_wait(*job, std::string(pod.scheduled.reason.view()), std::string(pod.scheduled.message.view()));
  }
}

void Scene::see_group(const kube::PodGroup& group) {
  for (Job& job : jobs_)
    if (job.pod_prefix == group.name.view() && group.scheduled.status == kube::ConditionStatus::kFalse)
      note_wait(job, std::string(group.scheduled.reason.view()), std::string(group.scheduled.message.view()));
}

void Scene::note_wait(Job& job, const std::string& reason, const std::string& message) {
  const std::string text = message.empty() ? reason : own_words(message);
  if (job.is_bound() || job.waits_because == text) return;
  job.waits_because = text;
  tell("~ " + job.act.team + "/" + job.act.name + "  waits: " + clipped(text, 220));
}

}  // namespace ashlar::demo
