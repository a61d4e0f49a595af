// `ashlar load TRACE --nodes NODE_LIST`: posts nodes and the pods of a trace (openb, Philly, Standard Workload Format)
// to a real cluster, in the order of creation and, if the trace has times, at their times divided by --speed. Pods
// carry their run time for kwok, which ends them (deploy/kwok-stages.yaml).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "apps/ashlar/shared/json.h"
#include "apps/ashlar/shared/usage.h"
#include "apps/ashlar/verbs.h"
#include "cli/progress.h"
#include "kubeclient/credentials/kubeconfig.h"
#include "kubeclient/writes.h"
#include "sim/trace/openb.h"
#include "sim/trace/trace_pods.h"

namespace ashlar {
namespace {

constexpr std::size_t kInFlightMax = 64;  ///< what one connection carries well
constexpr std::size_t kFailuresShown = 5;
constexpr double kSpeedMax = 1e9;

struct LoadOptions {
  std::string trace, nodes, kubeconfig, ns = "default", scheduler_name = "ashlar";
  std::string format = "auto", processors = "gpu", output = "text";
  double speed = 0;  ///< 0: as fast as the API server takes them
  std::int64_t limit = INT64_MAX;
  std::int32_t per_pod = 8;
  bool has_queues = false;
};

[[noreturn]] void refuse(int status, const std::string& message) {
  std::cerr << "ashlar load: " << message << '\n';
  throw CLI::RuntimeError(status);
}

/// Names of objects are lower-case letters, digits and dashes.
std::string object_name(std::string name) {
  for (char& c : name)
    c = std::isalnum(static_cast<unsigned char>(c)) != 0
            ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
            : '-';
  return name;
}

kube::NodeSpec node_spec(const sim::OpenbNode& node) {
  kube::NodeSpec spec;
  spec.name = object_name(node.name);
  spec.labels = {{"kubernetes.io/hostname", spec.name}, {"type", "kwok"}};
  if (!node.model.empty()) spec.labels.emplace_back("nvidia.com/gpu.product", node.model);
  spec.annotations = {{"kwok.x-k8s.io/node", "fake"}};
  spec.allocatable = {{"cpu", std::to_string(node.cpu.value) + "m"},
                      {"memory", std::to_string(node.memory.value) + "Mi"},
                      {"pods", "1001"}};
  if (node.gpus > 0) {
    spec.allocatable.emplace_back("nvidia.com/gpu", std::to_string(node.gpus));
    spec.allocatable.emplace_back("ashlar.dev/gpu-milli", std::to_string(node.gpus * 1000));
  }
  return spec;
}

/// Models as a required node affinity, which every scheduler understands.
std::string affinity_of(const std::vector<std::string>& models) {
  std::string values;
  for (const std::string& model : models) values += (values.empty() ? "\"" : ",\"") + model + "\"";
  return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":)"
         R"([{"key":"nvidia.com/gpu.product","operator":"In","values":[)" +
         values + "]}]}]}}}";
}

kube::PodSpec pod_spec(const sim::TracePod& pod, const LoadOptions& options) {
  kube::PodSpec spec;
  spec.ns = options.ns;
  spec.name = object_name(pod.name);
  spec.scheduler_name = options.scheduler_name;
  if (pod.cpu.value > 0) spec.requests.emplace_back("cpu", std::to_string(pod.cpu.value) + "m");
  if (pod.memory.value > 0) spec.requests.emplace_back("memory", std::to_string(pod.memory.value) + "Mi");
  if (pod.gpus > 0 && pod.milli_each.value < 1000)
    spec.requests.emplace_back("ashlar.dev/gpu-milli", std::to_string(pod.milli_each.value));
  else if (pod.gpus > 0)
    spec.requests.emplace_back("nvidia.com/gpu", std::to_string(pod.gpus));
  if (!pod.models.empty()) spec.extra_spec_json = affinity_of(pod.models);
  if (!pod.gang.empty())
    spec.labels = {{"ashlar.dev/gang", object_name(pod.gang)}, {"ashlar.dev/gang-size", std::to_string(pod.gang_size)}};
  if (options.has_queues && !pod.queue.empty()) spec.labels.emplace_back("ashlar.dev/queue", object_name(pod.queue));
  if (pod.duration) {
    const double speed = options.speed > 0 ? options.speed : 1;
    const auto seconds =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(pod.duration->value) / 1000 / speed));
    spec.annotations = {{"ashlar.dev/duration", std::to_string(seconds) + "s"}};
  }
  return spec;
}

/// What became of the objects of a kind.
struct Posted {
  std::size_t posted = 0, rejected = 0;
};

/// Sends `count` writes in order, a bounded number at a time, none before its scheduled time; the first failures are
/// shown.
class Sender {
 public:
  explicit Sender(kube::Api& api) : api_(api) {}
  template <class Write, class At>
  Posted run(const std::string& kind, std::size_t count, At&& at, Write&& write) {
    const std::string what = kind == "Node" ? "nodes" : "pods";
    cli::ProgressBar bar(what, count);
    const auto began = std::chrono::steady_clock::now();
    const auto passed = [&] {
      return Millis(
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began).count());
    };
    std::size_t sent = 0, answered = 0, failures = 0;
    while (answered < count) {
      while (sent < count && sent - answered < kInFlightMax && at(sent) <= passed()) {
        write(sent++, [&](const kube::Answer& answer) {
          ++answered;
          // The server answers with the object; a proxy's page may return 200 for anything.
          if (answer.ok() && answer.body.find("\"kind\":\"" + kind + "\"") != std::string::npos) return;
          const std::string why = answer.ok() ? "the server answered HTTP " + std::to_string(answer.status) +
                                                    " but created nothing; is it an API server?"
                                              : answer.result.error().message;
          if (++failures <= kFailuresShown) std::cerr << "ashlar load: " << why << '\n';
        });
      }
      api_.poll(Millis(sent < count ? 5 : 100));
      bar.update(answered);
    }
    return {count - failures, failures};
  }

 private:
  kube::Api& api_;
};

sim::TracePodOptions trace_options(const LoadOptions& options) {
  sim::TracePodOptions read{.format = std::nullopt,
                            .gpus_per_pod = options.per_pod,
                            .is_of_cores = options.processors == "cpu",
                            .jobs_max = options.limit};
  if (options.format == "openb") read.format = sim::TraceFormat::kOpenb;
  if (options.format == "philly") read.format = sim::TraceFormat::kPhilly;
  if (options.format == "swf") read.format = sim::TraceFormat::kSwf;
  return read;
}

void print_result(const LoadOptions& options, const sim::TracePods& trace, const Posted& nodes, const Posted& pods) {
  if (options.output == "json") {
    const auto counts = [](const Posted& of) {
      return boost::json::object{{"posted", of.posted}, {"rejected", of.rejected}};
    };
    std::cout << json_document(
        "LoadReport",
        {{"nodes", counts(nodes)}, {"pods", counts(pods)}, {"jobs", trace.jobs}, {"skippedJobs", trace.skipped}});
    return;
  }
  if (trace.skipped > 0)
    std::cout << trace.skipped << " jobs of the trace left out: they never ran, or their run time is not known\n";
  std::cout << "nodes: " << nodes.posted << " posted, " << nodes.rejected << " rejected\npods: " << pods.posted
            << " posted, " << pods.rejected << " rejected\n";
}

std::unique_ptr<kube::Api> connect(const LoadOptions& options) {
  Result<kube::Access> access = kube::load_access({.kubeconfig = options.kubeconfig, .context = {}, .environment = {}});
  if (!access) refuse(access.error().kind == Error::Kind::kInvalid ? kBadInput : kFailed, access.error().message);
  Result<std::unique_ptr<kube::Api>> api =
      kube::Api::create({.access = std::move(access).value(), .user_agent = "ashlar-load"});
  if (!api) refuse(kFailed, api.error().message);
  return std::move(api).value();
}

void run_load(const LoadOptions& options) {
  std::vector<sim::OpenbNode> nodes;
  if (!options.nodes.empty()) {
    Result<std::vector<sim::OpenbNode>> read = sim::read_openb_nodes(options.nodes);
    if (!read) refuse(kBadInput, read.error().message);
    nodes = std::move(read).value();
  }
  const Result<sim::TracePods> trace = sim::read_trace_pods(options.trace, nodes, trace_options(options));
  if (!trace) refuse(kBadInput, trace.error().message);
  const std::vector<sim::TracePod>& pods = trace->pods;
  const std::unique_ptr<kube::Api> api = connect(options);
  Sender sender(*api);
  const Posted posted_nodes = sender.run(
      "Node", nodes.size(), [](std::size_t) { return Millis(0); },
      [&](std::size_t i, const kube::OnAnswer& done) { kube::post_node(*api, node_spec(nodes[i]), api->now(), done); });
  const Millis first = pods.empty() ? Millis(0) : pods.front().submit.value_or(Millis(0));
  const auto moment = [&](std::size_t i) {
    if (options.speed <= 0) return Millis(0);
    return Millis(
        static_cast<std::int64_t>(static_cast<double>((pods[i].submit.value_or(first) - first).value) / options.speed));
  };
  const Posted posted_pods = sender.run("Pod", pods.size(), moment, [&](std::size_t i, kube::OnAnswer done) {
    kube::create_pod(*api, pod_spec(pods[i], options), std::move(done));
  });
  print_result(options, *trace, posted_nodes, posted_pods);
  if (const std::size_t rejected = posted_nodes.rejected + posted_pods.rejected; rejected > 0)
    refuse(kFailed, std::to_string(rejected) +
                        " objects were rejected; the first errors are shown above. Objects already posted are kept");
}

}  // namespace

void add_load(CLI::App& app) {
  auto options = std::make_shared<LoadOptions>();
  CLI::App* verb = app.add_subcommand("load", "Post a trace's nodes and pods to a real cluster");
  verb->add_option("TRACE", options->trace,
                   "Pod list in openb columns, Philly's cluster_job_log, or Standard Workload Format (plain, .gz, .xz, "
                   ".zst)")
      ->required()
      ->type_name("")
      ->check(any_file());
  verb->add_option("--format", options->format, "Format of TRACE: auto, openb, philly or swf")
      ->type_name("FORMAT")
      ->check(one_of({"auto", "openb", "philly", "swf"}))
      ->capture_default_str();
  verb->add_option("--nodes", options->nodes, "Node list in openb columns; without it only pods are posted")
      ->type_name("FILE")
      ->check(any_file());
  verb->add_option("--kubeconfig", options->kubeconfig,
                   "Kubeconfig file; else $KUBECONFIG, ~/.kube/config, or the service account of the pod")
      ->type_name("FILE")
      ->check(any_file());
  verb->add_option("-n,--namespace", options->ns, "Namespace of the pods")
      ->type_name("NAMESPACE")
      ->capture_default_str();
  verb->add_option("--scheduler-name", options->scheduler_name, "Value of spec.schedulerName of the pods")
      ->type_name("NAME")
      ->capture_default_str();
  verb->add_option("--speed", options->speed, "Trace seconds per second; 0 = as fast as possible")
      ->type_name("FACTOR")
      ->check(number_in(0, kSpeedMax))
      ->capture_default_str();
  verb->add_option("--limit", options->limit, "Maximum number of jobs (of an openb list: pods)")
      ->type_name("NUMBER")
      ->check(whole_number(0))
      ->default_str("all");
  verb->add_flag("--queues", options->has_queues,
                 "Put pods into the queue of their virtual cluster (Philly) or queue (SWF), which must be configured");
  verb->add_option("--per-pod", options->per_pod, "Processors per pod of an SWF job; a wider job is a gang of pods")
      ->type_name("NUMBER")
      ->check(whole_number(1, 128))
      ->capture_default_str();
  verb->add_option("--processors", options->processors, "What a processor of an SWF job is: gpu or cpu")
      ->type_name("KIND")
      ->check(one_of({"gpu", "cpu"}))
      ->capture_default_str();
  add_format_option(*verb, options->output, {"text", "json"});
  verb->callback([options] { run_load(*options); });
}

}  // namespace ashlar
