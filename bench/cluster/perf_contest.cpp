#include "perf_contest.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "arena.h"
#include "cluster/deployed.h"
#include "perf/case_file.h"
#include "perf/results.h"
#include "perf/run_case.h"
#include "text/nearest_name.h"

namespace ashlar::bench {
namespace {

using perf::Case;
using perf::CaseRun;
using perf::Figure;
using perf::Params;
using perf::RunOptions;
using perf::RunResult;

constexpr double kPace = 50;  ///< pods/s of a paced round
constexpr double kPacedSeconds = 20;
constexpr double kFullNodes = 5000, kFullPods = 10'000;

bool holds(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

int failed(const Error& error) { return std::fprintf(stderr, "bench_cluster: %s\n", error.message.c_str()), 1; }

Result<std::vector<Case>> cases_of(const PerfPlan& plan) {
  const std::filesystem::path path =
      plan.cases_path.empty() ? ASHLAR_SOURCE_DIR "/bench/cluster/perf/cases" : plan.cases_path;
  std::vector<std::string> files;
  if (std::filesystem::is_directory(path)) {
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path.string());
  }
  std::vector<Case> chosen;
  std::vector<std::string> names;
  for (const std::string& file : files) {
    Result<std::vector<Case>> cases = perf::read_cases(file);
    if (!cases) return cases.error();
    for (Case& one : *cases) {
      names.push_back(one.name);
      if (plan.cases.empty() || holds(plan.cases, one.name)) chosen.push_back(std::move(one));
    }
  }
  for (const std::string& name : plan.cases)
    if (!holds(names, name)) return invalid("no case \"" + name + "\"" + suggestion(name, names));
  const auto place = [&](const Case& one) { return std::find(plan.cases.begin(), plan.cases.end(), one.name); };
  std::stable_sort(chosen.begin(), chosen.end(), [&](const Case& a, const Case& b) { return place(a) < place(b); });
  return chosen;
}

Result<Params> params_of(const PerfPlan& plan, const Case& one) {
  if (one.workloads.empty()) return invalid(one.file + ": the case \"" + one.name + "\" has no workloads");
  const perf::Workload* workload = one.workload(plan.workload);
  if (workload == nullptr) workload = &one.workloads.front();
  return perf::scaled(workload->params, static_cast<double>(plan.nodes) / kFullNodes,
                      static_cast<double>(plan.pods) / kFullPods);
}

struct Contestant {
  Scheduler scheduler;
  std::string label;
};

std::vector<Contestant> contestants_of(const PerfPlan& plan, const Case& one) {
  std::vector<Contestant> all;
  for (const Scheduler::Kind kind : {Scheduler::Kind::kPlain, Scheduler::Kind::kAshlar, Scheduler::Kind::kKube}) {
    const Scheduler scheduler{.kind = kind};
    const bool waits = kind == Scheduler::Kind::kAshlar && !one.not_yet.empty() && !plan.tries_not_yet;
    if (holds(plan.contestants, scheduler.label()) && !waits) all.push_back({scheduler, scheduler.label()});
  }
  return all;
}

/// All rounds of one case in one mode.
class Contest {
 public:
  Contest(const PerfPlan& plan, Arena& arena, perf::NodeWorld& nodes, const Case& one, std::string mode)
      : plan_(plan), arena_(arena), nodes_(nodes), case_(one), mode_(std::move(mode)) {}

  Result<std::vector<Figure>> run() {
    const Result<Params> params = params_of(plan_, case_);
    if (!params) return params.error();
    Result<std::vector<perf::Operation>> operations = perf::instantiated(case_, *params);
    if (!operations) return operations.error();
    std::vector<Contestant> order = contestants_of(plan_, case_);
    std::vector<Figure> figures;
    for (int round = 0; round < plan_.runs; ++round) {
      for (const Contestant& contestant : order) figures.push_back(one_round(*operations, contestant, round));
      if (!order.empty()) std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    return figures;
  }

 private:
  RunOptions options_for(const Contestant& contestant, cluster::ChildProcess*& process) {
    RunOptions options{.mode = mode_ == "drained" ? RunOptions::Mode::kDrained : RunOptions::Mode::kArriving,
                       .scheduler_name = contestant.scheduler.name(),
                       .patience_seconds = plan_.round_seconds};
    if (mode_ == "paced") {
      options.pods_per_second = kPace;
      options.pods_max = std::min(plan_.pods, static_cast<std::size_t>(kPace * kPacedSeconds));
    }
    options.start_scheduler = [&]() -> Result<void> {
      auto started = arena_.start(contestant.scheduler);
      if (!started) return started.error();
      process = *started;
      return {};
    };
    return options;
  }

  Figure one_round(const std::vector<perf::Operation>& operations, const Contestant& contestant, int round) {
    cluster::ChildProcess* process = nullptr;
    CaseRun run(arena_.api(), options_for(contestant, process), nodes_);
    const Result<RunResult> result = run.run(operations);
    Figure figure{.case_name = case_.name,
                  .mode = mode_,
                  .nodes = plan_.nodes,
                  .pods = plan_.pods,
                  .round = round,
                  .contestant = contestant.label};
    double cpu_seconds = 0, resident_mib = 0;
    if (process != nullptr) {
      cpu_seconds = static_cast<double>(process->cpu_time().value) / 1000;
      resident_mib = static_cast<double>(process->resident().value) / 1048576.0;
      process->stop(Millis(5000));
    }
    run.clean();
    if (!result) {
      std::printf("    %-15s round %d: %s\n", contestant.label.c_str(), round + 1, result.error().message.c_str());
      std::fflush(stdout);
      return figure;
    }
    figure.bound = result->bound;
    figure.measured = result->pods;
    figure.rate = result->rate();
    figure.p50_sent = perf::percentile(result->millis_from_sent, 0.5);
    figure.p99_sent = perf::percentile(result->millis_from_sent, 0.99);
    figure.p50_answered = perf::percentile(result->millis_from_answer, 0.5);
    figure.p99_answered = perf::percentile(result->millis_from_answer, 0.99);
    std::printf("    %-15s round %d: %6zu of %zu pods bound, %7.1f pods/s  CPU %.2f s  RSS %.0f MiB",
                contestant.label.c_str(), round + 1, result->bound, result->pods, figure.rate, cpu_seconds,
                resident_mib);
    if (mode_ == "paced")
      std::printf("  create to bind: p50 %.1f ms, p99 %.1f ms (from the answer %.1f, %.1f)", figure.p50_sent,
                  figure.p99_sent, figure.p50_answered, figure.p99_answered);
    std::printf("\n");
    if (!result->why_unbound.empty()) std::printf("      %s\n", result->why_unbound.c_str());
    std::fflush(stdout);
    return figure;
  }

  const PerfPlan& plan_;
  Arena& arena_;
  perf::NodeWorld& nodes_;
  const Case& case_;
  std::string mode_;
};

/// The table at the end, and what it says of the goals.
class Table {
 public:
  void add(const Case& one, const std::string& mode, const std::vector<Figure>& figures) {
    if (mode == "paced") return add_paced(one, figures);
    const perf::TableRow row = perf::row_of(figures, {.times = static_cast<double>(one.times)});
    char line[256];
    std::snprintf(line, sizeof line, "%-28s %-9s %8.0f %8.0f %8.0f %8.1f %8.0f %%  ", one.name.c_str(), mode.c_str(),
                  row.plain, row.kube, row.ashlar, row.times, row.share);
    const std::string goal = mode == "arriving" ? "85 %" : std::to_string(one.times) + " x or 85 %";
    std::string verdict = row.is_met ? "met" : "MISSED";
    if (!row.is_complete) verdict += ", not all were bound";
    if (!row.is_judged) verdict = "not judged";
    if (figures_lack_ashlar(figures) && !one.not_yet.empty()) verdict = "not yet: " + one.not_yet;
    missed_ += row.is_judged && !row.is_met;
    lines_.push_back(line + goal + "  " + verdict + (one.remark.empty() ? "" : " (" + one.remark + ")"));
  }
  int finish() const {
    std::printf("\n%-28s %-9s %8s %8s %8s %8s %10s  %s\n", "case", "mode", "plain", "kube", "ashlar", "x kube",
                "of plain", "goal");
    for (const std::string& line : lines_) std::printf("%s\n", line.c_str());
    std::printf("\n%d goals missed\n", missed_);
    return missed_ == 0 ? 0 : 1;
  }
  void fail(const std::string& what) {
    ++missed_;
    lines_.push_back(what);
  }

 private:
  static bool figures_lack_ashlar(const std::vector<Figure>& figures) {
    return std::none_of(figures.begin(), figures.end(), [](const Figure& f) { return f.contestant == "ashlar"; });
  }
  void add_paced(const Case& one, const std::vector<Figure>& figures) {
    const perf::PacedRow row = perf::paced_row_of(figures);
    char line[256];
    std::snprintf(
        line, sizeof line,
        "%-28s 50 pods/s: create to bind p50 %.1f ms, p99 %.1f ms; kube-scheduler %.1f, %.1f; plain client %.1f, %.1f; "
        "goal 5 and 20 ms, not behind kube-scheduler  %s",
        one.name.c_str(), row.p50, row.p99, row.kube_p50, row.kube_p99, row.plain_p50, row.plain_p99,
        row.is_met ? "met" : "MISSED");
    missed_ += !row.is_met && !figures_lack_ashlar(figures);
    lines_.emplace_back(line);
  }

  std::vector<std::string> lines_;
  int missed_ = 0;
};

std::vector<std::string> modes_of(const PerfPlan& plan, const Case& one) {
  std::vector<std::string> modes;
  for (const char* mode : {"drained", "arriving", "paced"})
    if ((plan.modes.empty() && (std::string(mode) != "paced" || one.name == "basic")) || holds(plan.modes, mode))
      modes.emplace_back(mode);
  return modes;
}

std::vector<std::string> labels_of(const PerfPlan& plan, const Case& one) {
  std::vector<std::string> labels;
  for (const Contestant& contestant : contestants_of(plan, one)) labels.push_back(contestant.label);
  return labels;
}

int run_own(const PerfPlan& plan, const std::vector<Case>& cases) {
  Result<perf::ResultsFile> results = perf::ResultsFile::open(plan.results);
  if (!results) return failed(results.error());
  auto plane = envtest::start_deployed({});
  if (!plane) return failed(plane.error());
  auto api = (*plane)->connect(256);
  if (!api) return failed(api.error());
  Arena arena(**plane, **api, plan.binary, plan.binds_in_flight);
  arena.use_least_rights();
  perf::NodeWorld nodes;
  Table table;
  for (const Case& one : cases)
    for (const std::string& mode : modes_of(plan, one)) {
      const Figure key{.case_name = one.name, .mode = mode, .nodes = plan.nodes, .pods = plan.pods};
      std::vector<Figure> figures = results->finished(key, labels_of(plan, one), plan.runs);
      std::printf("  %s, %s%s\n", one.name.c_str(), mode.c_str(), figures.empty() ? "" : ": finished before");
      std::fflush(stdout);
      if (figures.empty()) {
        Result<std::vector<Figure>> measured = Contest(plan, arena, nodes, one, mode).run();
        if (!measured) {
          std::printf("    %s\n", measured.error().message.c_str());
          table.fail(one.name + ": " + measured.error().message);
          continue;
        }
        figures = std::move(measured).value();
        if (Result<void> kept = results->append(figures); !kept) return failed(kept.error());
      }
      table.add(one, mode, figures);
    }
  return table.finish();
}

int run_foreign(const PerfPlan& plan, const std::vector<Case>& cases) {
  if (cases.size() != 1) return failed(invalid("with --kubeconfig, --case must name one case"));
  const Case& one = cases.front();
  Result<kube::Access> access = kube::load_access({.kubeconfig = plan.kubeconfig});
  if (!access) return failed(access.error());
  auto api = kube::Api::create({.access = *access});
  if (!api) return failed(api.error());
  const Result<Params> params = params_of(plan, one);
  if (!params) return failed(params.error());
  const Result<std::vector<perf::Operation>> operations = perf::instantiated(one, *params);
  if (!operations) return failed(operations.error());
  for (const std::string& key : one.unapplied)
    std::printf("  %s of the case is the scheduler's own matter and is not applied\n", key.c_str());
  perf::NodeWorld nodes;
  CaseRun run(**api,
              {.mode = RunOptions::Mode::kForeign,
               .scheduler_name = plan.scheduler_name,
               .patience_seconds = plan.round_seconds},
              nodes);
  const Result<RunResult> result = run.run(*operations);
  run.clean();
  if (!result) return failed(result.error());
  std::printf("%s: %zu of %zu pods bound, %.1f pods/s\n", one.name.c_str(), result->bound, result->pods,
              result->rate());
  const perf::Workload* workload = one.workload(plan.workload);
  if (workload == nullptr) workload = &one.workloads.front();
  if (workload->threshold > 0) std::printf("threshold %lld pods/s\n", static_cast<long long>(workload->threshold));
  return result->is_complete() && result->rate() >= static_cast<double>(workload->threshold) ? 0 : 1;
}

}  // namespace

int run_perf(const PerfPlan& plan) {
  const Result<std::vector<Case>> cases = cases_of(plan);
  if (!cases) return failed(cases.error());
  return plan.kubeconfig.empty() ? run_own(plan, *cases) : run_foreign(plan, *cases);
}

}  // namespace ashlar::bench
