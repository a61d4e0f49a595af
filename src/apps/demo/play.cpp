#include "apps/demo/play.h"

#include <algorithm>
#include <set>

#include "kubeclient/writes.h"

namespace ashlar::demo {
namespace {

constexpr Millis kFrame{100};

}  // namespace

Result<void> post_nodes(kube::Api& api) {
  int answered = 0;
  Result<void> first_failure;
  for (int n = 0; n < kNodes; ++n) {
    const int rack = n / kNodesPerRack;
    kube::NodeSpec spec;
    spec.name = "node-" + std::to_string(n);
    spec.labels = {{"kubernetes.io/hostname", spec.name},
                   {"rack", "rack-" + std::to_string(rack)},
                   {"block", "block-" + std::to_string(rack / kRacksPerBlock)},
                   {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                   {"nvidia.com/gpu.memory", std::to_string(kGpuMemoryMib)}};
    spec.annotations = {{"kwok.x-k8s.io/node", "fake"}};
    spec.allocatable = {{"cpu", std::to_string(kCoresPerNode)},
                        {"memory", std::to_string(kMemoryGibPerNode) + "Gi"},
                        {"pods", std::to_string(kPodsPerNode)},
                        {"nvidia.com/gpu", std::to_string(kGpusPerNode)},
                        {"ashlar.dev/gpu-milli", std::to_string(kGpusPerNode * 1000)}};
    kube::post_node(api, spec, api.now(), [&](const kube::Answer& answer) {
      ++answered;
      if (!answer.ok() && answer.status != 409 && first_failure.ok()) first_failure = answer.result.error();
    });
  }
  while (answered < kNodes) api.poll(Millis(50));
  return first_failure;
}

Play::Play(kube::Api& api, Script script, PlayOptions options)
    : api_(api), script_(std::move(script)), options_(std::move(options)), watch_(api, scene_, options_.ns) {}

void Play::raise(const Act& act) {
  scene_.add(act, api_.now());
  const bool is_group = act.is_gang() && options_.has_groups;
  if (is_group) {
    kube::PodGroupSpec group;
    group.ns = options_.ns;
    group.name = act.name;
    group.min_count = act.members;
    group.topology_key = act.within;
    group.priority_class = act.priority_class;
    kube::create_pod_group(api_, kube::PodGroupVersion::kV1Beta1, group, [](const kube::Answer&) {});
  }
  for (int m = 0; m < act.members; ++m) {
    kube::PodSpec pod;
    pod.ns = options_.ns;
    pod.name = act.name + "-" + std::to_string(m);
    pod.scheduler_name = options_.scheduler_name;
    if (is_group) pod.group_name = act.name;
    pod.priority_class = act.priority_class;
    pod.labels = {{"team", act.team}};
    if (options_.has_queues) pod.labels.emplace_back("ashlar.dev/queue", act.team);
    pod.requests = {{"cpu", std::to_string(kCoresPerPod)}, {"memory", std::to_string(kMemoryGibPerPod) + "Gi"}};
    if (act.gpus > 0) pod.requests.emplace_back("nvidia.com/gpu", std::to_string(act.gpus));
    if (act.milli_gpu > 0) pod.requests.emplace_back("ashlar.dev/gpu-milli", std::to_string(act.milli_gpu));
    kube::create_pod(api_, pod, [](const kube::Answer&) {});
  }
}

void Play::remove_pods(Job& job) {
  for (int m = 0; m < job.act.members; ++m)
    kube::remove(api_, kube::pod_path(options_.ns, job.act.name + "-" + std::to_string(m)), 0,
                 [](const kube::Answer&) {});
}

void Play::end_what_has_run() {
  for (Job& job : scene_.jobs()) {
    if (job.is_over || !job.is_bound() || api_.now() - job.last_bound_at < job.act.runs_for) continue;
    job.is_over = true;
    remove_pods(job);
  }
}

void Play::count_idle(Millis step, Score& score) {
  int used = 0;
  int smallest = INT32_MAX;
  for (const Job& job : scene_.jobs()) {
    if (job.is_over) continue;
    used += job.bound * job.act.gpus;
    const bool is_late = job.act.can_ever_run() && !job.is_bound() && api_.now() - job.created_at > Millis(500);
    if (is_late) smallest = std::min(smallest, job.act.gpus_total());
  }
  const int idle = kNodes * kGpusPerNode - used;
  if (smallest <= idle) score.idle_gpu_seconds += static_cast<double>(idle) * static_cast<double>(step.value) / 1000;
}

Score Play::run() {
  watch_.start();
  const Millis start = api_.now();
  Millis last_frame = start;
  Score score;
  bool is_wanted = true;
  Millis finished = start;
  while (is_wanted && api_.now() - start < script_.length) {
    const Millis t = api_.now() - start;
    while (next_ < script_.acts.size() && script_.acts[next_].at <= t) raise(script_.acts[next_++]);
    api_.poll(Millis(20));
    end_what_has_run();
    if (api_.now() - last_frame < kFrame) continue;
    count_idle(api_.now() - last_frame, score);
    last_frame = api_.now();
    if (options_.on_frame) is_wanted = options_.on_frame(scene_);
    finished = api_.now();
    if (next_ == script_.acts.size() && scene_.is_over()) break;
  }
  score.finished_seconds = static_cast<double>((finished - start).value) / 1000;
  std::set<std::string> gangs_started;
  for (Job& job : scene_.jobs()) {
    score.jobs_left += job.is_over ? 0 : 1;
    if (!job.act.is_gang()) continue;
    ++score.gangs;
    if (!job.is_bound()) continue;
    ++score.gangs_started;
    const bool could_be_whole = job.act.members * job.act.gpus <= kNodesPerRack * kGpusPerNode;
    score.gangs_split += could_be_whole && job.racks() > 1 ? 1 : 0;
  }
  for (Job& job : scene_.jobs())
    if (!job.is_over && !(options_.keeps_waiting_jobs && !job.is_bound())) remove_pods(job);
  for (int i = 0; i < 20; ++i) api_.poll(Millis(20));
  return score;
}

}  // namespace ashlar::demo
