// `ashlar sim packing | queue | run`: replays of published traces and general timed simulations, through the same
// engine as everything else. This file reads the command line and the inputs and writes the results; the simulations
// are in src/sim. Exit status 2 for bad input. Nothing is written before everything has been read and run, and a report
// file is written whole or not at all.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/ashlar/shared/report_pages.h"
#include "apps/ashlar/shared/usage.h"
#include "apps/ashlar/verbs.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "config/profile_file.h"
#include "sim/replay/job_replay.h"
#include "sim/replay/packing.h"
#include "sim/results/output_file.h"
#include "sim/results/results.h"
#include "sim/scenario/run.h"
#include "sim/scenario/scenario.h"
#include "sim/trace/openb.h"
#include "sim/trace/queue_trace.h"
#include "text/stop_words.h"

namespace ashlar {
namespace {

[[noreturn]] void fail(const Error& error, int status) { throw VerbError(status, error.message); }

/// The value, or the end of the program with a message about the invalid input.
template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error(), kBadInput);
  return *std::move(result);
}

/// A profile by name or file that can decide here.
config::ProfileSpec profile_spec(const std::string& name, const std::string& folder = {}) {
  return must(config::find_whole_profile(name, folder));
}

/// The entries of an option that takes several with commas. CLI11 drops empty ones, which are typing errors.
std::vector<std::string> list_of(const std::vector<std::string>& given, const std::string& option) {
  std::vector<std::string> entries;
  for (const std::string& text : given) {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t comma = std::min(text.find(',', from), text.size());
      if (const std::string problem = option_as_value(option, text); !problem.empty())
        fail(invalid(problem), kBadInput);
      if (comma == from)
        fail(invalid(fmt::format("{}: expected a name beside every comma, got \"{}\"", option, text)), kBadInput);
      entries.push_back(text.substr(from, comma - from));
      if (std::find(entries.begin(), entries.end() - 1, entries.back()) != entries.end() - 1)
        fail(invalid(fmt::format("{}: \"{}\" is given twice", option, entries.back())), kBadInput);
      from = comma + 1;
    }
  }
  return entries;
}

/// Options that all three share.
struct OutputOptions {
  std::string format = "table";
  std::string report;
  std::string per_job;  ///< of timed runs: a file with a line for each job

  void add_to(CLI::App& app) {
    add_format_option(app, format, {"table", "json", "csv"});
    app.add_option("--report", report, "Also write one self-contained HTML page with plots to this file")
        ->type_name("FILE")
        ->check(file_to_write());
  }
  /// Ends the program if the report would replace a file that the run reads.
  void refuse_inputs(std::vector<std::string> inputs, const std::vector<config::ProfileSpec>& specs) const {
    for (const config::ProfileSpec& spec : specs) inputs.insert(inputs.end(), spec.files.begin(), spec.files.end());
    if (!report.empty() && sim::is_one_of_files(report, inputs))
      fail(invalid("--report: " + report + " is an input of this run; name another file"), kBadInput);
    if (per_job.empty()) return;
    inputs.push_back(report);
    if (sim::is_one_of_files(per_job, inputs) || per_job == report)
      fail(invalid("--per-job: " + per_job + " is another file of this run; name another one"), kBadInput);
  }
};

/// A bar for one run; nothing if stderr is no terminal.
std::function<void(std::int64_t)> progress_of(cli::ProgressBar& bar) {
  return [&bar](std::int64_t done) { bar.update(done); };
}

template <class Run>
struct Forms {
  std::string (*json)(std::span<const Run>);
  std::string (*csv)(std::span<const Run>);
  sim::Rows (*rows)(std::span<const Run>);
  std::string_view note;  ///< below the table: what its headings leave out
};

constexpr std::string_view kPackingNote =
    "GPUs in use in % at that load; the other loads: -o csv, -o json or --report\n";
constexpr std::string_view kQueueNote =
    "means of job completion and queue time, and percentiles of queue time, in seconds; by queue: -o csv or -o json\n";

/// The report first: if it cannot be written, nothing is printed either.
template <class Run>
void write_results(const std::vector<Run>& runs, const Forms<Run>& forms, const OutputOptions& options,
                   const web::ReportPage& page) {
  if (!options.report.empty()) {
    const Result<std::string> html = web::render_report(page);
    if (!html) fail(html.error(), kFailed);
    if (const Result<void> written = sim::write_whole_file(options.report, *html); !written)
      fail(written.error(), kFailed);
  }
  if (options.format == "json")
    std::cout << forms.json(runs);
  else if (options.format == "csv")
    std::cout << forms.csv(runs);
  else
    std::cout << cli::render_table(forms.rows(runs)) << '\n' << forms.note;
  std::cout.flush();
}

// ---- packing --------------------------------------------------------------------------------------------------------

struct PackingOptions {
  std::string nodes, pods, arrivals;
  std::vector<std::string> seeds;
  std::vector<std::string> policies;
  OutputOptions output;
};

std::vector<sim::ArrivalOrder> orders_of(const PackingOptions& options, std::vector<sim::ArrivalOrder> all) {
  std::vector<sim::ArrivalOrder> orders;
  for (const std::string& text : list_of(options.seeds, "--seed")) {
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc() || end != text.data() + text.size())
      fail(invalid("--seed: expected whole numbers from 0, got \"" + text + "\""), kBadInput);
    const auto it =
        std::find_if(all.begin(), all.end(), [&](const sim::ArrivalOrder& order) { return order.seed == seed; });
    if (it == all.end())
      fail(invalid(options.arrivals + ": no arrival order of seed " + std::to_string(seed)), kBadInput);
    orders.push_back(*it);
  }
  return options.seeds.empty() ? std::move(all) : std::move(orders);
}

void run_packing_verb(const PackingOptions& options) {
  std::vector<config::ProfileSpec> specs;
  const std::vector<std::string> policies = list_of(options.policies, "--policy");
  for (const std::string& policy : policies) {
    specs.push_back(must(config::find_profile(policy)));
    if (specs.back().profile.victim != VictimRule::kNone)
      fail(invalid("profile \"" + policy +
                   "\" stops running jobs; in a packing replay pods stay, so there is nothing for it to do"),
           kBadInput);
  }
  options.output.refuse_inputs({options.nodes, options.pods, options.arrivals}, specs);
  auto nodes = must(sim::read_openb_nodes(options.nodes));
  auto pods = must(sim::read_openb_pods(options.pods, nodes));
  const auto orders = orders_of(options, must(sim::read_arrivals(options.arrivals, pods.size(), nodes.size())));
  const sim::PackingTrace trace = must(sim::PackingTrace::make(std::move(nodes), std::move(pods)));
  std::vector<sim::PackingRun> runs;
  for (const sim::ArrivalOrder& order : orders) {
    for (std::size_t p = 0; p < specs.size(); ++p) {
      cli::ProgressBar bar(policies[p] + ", seed " + std::to_string(order.seed),
                           static_cast<std::int64_t>(order.arrivals.size()));
      const Profile profile =
          config::resolved(specs[p], [&](std::string_view name) { return trace.catalog().find_model(name); });
      runs.push_back(sim::run_packing(trace, order, profile, {.progress = progress_of(bar), .arrived = {}}));
    }
  }
  const std::vector<std::pair<std::string, std::string>> facts{
      {"nodes", options.nodes}, {"pods", options.pods}, {"arrivals", options.arrivals}};
  write_results<sim::PackingRun>(runs, {sim::packing_json, sim::packing_csv, sim::narrow_packing_rows, kPackingNote},
                                 options.output, packing_page(runs, facts));
}

void add_packing_replay(CLI::App& sim) {
  auto options = std::make_shared<PackingOptions>();
  CLI::App* verb =
      sim.add_subcommand("packing", "Pods arrive one by one and stay: allocation and fragmentation under each policy");
  verb->add_option("--nodes", options->nodes,
                   "Node list: sn,cpu_milli,memory_mib,gpu,model (.csv, also .gz, .xz, .zst)")
      ->required()
      ->type_name("FILE")
      ->check(any_file());
  verb->add_option("--pods", options->pods,
                   "Pod list: name, cpu_milli, memory_mib, num_gpu, gpu_milli and, if wanted, gpu_spec")
      ->required()
      ->type_name("FILE")
      ->check(any_file());
  verb->add_option("--arrivals", options->arrivals, "Arrival orders: seed,kind,values")
      ->required()
      ->type_name("FILE")
      ->check(any_file());
  verb->add_option("--seed", options->seeds, "Seeds of the arrival file, separated by commas; default: all")
      ->type_name("SEED")
      ->allow_extra_args(false);
  verb->add_option("--policy", options->policies,
                   "Profiles: fgd, best-fit, dotprod, gpu-packing, gpu-clustering, random, another one or a profile "
                   "file; separated by commas")
      ->type_name("PROFILE")
      ->check(profile_or_file())
      ->required()
      ->allow_extra_args(false);
  options->output.add_to(*verb);
  verb->callback([options] { run_packing_verb(*options); });
}

/// `--per-job FILE`: each job of each run, beside the results.
class PerJob {
 public:
  explicit PerJob(const OutputOptions& options) : path_(options.per_job) {}
  static void add_to(CLI::App& app, OutputOptions& options) {
    app.add_option("--per-job", options.per_job, "Also write a line for each job that ended to this CSV file")
        ->type_name("FILE")
        ->check(file_to_write());
  }
  /// Takes the jobs of one run; empty if no file is asked for.
  sim::OnOutcome of(const std::string& policy, std::function<std::string(std::uint32_t vc)> name_of) {
    if (path_.empty()) return {};
    return [this, policy, name_of = std::move(name_of)](const sim::JobOutcome& outcome) {
      lines_.add(policy, name_of(outcome.vc), outcome);
    };
  }
  void write() const {
    if (path_.empty()) return;
    if (const Result<void> written = sim::write_whole_file(path_, lines_.text()); !written)
      fail(written.error(), kFailed);
  }

 private:
  std::string path_;
  sim::JobLines lines_;
};

// ---- queue ----------------------------------------------------------------------------------------------------------

struct QueueOptions {
  std::string jobs, vcs, overhead = "7,30,60", stops = "lower";
  std::int32_t shrink = 1;
  std::uint32_t threads = 0;
  bool is_pooled = false;
  std::vector<std::string> policies;
  OutputOptions output;
};

StopRules::Own own_rule_called(std::string_view word) {
  const auto it = std::ranges::find(kOwnWords, word);
  return static_cast<StopRules::Own>(it - std::begin(kOwnWords));
}

void run_queue_verb(const QueueOptions& options) {
  const sim::RestartOverhead overhead = must(sim::parse_restart_overhead(options.overhead));
  const std::vector<std::string> policies = list_of(options.policies, "--policy");
  std::vector<config::ProfileSpec> specs;
  specs.reserve(policies.size());
  for (const std::string& name : policies) specs.push_back(profile_spec(name));
  options.output.refuse_inputs({options.jobs, options.vcs}, specs);
  const std::vector<sim::VcNodes> vcs = must(sim::read_vcs(options.vcs));
  const sim::JobTrace trace = must(sim::read_jobs_for_replay(options.jobs, vcs));
  sim::QueueReplay replay{.trace = trace,
                          .vcs = vcs,
                          .shrink = options.shrink,
                          .is_pooled = options.is_pooled,
                          .overhead = overhead,
                          .stops = own_rule_called(options.stops),
                          .has_series = !options.output.report.empty(),
                          .threads = options.threads,
                          .progress = {}};
  if (const Result<void> checked = sim::check_replay(replay); !checked)
    fail(invalid(options.jobs + ":" + checked.error().message), kBadInput);
  std::vector<sim::QueueRun> runs;
  PerJob per_job(options.output);
  for (std::size_t p = 0; p < policies.size(); ++p) {
    cli::ProgressBar bar(policies[p], static_cast<std::int64_t>(trace.jobs.size()));
    replay.progress = progress_of(bar);
    replay.ended = per_job.of(policies[p], [&](std::uint32_t vc) { return trace.vcs[vc]; });
    const Profile profile = config::resolved(specs[p], [](std::string_view) { return DeviceClassId::none(); });
    runs.push_back(sim::run_queue(replay, policies[p], profile));
  }
  const std::vector<std::pair<std::string, std::string>> facts{
      {"jobs", options.jobs},
      {"nodes of the virtual clusters", options.vcs},
      {"nodes divided by", std::to_string(options.shrink)},
      {"virtual clusters are", options.is_pooled ? "pooled" : "isolated"},
      {"restart overhead", options.overhead + " s"},
      {"whom jobs stop in their queue", options.stops}};
  per_job.write();
  write_results<sim::QueueRun>(runs, {sim::queue_json, sim::queue_csv, sim::narrow_queue_rows, kQueueNote},
                               options.output, queue_page("Queueing replay", runs, facts));
}

void add_queue_replay(CLI::App& sim) {
  auto options = std::make_shared<QueueOptions>();
  CLI::App* verb = sim.add_subcommand("queue", "Rigid jobs on virtual clusters: waiting times under each policy");
  verb->add_option("--jobs", options->jobs,
                   "Job trace: vc,gpu_num,submit_time,duration[,priority] (.csv, also .gz, .xz, .zst)")
      ->required()
      ->type_name("FILE")
      ->check(any_file());
  verb->add_option("--vcs", options->vcs, "Nodes of 8 GPUs per virtual cluster: vc,node num")
      ->required()
      ->type_name("FILE")
      ->check(any_file());
  verb->add_option("--shrink", options->shrink, "Divide every virtual cluster's nodes by this, rounding up")
      ->type_name("NUMBER")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  verb->add_option("--policy", options->policies,
                   "Profiles: fifo, fifo-skip, easy, sjf, sjf-skip, qssf, qssf-oracle, tiresias, srtf, another one or "
                   "a profile file; separated by commas")
      ->type_name("PROFILE")
      ->check(profile_or_file())
      ->required()
      ->allow_extra_args(false);
  verb->add_flag("--pooled", options->is_pooled, "One cluster of all virtual clusters' nodes");
  verb->add_option("--restart-overhead", options->overhead,
                   "Restart overhead in seconds of a job of 1 GPU, of up to 8, of more")
      ->type_name("A,B,C")
      ->capture_default_str();
  verb->add_option("--stops", options->stops, "Whom jobs stop in their queue, with victim priority or lost-work")
      ->type_name("RULE")
      ->check(one_of({std::begin(kOwnWords), std::end(kOwnWords)}))
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "Threads for the virtual clusters; 0 = one per core")
      ->type_name("NUMBER")
      ->check(whole_number(0, INT32_MAX))
      ->capture_default_str();
  PerJob::add_to(*verb, options->output);
  options->output.add_to(*verb);
  verb->callback([options] { run_queue_verb(*options); });
}

// ---- run ------------------------------------------------------------------------------------------------------------

struct RunOptions {
  std::string scenario;
  std::vector<std::string> policies;
  OutputOptions output;
};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

void run_scenario_verb(const RunOptions& options) {
  const sim::Scenario scenario = must(sim::read_scenario(options.scenario));
  std::vector<config::ProfileSpec> specs;
  for (const std::string& name : list_of(options.policies, "--policy")) specs.push_back(profile_spec(name));
  if (options.policies.empty())
    for (const std::string& name : scenario.profiles) specs.push_back(profile_spec(name, folder_of(options.scenario)));
  std::vector<std::string> inputs{options.scenario};
  for (const sim::ScenarioTrace& trace : scenario.traces) inputs.push_back(trace.path);
  options.output.refuse_inputs(std::move(inputs), specs);
  sim::ScenarioRun simulation = must(sim::ScenarioRun::make(scenario));
  for (const std::string& note : simulation.notes()) std::cerr << "ashlar sim run: " << note << '\n';
  std::vector<sim::QueueRun> runs;
  PerJob per_job(options.output);
  for (const config::ProfileSpec& spec : specs) {
    Profile profile = config::resolved(spec, [&](std::string_view name) { return simulation.model(name); });
    if (!spec.has_seed) profile.seed = scenario.seed;
    cli::ProgressBar bar(profile.name, simulation.jobs_expected());
    const auto name_of = [&](std::uint32_t queue) { return scenario.queues[queue].name; };
    runs.push_back(simulation.run(profile, progress_of(bar), {}, per_job.of(profile.name, name_of)));
  }
  per_job.write();
  const std::vector<std::pair<std::string, std::string>> facts{{"scenario", options.scenario},
                                                               {"nodes", std::to_string(scenario.nodes.size())},
                                                               {"GPUs", std::to_string(scenario.devices())},
                                                               {"seed", std::to_string(scenario.seed)}};
  const std::string title =
      scenario.title.empty() ? std::filesystem::path(options.scenario).filename().string() : scenario.title;
  write_results<sim::QueueRun>(runs, {sim::queue_json, sim::queue_csv, sim::narrow_queue_rows, kQueueNote},
                               options.output, queue_page(title, runs, facts));
}

void add_run(CLI::App& sim) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = sim.add_subcommand(
      "run", "A scenario of nodes, queues, work and failures in virtual time, under one profile or several");
  verb->add_option("SCENARIO", options->scenario, "YAML file (docs/reference/scenario.md)")
      ->required()
      ->type_name("")
      ->check(any_file());
  verb->add_option("--policy", options->policies, "Profiles instead of the scenario's own; separated by commas")
      ->type_name("PROFILE")
      ->check(profile_or_file())
      ->allow_extra_args(false);
  PerJob::add_to(*verb, options->output);
  options->output.add_to(*verb);
  verb->callback([options] { run_scenario_verb(*options); });
}

}  // namespace

void add_sim(CLI::App& app) {
  CLI::App* sim = app.add_subcommand("sim", "Simulate: the same engine in virtual time, on traces or generated work");
  sim->require_subcommand(1);
  add_packing_replay(*sim);
  add_queue_replay(*sim);
  add_run(*sim);
  for (CLI::App* verb : sim->get_subcommands([](CLI::App*) { return true; })) verb->group("Verbs");
}

}  // namespace ashlar
