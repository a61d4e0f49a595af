// bench_easy: does EASY hold jobs without need? Plays scenarios under easy blocking, draws jobs that it holds, and asks
// the oracle whether each would have delayed the first waiting jobs ahead of it; then the mean queue beside skip's. The
// exit status is 1 if one is held in vain, or if the mean queue is longer than allowed and fewer than drawn are shown to delay.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "bench_report.h"
#include "folders.h"
#include "held.h"
#include "sim/scenario/run.h"
#include "tally.h"
#include "worlds.h"

namespace {

using namespace ashlar;
using namespace ashlar::bench;

/// A mean queue beyond this part of skip's, in percent, has to be explained: each drawn job delays a head.
constexpr double kQueuePercentMax = 120;

struct Options {
  int draws = 200, worlds = 20;
  std::int64_t jobs = 0;
  std::uint64_t seed = 1;
  std::string path = ASHLAR_SOURCE_DIR "/bench/sim_million.yaml";
};

Profile profile_with(Blocking blocking) {
  Profile profile = std::move(builtin_profile("ashlar")).value();
  profile.blocking = blocking;
  return profile;
}

/// Waits until the start, by the width of jobs.
struct Waits {
  struct Sum {
    std::int64_t jobs = 0;
    double seconds = 0, longest = 0;
    double mean() const { return seconds / static_cast<double>(jobs); }
  };
  std::map<std::int64_t, Sum> by_devices;

  void add(const State& state, const Plan& plan) {
    JobId before;
    for (const Action& action : plan.actions) {
      const auto* bind = std::get_if<Bind>(&action);
      if (bind == nullptr || bind->job == before) continue;
      before = bind->job;
      const double seconds = static_cast<double>((plan.at - state.job(bind->job).submitted).value) / 1000;
      Sum& sum = by_devices[state.job(bind->job).devices_total];
      ++sum.jobs;
      sum.seconds += seconds;
      sum.longest = std::max(sum.longest, seconds);
    }
  }
};

struct Outcome {
  double mean_queue = 0;
  Waits waits;
  std::int64_t held = 0;
  Tally tally;
};

Outcome play_skip(const sim::ScenarioRun& simulation) {
  Outcome outcome;
  const auto watch = [&](State& state, Engine&, const Plan& plan) { outcome.waits.add(state, plan); };
  outcome.mean_queue = simulation.run(profile_with(Blocking::kSkip), {}, watch).mean_queue_seconds;
  return outcome;
}

/// As many different ordinals below `count` as are asked for, or all; ascending.
std::vector<std::int64_t> draw_distinct(int draws, std::int64_t count, std::uint64_t seed) {
  Rng rng(seed);
  const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(draws, count));
  std::set<std::int64_t> drawn;
  while (drawn.size() < wanted) drawn.insert(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(count))));
  return {drawn.begin(), drawn.end()};
}

/// Two runs: one counts the held jobs, the other looks at those drawn of them.
Outcome play_easy(const sim::ScenarioRun& simulation, int draws, std::uint64_t seed) {
  const Profile easy = profile_with(Blocking::kEasy);
  Outcome outcome;
  HeldJobs counted;
  const auto count = [&](State& state, Engine& engine, const Plan& plan) {
    outcome.held += static_cast<std::int64_t>(counted.newly(state, engine).size());
    outcome.waits.add(state, plan);
  };
  outcome.mean_queue = simulation.run(easy, {}, count).mean_queue_seconds;
  const std::vector<std::int64_t> drawn = draw_distinct(draws, outcome.held, seed);
  if (drawn.empty()) return outcome;
  HeldJobs again;
  std::int64_t ordinal = 0;
  std::size_t next = 0;
  simulation.run(easy, {}, [&](State& state, Engine& engine, const Plan& plan) {
    if (next == drawn.size()) return;
    for (const JobId job : again.newly(state, engine)) {
      if (next < drawn.size() && ordinal == drawn[next]) {
        outcome.tally.look_at(state, engine, plan.at, job);
        ++next;
      }
      ++ordinal;
    }
  });
  return outcome;
}

template <class Made>
Made must(Result<Made> made) {
  if (made) return *std::move(made);
  std::fprintf(stderr, "bench easy: %s\n", made.error().message.c_str());
  std::exit(1);
}

void print_waits(const Waits& skip, const Waits& easy) {
  std::printf("    devices of a job: mean and longest wait under skip, under easy, in seconds\n");
  for (const auto& [devices, sum] : skip.by_devices) {
    const auto it = easy.by_devices.find(devices);
    if (it == easy.by_devices.end()) continue;
    std::printf("    %4lld  %8.1f %8.0f   %8.1f %8.0f\n", static_cast<long long>(devices), sum.mean(), sum.longest,
                it->second.mean(), it->second.longest);
  }
}

void measure_scenario(Report& report, const Options& options) {
  sim::Scenario scenario = must(sim::read_scenario(options.path));
  if (options.jobs > 0 && !scenario.arrivals.empty()) scenario.arrivals.front().count = options.jobs;
  const sim::ScenarioRun simulation = must(sim::ScenarioRun::make(scenario));
  const Outcome skip = play_skip(simulation), easy = play_easy(simulation, options.draws, options.seed);
  std::printf("  %s: %lld jobs are held at some time\n", options.path.c_str(), static_cast<long long>(easy.held));
  easy.tally.print();
  print_waits(skip.waits, easy.waits);
  report.note("mean queue under skip", skip.mean_queue, "s");
  report.note("mean queue under easy", easy.mean_queue, "s");
  const Tally& tally = easy.tally;
  report.note(
      "promised times of the first waiting job that pass before it starts, of " + std::to_string(tally.of_first.made),
      tally.of_first.broken, "times");
  report.at_most("held in vain, of " + std::to_string(tally.drawn) + " drawn", tally.in_vain, "jobs", 0);
  const double percent = 100 * easy.mean_queue / skip.mean_queue;
  if (percent <= kQueuePercentMax) return report.at_most("mean queue of skip's", percent, "%", kQueuePercentMax);
  report.note("mean queue of skip's (beyond 120: each drawn job must delay a head)", percent, "%");
  report.at_least("drawn held jobs, no two the same, that delay a first waiting job", tally.drawn - tally.in_vain,
                  "jobs", static_cast<double>(std::min<std::int64_t>(options.draws, easy.held)));
}

void measure_worlds(Report& report, const Options& options) {
  Tally all;
  double skip = 0, easy = 0;
  for (int w = 0; w < options.worlds; ++w) {
    const std::string text = drawn_world(options.seed * 1000 + static_cast<std::uint64_t>(w));
    const sim::Scenario scenario = must(sim::parse_scenario(text, "drawn world " + std::to_string(w)));
    const sim::ScenarioRun simulation = must(sim::ScenarioRun::make(scenario));
    skip += play_skip(simulation).mean_queue / options.worlds;
    const Outcome outcome = play_easy(simulation, std::max(options.draws / 10, 1), options.seed);
    easy += outcome.mean_queue / options.worlds;
    all.add(outcome.tally, "world " + std::to_string(w));
  }
  std::printf("\n  %d drawn worlds\n", options.worlds);
  all.print();
  report.note("mean queue of the drawn worlds under skip", skip, "s");
  report.note("mean queue of the drawn worlds under easy", easy, "s");
  report.note("held in vain there, of " + std::to_string(all.drawn) + " drawn", all.in_vain, "jobs");
  report.note("promised times that pass there, of " + std::to_string(all.of_first.made), all.of_first.broken, "times");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Does EASY hold jobs without need?");
  app.add_option("--scenario", options.path, "what to play")->capture_default_str();
  app.add_option("--jobs", options.jobs, "of the scenario's first stream; 0: as the scenario says")
      ->capture_default_str();
  app.add_option("--draw", options.draws, "held jobs to look at")->capture_default_str();
  app.add_option("--worlds", options.worlds, "smaller drawn worlds beside it")->capture_default_str();
  app.add_option("--seed", options.seed, "of the draws")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  Report report("EASY beside skip, and what it holds");
  measure_scenario(report, options);
  if (options.worlds > 0) measure_worlds(report, options);
  return report.finish();
}
