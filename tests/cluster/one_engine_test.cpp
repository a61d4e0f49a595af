// One engine: the first 2,000 pods of the openb trace through a real API server end on exactly the nodes and devices
// that `ashlar sim packing` gives.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cluster/scheduler_world.h"
#include "config/profile_file.h"
#include "folders.h"
#include "sim/replay/packing.h"
#include "sim/trace/text_source.h"

namespace ashlar::live_tests {
namespace {

constexpr std::size_t kPods = 2000;
constexpr std::uint64_t kSeed = 42;

struct Trace {
  std::vector<sim::OpenbNode> nodes_by_rank;
  std::vector<sim::OpenbPod> arrivals;
  sim::ArrivalOrder order;  ///< the first kPods of it
  std::optional<sim::PackingTrace> packing;
};

std::string traces_folder() {
  const char* folder = std::getenv("ASHLAR_TRACES");
  return folder != nullptr ? folder : std::string(ASHLAR_SOURCE_DIR) + "/../shared/traces";
}

Result<Trace> read_trace(const std::string& folder) {
  Trace trace;
  auto nodes = sim::read_openb_nodes(folder + "/packing/openb/openb_node_list_gpu_node.csv.zst");
  if (!nodes) return nodes.error();
  auto pods = sim::read_openb_pods(folder + "/packing/openb/openb_pod_list_default.csv.zst", *nodes);
  if (!pods) return pods.error();
  auto orders = sim::read_arrivals(folder + "/packing/fgd-arrivals/default.csv.xz", pods->size(), nodes->size());
  if (!orders) return orders.error();
  const auto order =
      std::find_if(orders->begin(), orders->end(), [](const sim::ArrivalOrder& o) { return o.seed == kSeed; });
  if (order == orders->end()) return invalid("no arrival order of seed 42");
  const std::vector<std::uint32_t> by_name = sim::sorted_by_name(*nodes);
  trace.nodes_by_rank.resize(nodes->size());
  for (std::size_t i = 0; i < by_name.size(); ++i) trace.nodes_by_rank[order->node_ranks[i]] = (*nodes)[by_name[i]];
  const std::vector<std::uint32_t> pods_by_name = sim::sorted_by_name(*pods);
  trace.order = *order;
  trace.order.arrivals.resize(std::min(kPods, order->arrivals.size()));
  for (const std::uint32_t row : trace.order.arrivals) trace.arrivals.push_back((*pods)[pods_by_name[row]]);
  Result<sim::PackingTrace> packing = sim::PackingTrace::make(*nodes, *pods);
  if (!packing) return packing.error();
  trace.packing = std::move(packing).value();
  return trace;
}

/// "node 17 devices 0,3"; empty where the pod is refused.
using Placements = std::vector<std::string>;

/// The simulator of `ashlar sim packing`.
Placements simulate(const Trace& trace, const Profile& profile) {
  Placements placements;
  const auto arrived = [&](NodeId node, const DeviceMask& devices) {
    placements.push_back(node.is_none() ? ""
                                        : "node " + std::to_string(node.value) + " cards " + devices_text(devices));
  };
  sim::run_packing(*trace.packing, trace.order, profile, {.progress = {}, .arrived = arrived});
  return placements;
}

class OneEngine : public SchedulerWorld {
 protected:
  static kube::NodeSpec node_of(const sim::OpenbNode& node, std::size_t rank) {
    kube::NodeSpec spec;
    spec.name = "n" + std::to_string(rank);
    if (!node.model.empty()) spec.labels = {{"nvidia.com/gpu.product", node.model}};
    spec.allocatable = {{"cpu", std::to_string(node.cpu.value) + "m"},
                        {"memory", std::to_string(node.memory.value) + "Mi"},
                        {"pods", "1001"},
                        {"nvidia.com/gpu", std::to_string(node.gpus)},
                        {"ashlar.dev/gpu-milli", std::to_string(node.gpus * 1000)}};
    return spec;
  }
  static kube::PodSpec pod_of(const sim::OpenbPod& pod, std::size_t i) {
    kube::PodSpec spec;
    spec.name = "p" + std::to_string(i);
    spec.scheduler_name = "ashlar";
    spec.requests = {{"cpu", std::to_string(pod.cpu.value) + "m"}, {"memory", std::to_string(pod.memory.value) + "Mi"}};
    if (pod.gpus > 0 && pod.milli_each.value < 1000)
      spec.requests.emplace_back("ashlar.dev/gpu-milli", std::to_string(pod.milli_each.value));
    else if (pod.gpus > 0)
      spec.requests.emplace_back("nvidia.com/gpu", std::to_string(pod.gpus));
    if (!pod.models.empty()) {
      std::string values;
      for (const std::string& model : pod.models) values += (values.empty() ? "\"" : ",\"") + model + "\"";
      spec.extra_spec_json =
          R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":)"
          R"([{"key":"nvidia.com/gpu.product","operator":"In","values":[)" +
          values + "]}]}]}}}";
    }
    return spec;
  }
  /// Where the pod ended, by a watch of ours; waits for the binding or the refusal.
  Placements run_live(const Trace& trace) {
    std::map<std::string, std::string> ended;
    kube::Reflector<kube::Pod> watch(*api_, {}, [&](kube::Change<kube::Pod>&& change) {
      const kube::Pod& p = change.object;
      if (change.kind == kube::Change<kube::Pod>::Kind::kSynced ||
          change.kind == kube::Change<kube::Pod>::Kind::kDeleted)
        return;
      if (!p.node_name.empty()) {
        const kube::PooledString* devices =
            p.annotations ? kube::find_label(*p.annotations, "ashlar.dev/cards") : nullptr;
        ended[p.name.str()] =
            "node " + p.node_name.str().substr(1) + " cards " + (devices == nullptr ? "" : devices->str());
      } else if (p.scheduled.status == kube::ConditionStatus::kFalse) {
        ended[p.name.str()] = "";
      }
    });
    watch.start();
    Placements placements;
    for (std::size_t i = 0; i < trace.arrivals.size(); ++i) {
      const std::string name = "p" + std::to_string(i);
      must([&](OnAnswer done) { kube::create_pod(*api_, pod_of(trace.arrivals[i], i), std::move(done)); });
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!ended.contains(name) && std::chrono::steady_clock::now() < deadline) api_->poll(Millis(20));
      if (!ended.contains(name)) {
        ADD_FAILURE() << name << " was neither bound nor refused";
        return placements;
      }
      placements.push_back(ended[name]);
    }
    return placements;
  }
};

TEST_F(OneEngine, TheApiServerAndTheSimulatorGiveTheSameNodesAndDevices) {
  const std::string folder = traces_folder();
  if (!std::filesystem::exists(folder + "/packing/openb"))
    GTEST_SKIP() << "skipped: no traces in " << folder << " (ASHLAR_TRACES)";
  Result<Trace> trace = read_trace(folder);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  // The mix is a file that the profile names, for the simulator and the scheduler alike.
  const Result<std::string> pods = sim::read_text(folder + "/packing/openb/openb_pod_list_default.csv.zst");
  ASSERT_TRUE(pods.ok()) << pods.error().message;
  std::ofstream(plane_->folder() + "/pods.csv") << *pods;
  std::ofstream(plane_->folder() + "/fgd.yaml")
      << "apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\nname: fgd\nbase: fgd\nseed: " << kSeed
      << "\nmix: {podList: pods.csv}\n";
  const Result<config::ProfileSpec> spec = config::find_profile(plane_->folder() + "/fgd.yaml");
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  const Placements expected = simulate(*trace, config::resolved(*spec, [&](std::string_view model) {
    return trace->packing->catalog().find_model(model);
  }));
  kube::SchedulerOptions o = options();
  o.leader_term.tracker.levels.clear();
  o.leader_term.tracker.models.clear();
  o.leader_term.profile = [&](const std::function<DeviceClassId(std::string_view)>& model_of) {
    return config::resolved(*spec, model_of);
  };
  auto scheduler = start(o);
  ASSERT_TRUE(wait([&] { return has_logged("caches are synced"); }));
  for (std::size_t rank = 0; rank < trace->nodes_by_rank.size(); ++rank)
    must([&](OnAnswer done) {
      kube::post_node(*api_, node_of(trace->nodes_by_rank[rank], rank), api_->now(), std::move(done));
    });
  const Placements live = run_live(*trace);
  ASSERT_EQ(live.size(), expected.size());
  std::size_t different = 0, refused = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    refused += expected[i].empty() ? 1 : 0;
    if (live[i] == expected[i]) continue;
    if (++different == 1)
      ADD_FAILURE() << "pod " << i << " is on '" << live[i] << "', the simulator gives '" << expected[i] << "'";
  }
  EXPECT_EQ(different, 0u) << "of " << live.size() << ", " << refused << " refused by the simulator";
  RecordProperty("refused", static_cast<int>(refused));
}

}  // namespace
}  // namespace ashlar::live_tests
