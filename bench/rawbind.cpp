// bench_rawbind: what the API server takes from a client that does not think. Needs a cluster it may fill: KUBECONFIG
// or --kubeconfig, for instance `build/release/bin/with_cluster build/release/bin/bench_rawbind`. Nodes and pods stay
// behind.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "rawbind.h"

namespace {

using namespace ashlar;

void print(const char* what, const bench::RawBindOptions& options, const bench::RawBindReport& report) {
  std::printf("%-44s %8.0f pods/s  %6.2f s  client CPU %.2f s per 10,000 (%.1f us each), server %.2f s  failed %zu\n",
              what, report.rate(options), report.seconds, report.cpu_per_10k(options),
              report.cpu_per_10k(options) * 100, report.server_cpu_seconds * 1e4 / static_cast<double>(options.pods),
              report.failed);
  std::fflush(stdout);
}

/// Fills the cluster up to `options.pods` assigned pods and reads them in both encodings and several page sizes.
void measure_lists(kube::Api& api, const bench::RawBindOptions& options) {
  std::size_t failed = bench::pump(api, options.pods, options.in_flight, [&](std::size_t i, kube::OnAnswer on_answer) {
    kube::create_pod(api,
                     {.name = "listed-" + std::to_string(i),
                      .scheduler_name = "raw-bind",
                      .node_name = bench::node_name(i % options.nodes),
                      .labels = {{"app", "train"}, {"job", "j" + std::to_string(i / 8)}},
                      .requests = {{"cpu", "1"}, {"memory", "8Gi"}, {"nvidia.com/gpu", "1"}}},
                     std::move(on_answer));
  });
  std::printf("%zu pods created, %zu failed\n", options.pods, failed);
  for (const std::size_t page : {500u, 1000u, 2000u, 5000u, 0u}) {
    const bench::ListReport r = bench::list_all(api, page);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "list %zu pods, page %zu: %.2f s, client CPU %.2f s (%.1f us a pod), server CPU %.2f s, %.1f MB, %.0f "
        "bytes a pod, peak RSS %ld MB\n",
        r.pods, page, r.seconds, r.client_cpu_seconds, r.client_cpu_seconds * 1e6 / static_cast<double>(r.pods),
        r.server_cpu_seconds, static_cast<double>(r.bytes) * 1e-6,
        static_cast<double>(r.bytes) / static_cast<double>(r.pods), usage.ru_maxrss / 1024);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::RawBindOptions options;
  kube::AccessSources sources;
  std::string bind_encoding = "json", mode = "drain";
  int repeat = 1;
  bool no_watch = false;
  CLI::App app("raw bind rate of an API server");
  app.add_option("--kubeconfig", sources.kubeconfig, "cluster to fill (default: KUBECONFIG)");
  app.add_option("--pods", options.pods, "pods of one run");
  app.add_option("--nodes", options.nodes, "nodes, created where absent");
  app.add_option("--in-flight", options.in_flight, "bindings unanswered at once");
  app.add_option("--gpus", options.gpus, "nvidia.com/gpu of each pod");
  app.add_option("--repeat", repeat, "runs");
  app.add_option("--bind-encoding", bind_encoding, "of the bindings")->check(CLI::IsMember({"json", "protobuf"}));
  app.add_option("--mode", mode, "drain: pods exist; arrival: created meanwhile; list: read all pods")
      ->check(CLI::IsMember({"drain", "arrival", "list"}));
  app.add_flag("--no-watch", no_watch, "do not hold a pod watch open");
  CLI11_PARSE(app, argc, argv);
  options.bind_encoding = bind_encoding == "json" ? kube::Encoding::kJson : kube::Encoding::kProtobuf;
  options.with_watch = !no_watch;

  Result<kube::Access> access = kube::load_access(sources);
  if (!access) return std::fprintf(stderr, "bench_rawbind: %s\n", access.error().message.c_str()), 1;
  auto api = kube::Api::create({.access = *access, .requests_in_flight_max = options.in_flight * 2 + 8});
  if (!api) return std::fprintf(stderr, "bench_rawbind: %s\n", api.error().message.c_str()), 1;

  if (!kube::call(**api, {.path = kube::node_path(bench::node_name(options.nodes - 1))}).ok()) {
    const auto start = bench::steady_clock::now();
    bench::create_nodes(**api, options.nodes);
    std::printf("%zu nodes posted, %.0f nodes/s\n", options.nodes,
                static_cast<double>(options.nodes) / bench::seconds_since(start));
  }
  if (mode == "list") return measure_lists(**api, options), 0;
  for (int run = 0; run < repeat; ++run) {
    options.prefix = "raw-" + mode + "-" + std::to_string((*api)->now().value) + "-" + std::to_string(run);
    if (mode == "arrival") {
      print("create and bind, fed by a watch", options, bench::create_and_bind(**api, options));
      continue;
    }
    const auto start = bench::steady_clock::now();
    const double cpu_start = bench::cpu_seconds();
    bench::RawBindReport created{.failed = bench::create_pods(**api, options)};
    created.seconds = bench::seconds_since(start);
    created.client_cpu_seconds = bench::cpu_seconds() - cpu_start;
    print("create", options, created);
    print(options.with_watch ? "bind, one pod watch open" : "bind, no watch", options, bench::bind_all(**api, options));
  }
  return 0;
}
