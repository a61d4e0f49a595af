// bench_cluster: Ashlar and kube-scheduler in turn on the same real API server and machine, beside the rate of a plain
// client on pods of the same shape, all in every round. Prints each figure beside its promise; --only chooses parts.
// The whole takes more than an hour on two cores.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bench_report.h"
#include "scenarios.h"

namespace {

using namespace ashlar;
using namespace ashlar::bench;

struct Plan {
  std::size_t nodes = 5000, pods = 10'000;
  int runs = 3, binds_in_flight = 64;
  std::vector<std::string> only;
  std::vector<std::string> schedulers = {"kube", "ashlar"};
  std::string binary;
  bool wants(const std::string& part) const {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  }
  bool wants_ashlar() const { return std::find(schedulers.begin(), schedulers.end(), "ashlar") != schedulers.end(); }
  bool wants_kube() const { return std::find(schedulers.begin(), schedulers.end(), "kube") != schedulers.end(); }
};

constexpr Scheduler kKube{Scheduler::Kind::kKube};
constexpr Scheduler kAshlar{Scheduler::Kind::kAshlar};

/// Runs of small batches are repeated until this many pods were bound.
constexpr std::size_t kPodsAtLeast = 10'000;

enum class Mode { kDrain, kArrival };

/// One kind of work, done in turn by the plain client, Ashlar and kube-scheduler, round after round, so that a machine
/// that grows slower or faster does it to all of them.
struct Contest {
  double raw_observed = 0;  ///< as `raw`, with the observer's watch open beside its own
  double raw = 0;           ///< best rate of the plain client on pods of the same shape
  double kube = 0;          ///< best rate of kube-scheduler; 0 if it did not take part
  DrainResult ours;         ///< the best run; the longest wait for the status writer and the most writes of all runs
  int rounds = 0;
};

DrainResult one_run(Arena& arena, const Scheduler& scheduler, const Batch& batch, Mode mode, int run) {
  const DrainResult r =
      mode == Mode::kArrival ? arrive(arena, scheduler, batch, 600) : drain(arena, scheduler, batch, 900);
  std::printf(
      "    %-15s run %d: %7.0f pods/s  first bind %.2f s after start  %.2f writes/pod  last write %.1f s after last "
      "bind  CPU %.2f s  RSS %.0f "
      "MiB%s\n",
      scheduler.label().c_str(), run + 1, r.rate, r.to_first_seconds, r.writes_per_pod, r.lane_empty_seconds,
      r.scheduler_cpu_seconds, r.resident_mib, r.is_complete ? "" : "  NOT ALL BOUND");
  std::fflush(stdout);
  return r;
}

/// With `is_observed` the observer's watch is open beside the client's own, as it is when a scheduler runs.
double raw_run(Arena& arena, const Plan& plan, const Batch& batch, Mode mode, int run, bool is_observed) {
  RawBindOptions options{.prefix = "raw",
                         .ns = arena.fresh_namespace(),
                         .pods = batch.pods(),
                         .nodes = plan.nodes,
                         .gpus = batch.shape.gpus};
  if (mode == Mode::kDrain) create_pods(arena.api(), options);
  Observer observer(arena.api(), options.ns);
  if (is_observed) observer.start();
  const RawBindReport r = mode == Mode::kDrain ? bind_all(arena.api(), options) : create_and_bind(arena.api(), options);
  std::printf("    %-15s run %d: %7.0f pods/s  client CPU %.2f s per 10,000\n",
              is_observed            ? "raw, observed"
              : mode == Mode::kDrain ? "raw bind"
                                     : "raw, by a watch",
              run + 1, r.rate(options), r.cpu_per_10k(options));
  std::fflush(stdout);
  arena.delete_pods(options.ns);
  return r.rate(options);
}

Contest contest(Arena& arena, const Plan& plan, const std::string& what, const Batch& batch, Mode mode) {
  std::printf("  %s\n", what.c_str());
  Contest best;
  const int enough = static_cast<int>((kPodsAtLeast + batch.pods() - 1) / batch.pods());
  best.rounds = std::max(plan.runs, enough);
  for (int run = 0; run < best.rounds; ++run) {
    best.raw = std::max(best.raw, raw_run(arena, plan, batch, mode, run, false));
    if (mode == Mode::kDrain)
      best.raw_observed = std::max(best.raw_observed, raw_run(arena, plan, batch, mode, run, true));
    if (plan.wants_ashlar()) {
      const DrainResult r = one_run(arena, kAshlar, batch, mode, run);
      const double lane = std::max(best.ours.lane_empty_seconds, r.lane_empty_seconds);
      const double writes = std::max(best.ours.writes_per_pod, r.writes_per_pod);
      if (r.is_complete && r.rate > best.ours.rate) best.ours = r;
      best.ours.lane_empty_seconds = lane;
      best.ours.writes_per_pod = writes;
    }
    if (plan.wants_kube()) {
      const DrainResult r = one_run(arena, kKube, batch, mode, run);
      if (r.is_complete) best.kube = std::max(best.kube, r.rate);
    }
  }
  return best;
}

/// The rows that every contest has; `share` is the least part of the plain client's rate in percent, `times` that of
/// kube-scheduler's, 0 = no limit.
void tell(Report& report, const std::string& what, const Batch& batch, const Contest& c, Mode mode, double share,
          double times) {
  report.note(what + ": raw client, best of " + std::to_string(c.rounds), c.raw, "pods/s");
  if (c.raw_observed > 0) report.note(what + ": raw client, observed as the schedulers are", c.raw_observed, "pods/s");
  if (c.kube > 0) report.note(what + ": kube-scheduler", c.kube, "pods/s");
  if (c.ours.rate <= 0) return;
  report.note(what + ": ashlar", c.ours.rate, "pods/s");
  if (share > 0) report.at_least("  share of the raw client's", 100 * c.ours.rate / c.raw, "%", share);
  if (c.raw_observed > 0) report.note("  share of the observed raw client's", 100 * c.ours.rate / c.raw_observed, "%");
  if (times > 0 && c.kube > 0) report.at_least("  times kube-scheduler", c.ours.rate / c.kube, "x", times);
  if (times == 0 && c.kube > 0) report.note("  times kube-scheduler", c.ours.rate / c.kube, "x");
  if (mode == Mode::kArrival) return;
  const double writes = 200 + (batch.gangs == 0 ? 0.0 : 100.0 / static_cast<double>(batch.size));
  report.at_most("  API writes per pod, in 1/100", 100 * c.ours.writes_per_pod, "", std::ceil(writes));
  report.at_most("  events and conditions all out after the last bind", c.ours.lane_empty_seconds, "s", 15);
}

void row(Arena& arena, const Plan& plan, Report& report, const std::string& what, const Batch& batch, Mode mode,
         double share, double times) {
  tell(report, what, batch, contest(arena, plan, what, batch, mode), mode, share, times);
}

void rates(Arena& arena, const Plan& plan, Report& report) {
  const Batch plain{.prefix = "pod", .size = plan.pods};
  const Batch gpu{.prefix = "gpu", .size = plan.pods, .shape = {.gpus = 1}};
  const std::string pods = std::to_string(plan.pods);
  if (plan.wants("drain")) row(arena, plan, report, "drain of " + pods, plain, Mode::kDrain, 85, 4);
  if (plan.wants("gpu")) row(arena, plan, report, "drain of " + pods + " pods of 1 GPU", gpu, Mode::kDrain, 0, 6);
  if (plan.wants("arrival")) row(arena, plan, report, "arrival of " + pods, plain, Mode::kArrival, 85, 0);
  if (!plan.wants("gangs")) return;
  const Batch gangs[] = {{.prefix = "g3", .gangs = 1000, .size = 3, .shape = {.gpus = 1}},
                         {.prefix = "g1000", .gangs = 3, .size = 1000, .shape = {.gpus = 8}},
                         {.prefix = "g16", .gangs = 100, .size = 16, .topology_key = "rack", .shape = {.gpus = 8}},
                         {.prefix = "g4", .gangs = 750, .size = 4, .topology_key = "rack", .shape = {.gpus = 8}}};
  for (const Batch& batch : gangs) {
    const std::string within = batch.topology_key.empty() ? "" : " within a rack";
    row(arena, plan, report, "gangs " + std::to_string(batch.gangs) + " x " + std::to_string(batch.size) + within,
        batch, Mode::kDrain, 70, 0);
  }
}

void latencies(Arena& arena, const Plan& plan, Report& report) {
  const Batch big{.prefix = "big", .gangs = 1, .size = 512, .shape = {.gpus = 8}};
  for (const Scheduler& s : {kKube, kAshlar}) {
    if (s.kind == Scheduler::Kind::kKube && !plan.wants_kube()) continue;
    if (plan.wants("gang512")) {
      double best = 1e9;
      for (int run = 0; run < plan.runs; ++run)
        best = std::min(best, last_bind_after_last_create(arena, s, big, 120).value_or(1e9));
      if (s.kind == Scheduler::Kind::kKube)
        report.note("512 pods, last bind after last create: kube-scheduler", 1000 * best, "ms");
      else
        report.at_most("512 pods, last bind after last create: ashlar", 1000 * best, "ms", 600);
    }
    if (plan.wants("critical")) {
      double best = 1e9;
      for (int run = 0; run < plan.runs; ++run)
        best = std::min(
            best,
            critical_amid_backlog(
                arena, s, {.prefix = "back", .size = plan.pods},
                {.prefix = "crit", .gangs = 1, .size = 16, .shape = {.gpus = 1, .priority_class = "bench-critical"}},
                plan.pods / 5)
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
        std::printf("    %s, %s: group %.3f s, first pod %.3f s, all pods %.3f s  \"%s\"\n", s.label().c_str(),
                    on.c_str(), r.group_seconds, r.first_pod_seconds, r.all_pods_seconds,
                    r.message.substr(0, 100).c_str());
        if (r.group_seconds >= 0 && (best.group_seconds < 0 || r.group_seconds < best.group_seconds)) best = r;
      }
      const double both = best.group_seconds < 0 || best.first_pod_seconds < 0
                              ? 1e6
                              : std::max(best.group_seconds, best.first_pod_seconds);
      if (s.kind == Scheduler::Kind::kKube) {
        report.note("512 do not fit, " + on + ": kube-scheduler, group", 1000 * best.group_seconds, "ms");
        report.note("512 do not fit, " + on + ": kube-scheduler, all pods", 1000 * best.all_pods_seconds, "ms");
      } else {
        report.at_most("512 do not fit, " + on + ": ashlar, group and first pod", 1000 * both, "ms", 100);
        report.at_most("512 do not fit, " + on + ": ashlar, all pods",
                       best.all_pods_seconds < 0 ? 1e6 : 1000 * best.all_pods_seconds, "ms", 2000);
      }
    }
    arena.delete_pods(filled);
  }
}

void starts(Arena& arena, const Plan& plan, Report& report) {
  const std::string filled = arena.fresh_namespace();
  arena.create_bound(filled, 10 * plan.nodes, plan.nodes, 0);
  DrainResult best{.to_first_seconds = 1e9};
  double best_of_kube = 1e9;
  for (int run = 0; run < plan.runs; ++run) {
    const DrainResult r = start_to_first_bind(arena, kAshlar);
    std::printf("    ashlar start %d: first bind after %.2f s, RSS %.0f MiB\n", run + 1, r.to_first_seconds,
                r.resident_mib);
    if (r.is_complete && r.to_first_seconds < best.to_first_seconds) best = r;
    if (plan.wants_kube()) best_of_kube = std::min(best_of_kube, start_to_first_bind(arena, kKube).to_first_seconds);
  }
  if (plan.wants_kube()) report.note("start with 50,000 bound pods to first bind: kube-scheduler", best_of_kube, "s");
  report.at_most("start with 50,000 bound pods to first bind: ashlar", best.to_first_seconds, "s", 5);
  report.at_most("RSS there", best.resident_mib, "MiB", 300);
  arena.delete_pods(filled);
}

void own_kinds(Arena& arena, const Plan& plan, Report& report) {
  const Batch waiting{.prefix = "own", .size = plan.pods, .shape = {.gpus = 8, .is_own_kind = true}};
  const KindsResult r = kinds(arena, waiting, plan.nodes, 20);
  const std::string what = std::to_string(plan.pods) + " pods wait, no two alike";
  report.at_most(what + ": rounds without a bind", r.is_bound ? 0 : 1, "", 0);
  report.at_most("  the Lease stood unrenewed", r.lease_age_seconds, "s", 5);
  report.at_most("  holders of the Lease", r.lease_holders == 1 ? 1 : 1e6, "", 1);
  report.note("  first end to first bind, at the start", r.to_first_seconds, "s");
  report.note("  an end to the bind that it allows, slowest of " + std::to_string(r.rounds - 1), r.slowest_seconds,
              "s");
  report.note("  RSS there", r.resident_mib, "MiB");
}

int run(const Plan& plan) {
  auto plane = cluster::ControlPlane::start(
      {.api_server_flags = {"--max-requests-inflight=3000", "--max-mutating-requests-inflight=2000",
                            "--enable-priority-and-fairness=false"}});
  if (!plane) return std::fprintf(stderr, "bench_cluster: %s\n", plane.error().message.c_str()), 1;
  auto api = (*plane)->connect(256);
  if (!api) return std::fprintf(stderr, "bench_cluster: %s\n", api.error().message.c_str()), 1;
  Arena arena(**plane, **api, plan.binary, plan.binds_in_flight);
  Report report("schedulers on one real API server, " + std::to_string(plan.nodes) + " nodes x 8, " +
                std::to_string(plan.pods) + " pods, best of " + std::to_string(plan.runs) +
                " at least, all contestants in every round");
  arena.post_nodes(plan.nodes);
  kube::call(
      arena.api(),
      {.method = http::Method::kPost,
       .path = "/apis/scheduling.k8s.io/v1/priorityclasses",
       .body =
           R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"bench-critical"},"value":1000000})"});
  rates(arena, plan, report);
  latencies(arena, plan, report);
  if (plan.wants("refusal")) refusals(arena, plan, report);
  if (plan.wants("start")) starts(arena, plan, report);
  if (plan.wants("kinds") && plan.wants_ashlar()) own_kinds(arena, plan, report);
  return report.finish();
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  plan.binary = (std::filesystem::canonical("/proc/self/exe").parent_path() / "ashlar").string();
  CLI::App app("Ashlar beside kube-scheduler on a real API server");
  app.add_option("--only", plan.only, "parts: drain gpu arrival gangs gang512 critical refusal start kinds")
      ->delimiter(',');
  app.add_option("--schedulers", plan.schedulers, "kube, ashlar")->delimiter(',');
  app.add_option("--nodes", plan.nodes, "nodes of 8 GPUs");
  app.add_option("--pods", plan.pods, "pods of a drain");
  app.add_option("--runs", plan.runs, "runs of each figure at least, the best counts");
  app.add_option("--binds-in-flight", plan.binds_in_flight, "Ashlar's batch.bindsInFlight");
  app.add_option("--ashlar", plan.binary, "the program to measure");
  CLI11_PARSE(app, argc, argv);
  return run(plan);
}
