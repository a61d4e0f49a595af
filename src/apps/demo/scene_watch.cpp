#include "apps/demo/scene_watch.h"

#include <cstdlib>

namespace ashlar::demo {
namespace {

/// "node-17" -> 17; -1 for other names.
int node_number(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  return dash == std::string_view::npos ? -1 : std::atoi(std::string(name.substr(dash + 1)).c_str());
}

}  // namespace

std::string own_words(const std::string& message) {
  constexpr std::string_view kHistogram = "nodes are available";
  const std::size_t histogram = message.find(kHistogram);
  const std::size_t end = histogram == std::string::npos ? histogram : message.find(". ", histogram);
  if (end == std::string::npos || message.find(kHistogram, end) != std::string::npos) return message;
  return message.substr(end + 2);
}

SceneWatch::SceneWatch(kube::Api& api, Scene& scene, std::string ns) : api_(api), scene_(scene), ns_(std::move(ns)) {}

void SceneWatch::start() {
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

Job* SceneWatch::job_of(std::string_view pod, int* member) {
  for (Job& job : scene_.jobs()) {
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

void SceneWatch::see_pod(const kube::Pod& pod) {
  int member = 0;
  Job* job = job_of(pod.name.view(), &member);
  if (job == nullptr) return;
  if (!pod.node_name.view().empty()) {
    const kube::PooledString* devices =
        pod.annotations == nullptr ? nullptr : kube::find_label(*pod.annotations, "ashlar.dev/cards");
    scene_.bind(*job, static_cast<std::size_t>(member), node_number(pod.node_name.view()),
                devices == nullptr ? "" : std::string(devices->view()), api_.now());
  } else if (pod.scheduled.status == kube::ConditionStatus::kFalse && !job->act.is_gang()) {
    note_wait(*job, std::string(pod.scheduled.reason.view()), std::string(pod.scheduled.message.view()));
  }
}

void SceneWatch::see_group(const kube::PodGroup& group) {
  for (Job& job : scene_.jobs())
    if (job.pod_prefix == group.name.view() && group.scheduled.status == kube::ConditionStatus::kFalse)
      note_wait(job, std::string(group.scheduled.reason.view()), std::string(group.scheduled.message.view()));
}

void SceneWatch::note_wait(Job& job, const std::string& reason, const std::string& message) {
  scene_.note_wait(job, message.empty() ? reason : own_words(message));
}

}  // namespace ashlar::demo
