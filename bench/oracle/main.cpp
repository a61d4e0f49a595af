// bench_oracle: do kube-scheduler and Ashlar allow the same nodes? Random pods in random clusters on a real API server;
// both are asked for the nodes of each pod. With --volumes: do pods with claims end alike, with the real controller that
// binds volumes? The exit status is 1 if one pod differs; it is printed with its cluster.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench_report.h"
#include "cluster/deployed.h"
#include "cluster/filters/oracle.h"
#include "oracle/binding_oracle.h"

namespace {

using namespace ashlar;

/// The promise for a run of 5,000 pods: each filter alone decides so many verdicts.
constexpr double kDecidedMin = 200;
constexpr std::size_t kPodsOfPromise = 5000;
constexpr const char* kFilters[] = {"InterPodAffinity", "NodeAffinity",       "NodeDeclaredFeatures",
                                    "NodePorts",        "NodeResourcesFit",   "NodeUnschedulable",
                                    "NodeVolumeLimits", "PodTopologySpread",  "TaintToleration",
                                    "VolumeBinding",    "VolumeRestrictions", "VolumeZone"};

int fail(const Error& error) { return std::fprintf(stderr, "bench_oracle: %s\n", error.message.c_str()), 1; }

/// Prints those that were not printed yet.
void print_new(const std::vector<std::string>& manifests, std::size_t& printed) {
  for (; printed < manifests.size(); ++printed) std::printf("\n%s\n", manifests[printed].c_str());
}

int run_filters(const filters::OracleOptions& options) {
  auto plane = cluster::ControlPlane::start(filters::oracle_control_plane());
  if (!plane) return fail(plane.error());
  bench::Report report("kube-scheduler's filters beside Ashlar's, seed " + std::to_string(options.seed));
  std::size_t printed = 0;
  const auto on_cluster = [&](const filters::OracleReport& now) {
    print_new(now.manifests, printed);
    if (now.clusters % 25 != 0) return;
    std::printf("  after %zu clusters: %zu pods, %zu different, %.0f s\n", now.clusters, now.pods, now.different,
                now.seconds);
    std::fflush(stdout);
  };
  const Result<filters::OracleReport> compared = filters::compare_filters(**plane, options, on_cluster);
  if (!compared) return fail(compared.error());
  if (!compared->first_refusal.empty())
    std::printf("\nthe first refusal of the server: %s\n\n", compared->first_refusal.c_str());
  std::printf("%s", compared->text().c_str());
  report.note("pods per second", static_cast<double>(compared->pods) / compared->seconds, "1/s");
  if (compared->pods >= kPodsOfPromise && !options.is_about_preferences)
    for (const char* filter : kFilters) {
      const auto it = compared->decided.find(filter);
      report.at_least("verdicts that " + std::string(filter) + " alone decides",
                      it == compared->decided.end() ? 0 : static_cast<double>(it->second), "", kDecidedMin);
    }
  report.at_most("pods that differ", static_cast<double>(compared->different), "", 0);
  return report.finish();
}

int run_volumes(const binding::BindingOptions& options) {
  auto plane = cluster::start_deployed(filters::oracle_control_plane());
  if (!plane) return fail(plane.error());
  bench::Report report("pods with claims beside the real controller of volumes, seed " + std::to_string(options.seed));
  std::size_t printed = 0;
  const auto on_batch = [&](const binding::BindingReport& now) {
    print_new(now.manifests, printed);
    std::printf("  after %zu worlds: %zu pods, %zu different, %.0f s\n", now.worlds, now.pods, now.different,
                now.seconds);
    std::fflush(stdout);
  };
  const Result<binding::BindingReport> compared = binding::compare_bindings(**plane, options, on_batch);
  if (!compared) return fail(compared.error());
  std::printf("%s", compared->text().c_str());
  report.at_most("differences", static_cast<double>(compared->different), "", 0);
  return report.finish();
}

}  // namespace

int main(int argc, char** argv) {
  filters::OracleOptions options{.pods = 5000};
  std::size_t binding_pods = 0;
  CLI::App app("kube-scheduler's filters beside Ashlar's on random clusters");
  app.add_option("pods", options.pods, "pods to compare")->capture_default_str();
  app.add_option("--seed", options.seed, "of all clusters")->capture_default_str();
  app.add_option("--cluster", options.only, "only the cluster, or the world of --volumes, of this number");
  app.add_option("--manifests", options.manifests_max, "differences that are printed")->capture_default_str();
  app.add_flag("!--alone", options.has_company,
               "waiting pods have no affinity, anti-affinity and topology spread of their own");
  app.add_flag("--preferences", options.is_about_preferences,
               "does kube-scheduler choose a node to which Ashlar gives the most points for preferences?");
  app.add_option("--volumes", binding_pods,
                 "compare where so many pods with claims end, beside the real persistent volume controller "
                 "(kube-controller-manager), instead of filters");
  CLI11_PARSE(app, argc, argv);
  if (binding_pods == 0) return run_filters(options);
  return run_volumes(
      {.pods = binding_pods, .seed = options.seed, .only = options.only, .manifests_max = options.manifests_max});
}
