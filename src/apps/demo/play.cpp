#include "apps/demo/play.h"

#include <algorithm>

#include "kubeclient/writes.h"

namespace ashlar::demo {
namespace {

constexpr Millis kFrame{100};
constexpr Millis kRemovalPatience{10'000};  ///< the next play needs the nodes empty

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

void Play::raise_due(Millis elapsed) {
  while (next_ < script_.acts.size() && script_.acts[next_].at <= elapsed) {
    const std::size_t first = next_;
    int members_max = 0;
    for (; next_ < script_.acts.size() && script_.acts[next_].at == script_.acts[first].at; ++next_) {
      const Act& act = script_.acts[next_];
      scene_.add(act, api_.now());
      if (act.is_gang() && options_.has_groups) create_group(act);
      members_max = std::max(members_max, act.members);
    }
    for (int member = 0; member < members_max; ++member)
      for (std::size_t a = first; a < next_; ++a)
        if (member < script_.acts[a].members) create_pod(script_.acts[a], member);
  }
}

void Play::create_group(const Act& act) {
  kube::PodGroupSpec group;
  group.ns = options_.ns;
  group.name = act.name;
  group.min_count = act.members;
  group.topology_key = act.within;
  group.priority_class = act.priority_class;
  kube::create_pod_group(api_, kube::PodGroupVersion::kV1Beta1, group, [](const kube::Answer&) {});
}

void Play::create_pod(const Act& act, int member) {
  kube::PodSpec pod;
  pod.ns = options_.ns;
  pod.name = act.name + "-" + std::to_string(member);
  pod.scheduler_name = options_.scheduler_name;
  if (act.is_gang() && options_.has_groups) pod.group_name = act.name;
  pod.priority_class = act.priority_class;
  pod.labels = {{"team", act.team}};
  if (options_.has_queues) pod.labels.emplace_back("ashlar.dev/queue", act.team);
  pod.requests = {{"cpu", std::to_string(kCoresPerPod)}, {"memory", std::to_string(kMemoryGibPerPod) + "Gi"}};
  if (act.gpus > 0) pod.requests.emplace_back("nvidia.com/gpu", std::to_string(act.gpus));
  if (act.milli_gpu > 0) pod.requests.emplace_back("ashlar.dev/gpu-milli", std::to_string(act.milli_gpu));
  kube::create_pod(api_, pod, [](const kube::Answer&) {});
}

void Play::remove_pods(Job& job) {
  for (int m = 0; m < job.act.members; ++m) {
    ++removals_open_;
    kube::remove(api_, kube::pod_path(options_.ns, job.act.name + "-" + std::to_string(m)), 0,
                 [this](const kube::Answer&) { --removals_open_; });
  }
}

void Play::end_what_has_run() {
  for (Job& job : scene_.jobs()) {
    if (job.is_over || !job.is_bound() || api_.now() - job.last_bound_at < job.act.runs_for) continue;
    job.is_over = true;
    remove_pods(job);
  }
}

Score Play::run() {
  watch_.start();
  const Millis start = api_.now();
  Millis last_frame = start;
  ScoreKeeper keeper;
  bool is_wanted = true;
  Millis finished = start;
  while (is_wanted && api_.now() - start < script_.length) {
    raise_due(api_.now() - start);
    api_.poll(Millis(20));
    end_what_has_run();
    if (api_.now() - last_frame < kFrame) continue;
    last_frame = api_.now();
    keeper.look(scene_, last_frame);
    if (options_.on_frame) is_wanted = options_.on_frame(scene_);
    finished = api_.now();
    if (next_ == script_.acts.size() && scene_.is_over()) break;
  }
  Score score = keeper.finish(scene_, start, finished);
  for (Job& job : scene_.jobs())
    if (!job.is_over && !(options_.keeps_waiting_jobs && !job.is_bound())) remove_pods(job);
  const Millis patience = api_.now() + kRemovalPatience;
  while (removals_open_ > 0 && api_.now() < patience) api_.poll(Millis(20));
  for (int i = 0; i < 20; ++i) api_.poll(Millis(20));  // schedulers hear of it
  return score;
}

}  // namespace ashlar::demo
