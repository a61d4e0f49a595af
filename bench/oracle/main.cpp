// bench_oracle: do kube-scheduler and Ashlar allow the same nodes? Random pods in random clusters on a real API server;
// both are asked for the nodes of each pod. The exit status is 1 if one pod differs; it is printed with its cluster.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench_report.h"
#include "cluster/filters/oracle.h"

namespace {

using namespace ashlar;

/// The promise for a run of 5,000 pods: each filter alone decides so many verdicts.
constexpr double kDecidedMin = 200;
constexpr std::size_t kPodsOfPromise = 5000;
constexpr const char* kFilters[] = {"InterPodAffinity",  "NodeAffinity",     "NodeDeclaredFeatures", "NodePorts",
                                    "PodTopologySpread", "NodeResourcesFit", "NodeUnschedulable",    "TaintToleration"};

int run(const filters::OracleOptions& options) {
  auto plane = cluster::ControlPlane::start(filters::oracle_control_plane());
  if (!plane) return std::fprintf(stderr, "bench_oracle: %s\n", plane.error().message.c_str()), 1;
  bench::Report report("kube-scheduler's filters beside Ashlar's, seed " + std::to_string(options.seed));
  std::size_t printed = 0;
  const auto on_cluster = [&](const filters::OracleReport& now) {
    for (; printed < now.manifests.size(); ++printed) std::printf("\n%s\n", now.manifests[printed].c_str());
    if (now.clusters % 25 != 0) return;
    std::printf("  after %zu clusters: %zu pods, %zu different, %.0f s\n", now.clusters, now.pods, now.different,
                now.seconds);
    std::fflush(stdout);
  };
  const Result<filters::OracleReport> compared = filters::compare_filters(**plane, options, on_cluster);
  if (!compared) return std::fprintf(stderr, "bench_oracle: %s\n", compared.error().message.c_str()), 1;
  if (!compared->first_refusal.empty())
    std::printf("\nthe first refusal of the server: %s\n\n", compared->first_refusal.c_str());
  std::printf("%s", compared->text().c_str());
  report.note("pods per second", static_cast<double>(compared->pods) / compared->seconds, "1/s");
  if (compared->pods >= kPodsOfPromise)
    for (const char* filter : kFilters) {
      const auto it = compared->decided.find(filter);
      report.at_least("verdicts that " + std::string(filter) + " alone decides",
                      it == compared->decided.end() ? 0 : static_cast<double>(it->second), "", kDecidedMin);
    }
  report.at_most("pods that differ", static_cast<double>(compared->different), "", 0);
  return report.finish();
}

}  // namespace

int main(int argc, char** argv) {
  filters::OracleOptions options{.pods = 5000};
  CLI::App app("kube-scheduler's filters beside Ashlar's on random clusters");
  app.add_option("pods", options.pods, "pods to compare")->capture_default_str();
  app.add_option("--seed", options.seed, "of all clusters")->capture_default_str();
  app.add_option("--cluster", options.only, "only the cluster of this number");
  app.add_option("--manifests", options.manifests_max, "differing pods that are printed")->capture_default_str();
  app.add_flag("!--alone", options.has_company,
               "waiting pods have no affinity, anti-affinity and topology spread of their own");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
