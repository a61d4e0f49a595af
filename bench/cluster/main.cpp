// bench_cluster: Ashlar and kube-scheduler one after the other on the same real API server and machine, beside the raw bind rate measured in the same
// run. Prints each figure beside its promise; --only chooses parts. The whole takes about half an hour on two cores.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "bench_report.h"
#include "scenarios.h"

namespace {

using namespace ashlar;
using namespace ashlar::bench;

struct Plan {
  std::size_t nodes = 5000, pods = 10'000;
  int runs = 3;
  std::vector<std::string> only;
  std::vector<std::string> schedulers = {"kube", "ashlar"};
  std::string binary;
  bool wants(const std::string& part) const { return only.empty() || std::find(only.begin(), only.end(), part) != only.end(); }
  bool wants_kube() const { return std::find(schedulers.begin(), schedulers.end(), "kube") != schedulers.end(); }
};

constexpr Scheduler kKube{Scheduler::Kind::kKube};
constexpr Scheduler kAshlar{Scheduler::Kind::kAshlar};

/// Drains of small batches are repeated until so many pods were bound.
constexpr std::size_t kPodsAtLeast = 10'000;

/// The best rate of `runs` drains, with the longest wait for the lane of events of all of them; prints every run.
DrainResult best_drain(Arena& arena, const Plan& plan, const Scheduler& scheduler, const Batch& batch, bool is_arrival) {
  DrainResult best;
  const int enough = static_cast<int>((kPodsAtLeast + batch.pods() - 1) / batch.pods());
  const int runs = scheduler.kind == Scheduler::Kind::kKube ? 1 : plan.runs < 3 ? plan.runs : std::max(plan.runs, enough);
  for (int run = 0; run < runs; ++run) {
    const DrainResult r = is_arrival ? arrive(arena, scheduler, batch, 600) : drain(arena, scheduler, batch, 900);
    std::printf(
        "    %-15s run %d: %7.0f pods/s  first bind %.2f s after start  %.2f writes/pod  last write %.1f s after last bind  CPU %.2f s  RSS %.0f "
        "MiB%s\n",
        scheduler.label().c_str(), run + 1, r.rate, r.to_first_seconds, r.writes_per_pod, r.lane_empty_seconds, r.scheduler_cpu_seconds,
        r.resident_mib, r.is_complete ? "" : "  NOT ALL BOUND");
    std::fflush(stdout);
    const double lane = std::max(best.lane_empty_seconds, r.lane_empty_seconds);
    if (r.is_complete && r.rate > best.rate) best = r;
    best.lane_empty_seconds = lane;
  }
  return best;
}

double raw_rate(Arena& arena, const Plan& plan, int gpus) {
  double best = 0;
  for (int run = 0; run < plan.runs; ++run) {
    RawBindOptions options{.prefix = "raw", .ns = arena.fresh_namespace(), .pods = plan.pods, .nodes = plan.nodes, .gpus = gpus};
    create_pods(arena.api(), options);
    const RawBindReport r = bind_all(arena.api(), options);
    std::printf("    raw bind        run %d: %7.0f pods/s  client CPU %.2f s per 10,000\n", run + 1, r.rate(options), r.cpu_per_10k(options));
    std::fflush(stdout);
    best = std::max(best, r.rate(options));
    arena.delete_pods(options.ns);
  }
  return best;
}

double raw_arrival(Arena& arena, const Plan& plan) {
  double best = 0;
  for (int run = 0; run < plan.runs; ++run) {
    RawBindOptions options{.prefix = "raw", .ns = arena.fresh_namespace(), .pods = plan.pods, .nodes = plan.nodes};
    const RawBindReport r = create_and_bind(arena.api(), options);
    std::printf("    raw, fed by a watch run %d: %7.0f pods/s\n", run + 1, r.rate(options));
    best = std::max(best, r.rate(options));
    arena.delete_pods(options.ns);
  }
  return best;
}

void singles(Arena& arena, const Plan& plan, Report& report, double raw) {
  const Batch plain{.prefix = "pod", .size = plan.pods};
  const Batch gpu{.prefix = "gpu", .size = plan.pods, .shape = {.gpus = 1}};
  if (plan.wants("drain")) {
    const double kube = plan.wants_kube() ? best_drain(arena, plan, kKube, plain, false).rate : 0;
    const DrainResult ours = best_drain(arena, plan, kAshlar, plain, false);
    report.note("drain: kube-scheduler", kube, "pods/s");
    report.note("drain: ashlar", ours.rate, "pods/s");
    if (kube > 0) report.at_least("drain: times kube-scheduler", ours.rate / kube, "x", 4);
    report.at_least("drain: share of raw bind", 100 * ours.rate / raw, "%", 85);
    report.at_most("API writes per pod, in 1/100", 100 * ours.writes_per_pod, "", 200);
    report.at_most("events and conditions all out after the last bind", ours.lane_empty_seconds, "s", 15);
  }
  if (plan.wants("gpu")) {
    const double kube = plan.wants_kube() ? best_drain(arena, plan, kKube, gpu, false).rate : 0;
    const double ours = best_drain(arena, plan, kAshlar, gpu, false).rate;
    report.note("drain of 1-GPU pods: kube-scheduler", kube, "pods/s");
    report.note("drain of 1-GPU pods: ashlar", ours, "pods/s");
    if (kube > 0) report.at_least("drain of 1-GPU pods: times kube-scheduler", ours / kube, "x", 6);
  }
  if (plan.wants("arrival")) {
    const double ceiling = raw_arrival(arena, plan);
    const double kube = plan.wants_kube() ? best_drain(arena, plan, kKube, plain, true).rate : 0;
    const double ours = best_drain(arena, plan, kAshlar, plain, true).rate;
    report.note("arrival: raw client fed by a watch", ceiling, "pods/s");
    report.note("arrival: kube-scheduler", kube, "pods/s");
    report.note("arrival: ashlar", ours, "pods/s");
    report.at_least("arrival: share of the raw client's", 100 * ours / ceiling, "%", 85);
  }
}

void gangs(Arena& arena, const Plan& plan, Report& report, double raw) {
  const Batch batches[] = {{.prefix = "g3", .gangs = 1000, .size = 3, .shape = {.gpus = 1}},
                           {.prefix = "g1000", .gangs = 3, .size = 1000, .shape = {.gpus = 8}},
                           {.prefix = "g16", .gangs = 100, .size = 16, .topology_key = "rack", .shape = {.gpus = 8}},
                           {.prefix = "g4", .gangs = 750, .size = 4, .topology_key = "rack", .shape = {.gpus = 8}}};
  for (const Batch& batch : batches) {
    const std::string what =
        "gangs " + std::to_string(batch.gangs) + " x " + std::to_string(batch.size) + (batch.topology_key.empty() ? "" : " within a rack");
    if (plan.wants_kube()) report.note(what + ": kube-scheduler", best_drain(arena, plan, kKube, batch, false).rate, "pods/s");
    const DrainResult ours = best_drain(arena, plan, kAshlar, batch, false);
    report.note(what + ": ashlar", ours.rate, "pods/s");
    report.at_least(what + ": share of raw bind", 100 * ours.rate / raw, "%", 70);
  }
}

void latencies(Arena& arena, const Plan& plan, Report& report) {
  const Batch big{.prefix = "big", .gangs = 1, .size = 512, .shape = {.gpus = 8}};
  for (const Scheduler& s : {kKube, kAshlar}) {
    if (s.kind == Scheduler::Kind::kKube && !plan.wants_kube()) continue;
    if (plan.wants("gang512")) {
      double best = 1e9;
      for (int run = 0; run < plan.runs; ++run) best = std::min(best, last_bind_after_last_create(arena, s, big, 120).value_or(1e9));
      if (s.kind == Scheduler::Kind::kKube)
        report.note("512 pods, last bind after last create: kube-scheduler", 1000 * best, "ms");
      else
        report.at_most("512 pods, last bind after last create: ashlar", 1000 * best, "ms", 600);
    }
    if (plan.wants("critical")) {
      double best = 1e9;
      for (int run = 0; run < plan.runs; ++run)
        best = std::min(best, critical_amid_backlog(
                                  arena, s, {.prefix = "back", .size = plan.pods},
                                  {.prefix = "crit", .gangs = 1, .size = 16, .shape = {.gpus = 1, .priority_class = "bench-critical"}}, plan.pods / 5)
                                  .value_or(1e9));
      if (s.kind == Scheduler::Kind::kKube)
        report.note("critical gang amid a backlog: kube-scheduler", 1000 * best, "ms");
      else
        report.at_most("critical gang amid a backlog: ashlar", 1000 * best, "ms", 150);
    }
  }
}

void refusals(Arena& arena, const Plan& plan, Report& report) {
  const Batch big{.prefix = "big", .gangs = 1, .size = 512, .shape = {.gpus = 8}};
  for (const int taken : {8, 7}) {
    const std::string filled = arena.fresh_namespace();
    arena.create_bound(filled, plan.nodes, plan.nodes, taken);
    const std::string on = taken == 8 ? "full cluster" : "1 GPU free on each node";
    for (const Scheduler& s : {kKube, kAshlar}) {
      if (s.kind == Scheduler::Kind::kKube && !plan.wants_kube()) continue;
      RefusalResult best;
      for (int run = 0; run < plan.runs; ++run) {
        const RefusalResult r = refusal(arena, s, big, 30);
        std::printf("    %s, %s: group %.3f s, first pod %.3f s, all pods %.3f s  \"%s\"\n", s.label().c_str(), on.c_str(), r.group_seconds,
                    r.first_pod_seconds, r.all_pods_seconds, r.message.substr(0, 100).c_str());
        if (r.group_seconds >= 0 && (best.group_seconds < 0 || r.group_seconds < best.group_seconds)) best = r;
      }
      const double both = best.group_seconds < 0 || best.first_pod_seconds < 0 ? 1e6 : std::max(best.group_seconds, best.first_pod_seconds);
      if (s.kind == Scheduler::Kind::kKube) {
        report.note("512 do not fit, " + on + ": kube-scheduler, group", 1000 * best.group_seconds, "ms");
      } else {
        report.at_most("512 do not fit, " + on + ": ashlar, group and first pod", 1000 * both, "ms", 100);
        report.at_most("512 do not fit, " + on + ": ashlar, all pods", best.all_pods_seconds < 0 ? 1e6 : 1000 * best.all_pods_seconds, "ms", 2000);
      }
    }
    arena.delete_pods(filled);
  }
}

void starts(Arena& arena, const Plan& plan, Report& report) {
  const std::string filled = arena.fresh_namespace();
  arena.create_bound(filled, 10 * plan.nodes, plan.nodes, 0);
  DrainResult best{.to_first_seconds = 1e9};
  for (int run = 0; run < plan.runs; ++run) {
    const DrainResult r = start_to_first_bind(arena, kAshlar);
    std::printf("    ashlar start %d: first bind after %.2f s, RSS %.0f MiB\n", run + 1, r.to_first_seconds, r.resident_mib);
    if (r.is_complete && r.to_first_seconds < best.to_first_seconds) best = r;
  }
  if (plan.wants_kube())
    report.note("start with 50,000 bound pods to first bind: kube-scheduler", start_to_first_bind(arena, kKube).to_first_seconds, "s");
  report.at_most("start with 50,000 bound pods to first bind: ashlar", best.to_first_seconds, "s", 5);
  report.at_most("RSS there", best.resident_mib, "MiB", 300);
  arena.delete_pods(filled);
}

int run(const Plan& plan) {
  auto plane = cluster::ControlPlane::start(
      {.api_server_flags = {"--max-requests-inflight=3000", "--max-mutating-requests-inflight=2000", "--enable-priority-and-fairness=false"}});
  if (!plane) return std::fprintf(stderr, "bench_cluster: %s\n", plane.error().message.c_str()), 1;
  auto api = (*plane)->connect(256);
  if (!api) return std::fprintf(stderr, "bench_cluster: %s\n", api.error().message.c_str()), 1;
  Arena arena(**plane, **api, plan.binary);
  Report report("schedulers on one real API server, " + std::to_string(plan.nodes) + " nodes x 8, " + std::to_string(plan.pods) + " pods, best of " +
                std::to_string(plan.runs) + " (kube-scheduler rates: 1 run)");
  arena.post_nodes(plan.nodes);
  kube::call(arena.api(),
             {.method = http::Method::kPost,
              .path = "/apis/scheduling.k8s.io/v1/priorityclasses",
              .body = R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"bench-critical"},"value":1000000})"});
  double raw = 0;
  if (plan.wants("raw") || plan.wants("drain") || plan.wants("gangs")) raw = raw_rate(arena, plan, 0);
  if (raw > 0) report.note("raw bind rate of the API server", raw, "pods/s");
  singles(arena, plan, report, raw);
  if (plan.wants("gangs")) gangs(arena, plan, report, raw);
  latencies(arena, plan, report);
  if (plan.wants("refusal")) refusals(arena, plan, report);
  if (plan.wants("start")) starts(arena, plan, report);
  return report.finish();
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  plan.binary = (std::filesystem::canonical("/proc/self/exe").parent_path() / "ashlar").string();
  CLI::App app("Ashlar beside kube-scheduler on a real API server");
  app.add_option("--only", plan.only, "parts: raw drain gpu arrival gangs gang512 critical refusal start")->delimiter(',');
  app.add_option("--schedulers", plan.schedulers, "kube, ashlar")->delimiter(',');
  app.add_option("--nodes", plan.nodes, "nodes of 8 GPUs");
  app.add_option("--pods", plan.pods, "pods of a drain");
  app.add_option("--runs", plan.runs, "runs of each figure, the best counts");
  app.add_option("--ashlar", plan.binary, "the program to measure");
  CLI11_PARSE(app, argc, argv);
  return run(plan);
}
