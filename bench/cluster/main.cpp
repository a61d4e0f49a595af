// bench_cluster: Ashlar and kube-scheduler in turn on the same real API server and machine, beside the rate of a plain
// client on pods of the same shape, all in every round. Prints each figure beside its promise; --only chooses parts.
// The whole takes more than an hour on two cores.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "bench_report.h"
#include "perf_contest.h"
#include "plain_client.h"
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

/// A round ends then, with what is bound.
constexpr double kRoundSeconds = 120;

enum class Mode { kDrain, kArrival };

/// One kind of work, done in rounds by the plain client, Ashlar and kube-scheduler. Rates of each round, in pods/s; empty
/// for a contestant that did not take part.
struct Contest {
  std::vector<double> raw;           ///< the plain client on pods of the same shape
  std::vector<double> raw_observed;  ///< the same with the observer's watch open beside its own
  std::vector<double> kube, ours;
  double lane_empty_seconds = 0, writes_per_pod = 0;  ///< of Ashlar, the most of all rounds
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

/// The median over the rounds of what one did in relation to another in the same round.
double ratio(const std::vector<double>& of, const std::vector<double>& to) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(of.size(), to.size()); ++round)
    ratios.push_back(to[round] > 0 ? of[round] / to[round] : 0);
  return median(std::move(ratios));
}

using Turn = std::function<void(int round)>;

/// Round after round, each time with another one first, so that a machine that grows slower or faster does it to all.
void in_rounds(int rounds, std::vector<Turn> turns) {
  for (int round = 0; round < rounds; ++round) {
    for (const Turn& turn : turns) turn(round);
    if (!turns.empty()) std::rotate(turns.begin(), turns.begin() + 1, turns.end());
  }
}

DrainResult one_run(Arena& arena, const Scheduler& scheduler, const Batch& batch, Mode mode, int run) {
  const DrainResult r = mode == Mode::kArrival ? arrive(arena, scheduler, batch, kRoundSeconds)
                                               : drain(arena, scheduler, batch, kRoundSeconds);
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
  Contest c;
  std::vector<Turn> turns;
  turns.emplace_back([&](int run) { c.raw.push_back(raw_run(arena, plan, batch, mode, run, false)); });
  if (mode == Mode::kDrain)
    turns.emplace_back([&](int run) { c.raw_observed.push_back(raw_run(arena, plan, batch, mode, run, true)); });
  if (plan.wants_ashlar())
    turns.emplace_back([&](int run) {
      const DrainResult r = one_run(arena, kAshlar, batch, mode, run);
      c.ours.push_back(r.rate);
      c.lane_empty_seconds = std::max(c.lane_empty_seconds, r.lane_empty_seconds);
      c.writes_per_pod = std::max(c.writes_per_pod, r.writes_per_pod);
    });
  if (plan.wants_kube())
    turns.emplace_back([&](int run) { c.kube.push_back(one_run(arena, kKube, batch, mode, run).rate); });
  in_rounds(plan.runs, std::move(turns));
  return c;
}

/// Least parts of the plain client's rate, in percent, and times kube-scheduler's; 0 = no limit.
struct Limits {
  double share = 0, observed_share = 0, times = 0;
};

/// The rows that every contest has.
void tell(Report& report, const std::string& what, const Batch& batch, const Contest& c, Mode mode,
          const Limits& limits) {
  const auto at_least = [&](const std::string& row, double value, const char* unit, double limit) {
    if (limit > 0)
      report.at_least(row, value, unit, limit);
    else
      report.note(row, value, unit);
  };
  report.note(what + ": raw client, median of " + std::to_string(c.raw.size()), median(c.raw), "pods/s");
  if (!c.raw_observed.empty())
    report.note(what + ": raw client, observed as the schedulers are", median(c.raw_observed), "pods/s");
  if (!c.kube.empty()) report.note(what + ": kube-scheduler", median(c.kube), "pods/s");
  if (c.ours.empty()) return;
  report.note(what + ": ashlar", median(c.ours), "pods/s");
  at_least("  share of the raw client's, median of pairs", 100 * ratio(c.ours, c.raw), "%", limits.share);
  if (!c.raw_observed.empty())
    at_least("  share of the observed raw client's, median of pairs", 100 * ratio(c.ours, c.raw_observed), "%",
             limits.observed_share);
  if (!c.kube.empty()) at_least("  times kube-scheduler, median of pairs", ratio(c.ours, c.kube), "x", limits.times);
  if (mode == Mode::kArrival) return;
  const double writes = 200 + (batch.gangs == 0 ? 0.0 : 100.0 / static_cast<double>(batch.size));
  report.at_most("  API writes per pod, in 1/100", 100 * c.writes_per_pod, "", std::ceil(writes));
  report.at_most("  events and conditions all out after the last bind", c.lane_empty_seconds, "s", 15);
}

void row(Arena& arena, const Plan& plan, Report& report, const std::string& what, const Batch& batch, Mode mode,
         const Limits& limits) {
  tell(report, what, batch, contest(arena, plan, what, batch, mode), mode, limits);
}

void rates(Arena& arena, const Plan& plan, Report& report) {
  const Batch plain{.prefix = "pod", .size = plan.pods};
  const Batch gpu{.prefix = "gpu", .size = plan.pods, .shape = {.gpus = 1}};
  const std::string pods = std::to_string(plan.pods);
  if (plan.wants("drain"))
    row(arena, plan, report, "drain of " + pods, plain, Mode::kDrain, {.share = 85, .observed_share = 95, .times = 4});
  if (plan.wants("gpu"))
    row(arena, plan, report, "drain of " + pods + " pods of 1 GPU", gpu, Mode::kDrain, {.times = 6});
  if (plan.wants("arrival")) row(arena, plan, report, "arrival of " + pods, plain, Mode::kArrival, {.share = 85});
  const Batch plain_gangs[] = {{.prefix = "g3", .gangs = 1000, .size = 3, .shape = {.gpus = 1}},
                               {.prefix = "g1000", .gangs = 3, .size = 1000, .shape = {.gpus = 8}}};
  const Batch rack_gangs[] = {{.prefix = "g16", .gangs = 100, .size = 16, .topology_key = "rack", .shape = {.gpus = 8}},
                              {.prefix = "g4", .gangs = 750, .size = 4, .topology_key = "rack", .shape = {.gpus = 8}}};
  const auto gangs = [&](const Batch& batch, const std::string& within, Mode mode) {
    const std::string arrive = mode == Mode::kArrival ? "arrival of " : "";
    row(arena, plan, report,
        arrive + "gangs " + std::to_string(batch.gangs) + " x " + std::to_string(batch.size) + within, batch, mode,
        {.share = mode == Mode::kDrain ? 70.0 : 0.0});
  };
  if (plan.wants("gangs"))
    for (const Batch& batch : plain_gangs) gangs(batch, "", Mode::kDrain);
  if (plan.wants("racks"))
    for (const Batch& batch : rack_gangs) gangs(batch, " within a rack", Mode::kDrain);
  if (plan.wants("arrival")) gangs(rack_gangs[0], " within a rack", Mode::kArrival);
}

/// What stands for a time that was not reached.
constexpr double kNever = 1e6;

/// Those of the plan that take part, in rounds: `measure` adds what it finds to the results of its scheduler.
template <class Results, class Measure>
void schedulers_in_rounds(const Plan& plan, Results& kube, Results& ours, const Measure& measure) {
  std::vector<Turn> turns;
  if (plan.wants_ashlar()) turns.emplace_back([&](int) { measure(kAshlar, ours); });
  if (plan.wants_kube()) turns.emplace_back([&](int) { measure(kKube, kube); });
  in_rounds(plan.runs, std::move(turns));
}

/// The medians, with kNever for a gang that was not bound in time.
template <class Measure>
void latency(const Plan& plan, Report& report, const std::string& what, double limit, const Measure& measure) {
  std::vector<double> kube, ours;
  schedulers_in_rounds(plan, kube, ours, [&](const Scheduler& s, std::vector<double>& found) {
    found.push_back(1000 * measure(s).value_or(kNever / 1000));
  });
  if (!kube.empty()) report.note(what + ": kube-scheduler, median", median(kube), "ms");
  if (!ours.empty()) report.at_most(what + ": ashlar, median", median(ours), "ms", limit);
}

void latencies(Arena& arena, const Plan& plan, Report& report) {
  const Batch big{.prefix = "big", .gangs = 1, .size = 512, .shape = {.gpus = 8}};
  if (plan.wants("gang512"))
    latency(plan, report, "512 pods, last bind after last create", 600,
            [&](const Scheduler& s) { return last_bind_after_last_create(arena, s, big, kRoundSeconds); });
  const Batch backlog{.prefix = "back", .size = plan.pods};
  const Batch critical{
      .prefix = "crit", .gangs = 1, .size = 16, .shape = {.gpus = 1, .priority_class = "bench-critical"}};
  if (plan.wants("critical"))
    latency(plan, report, "critical gang amid a backlog", 150,
            [&](const Scheduler& s) { return critical_amid_backlog(arena, s, backlog, critical, plan.pods / 5); });
}

/// Milliseconds of each round until it is known that a gang does not fit; kNever where it was not in time.
struct RefusalTimes {
  std::vector<double> group_and_first_pod, group, all_pods;

  void add(const RefusalResult& r) {
    const auto millis = [](double seconds) { return seconds < 0 ? kNever : 1000 * seconds; };
    group.push_back(millis(r.group_seconds));
    group_and_first_pod.push_back(std::max(group.back(), millis(r.first_pod_seconds)));
    all_pods.push_back(millis(r.all_pods_seconds));
  }
};

void refusals(Arena& arena, const Plan& plan, Report& report) {
  const Batch big{.prefix = "big", .gangs = 1, .size = 512, .shape = {.gpus = 8}};
  for (const int taken : {8, 7}) {
    const std::string filled = arena.fresh_namespace();
    arena.create_bound(filled, plan.nodes, plan.nodes, taken);
    const std::string on = taken == 8 ? "full cluster" : "1 GPU free on each node";
    RefusalTimes kube, ours;
    schedulers_in_rounds(plan, kube, ours, [&](const Scheduler& s, RefusalTimes& times) {
      const RefusalResult r = refusal(arena, s, big, 30);
      std::printf("    %s, %s: group %.3f s, first pod %.3f s, all pods %.3f s  \"%s\"\n", s.label().c_str(),
                  on.c_str(), r.group_seconds, r.first_pod_seconds, r.all_pods_seconds,
                  r.message.substr(0, 100).c_str());
      std::fflush(stdout);
      times.add(r);
    });
    const std::string what = "512 do not fit, " + on;
    if (plan.wants_kube()) {
      report.note(what + ": kube-scheduler, group, median", median(kube.group), "ms");
      report.note(what + ": kube-scheduler, all pods, median", median(kube.all_pods), "ms");
    }
    if (plan.wants_ashlar()) {
      report.at_most(what + ": ashlar, group and first pod, median", median(ours.group_and_first_pod), "ms", 100);
      report.at_most(what + ": ashlar, all pods, median", median(ours.all_pods), "ms", 2000);
    }
    arena.delete_pods(filled);
  }
}

struct StartFigures {
  std::vector<double> seconds, resident_mib;
};

void starts(Arena& arena, const Plan& plan, Report& report) {
  const std::string filled = arena.fresh_namespace();
  arena.create_bound(filled, 10 * plan.nodes, plan.nodes, 0);
  StartFigures kube, ours;
  schedulers_in_rounds(plan, kube, ours, [&](const Scheduler& s, StartFigures& figures) {
    const DrainResult r = start_to_first_bind(arena, s);
    std::printf("    %s start: first bind after %.2f s, RSS %.0f MiB%s\n", s.label().c_str(), r.to_first_seconds,
                r.resident_mib, r.is_complete ? "" : "  NOT BOUND");
    std::fflush(stdout);
    figures.seconds.push_back(r.is_complete ? r.to_first_seconds : kNever / 1000);
    figures.resident_mib.push_back(r.resident_mib);
  });
  const std::string what = "start with " + std::to_string(10 * plan.nodes) + " bound pods to first bind: ";
  if (plan.wants_kube()) report.note(what + "kube-scheduler, median", median(kube.seconds), "s");
  if (plan.wants_ashlar()) {
    report.at_most(what + "ashlar, median", median(ours.seconds), "s", 5);
    report.at_most("  RSS there", median(ours.resident_mib), "MiB", 300);
  }
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
                std::to_string(plan.pods) + " pods, " + std::to_string(plan.runs) +
                " rounds, all contestants in every round");
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
  PerfPlan perf;
  bool is_perf = false;
  std::string plain_client;
  plan.binary = (std::filesystem::canonical("/proc/self/exe").parent_path() / "ashlar").string();
  CLI::App app("Ashlar beside kube-scheduler on a real API server");
  app.add_option("--only", plan.only, "parts: drain gpu arrival gangs racks gang512 critical refusal start kinds")
      ->delimiter(',');
  CLI::Option* schedulers =
      app.add_option("--schedulers", plan.schedulers, "kube, ashlar; with --perf: kube-scheduler, ashlar, plain-client")
          ->delimiter(',');
  app.add_option("--nodes", plan.nodes, "nodes of 8 GPUs");
  app.add_option("--pods", plan.pods, "pods of a drain");
  app.add_option("--runs", plan.runs, "rounds of each figure; their median counts");
  app.add_option("--binds-in-flight", plan.binds_in_flight, "Ashlar's batch.bindsInFlight");
  app.add_option("--ashlar", plan.binary, "the program to measure");
  app.add_option("--plain-client", plain_client, "be the plain client of this kubeconfig")->group("");
  app.add_flag("--perf", is_perf, "cases in upstream's language of benchmarks (bench/cluster/perf/README.md)");
  app.add_option("--cases", perf.cases_path, "a file or folder of cases")->group("With --perf");
  app.add_option("--case", perf.cases, "names of cases, run in this order")->delimiter(',')->group("With --perf");
  app.add_option("--modes", perf.modes, "drained, arriving, paced")
      ->delimiter(',')
      ->check(CLI::IsMember({"drained", "arriving", "paced"}))
      ->group("With --perf");
  app.add_option("--workload", perf.workload, "whose parameters are used")->group("With --perf");
  app.add_option("--results", perf.results, "folder of figures; what is finished there is not run again")
      ->group("With --perf");
  app.add_option("--round-seconds", perf.round_seconds, "a round ends then, with what is bound")->group("With --perf");
  app.add_flag("--not-yet", perf.tries_not_yet, "cases that Ashlar does not take part in yet, too")
      ->group("With --perf");
  app.add_option("--kubeconfig", perf.kubeconfig, "a cluster whose scheduler runs, for one case")->group("With --perf");
  app.add_option("--scheduler-name", perf.scheduler_name, "spec.schedulerName of the pods there")->group("With --perf");
  CLI11_PARSE(app, argc, argv);
  if (!plain_client.empty()) return run_plain_client(plain_client);
  if (!is_perf) return run(plan);
  perf.nodes = plan.nodes, perf.pods = plan.pods, perf.runs = plan.runs;
  perf.binary = plan.binary, perf.binds_in_flight = plan.binds_in_flight;
  if (schedulers->count() > 0) perf.contestants = plan.schedulers;
  return run_perf(perf);
}
