// bench_simulations: many small simulations, all drawn, each of them twice: what must be true of every decision is, the
// second time gives the same plans, and each job that can end does. The exit status is 1 if anything is not so.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench_report.h"
#include "config/profile_file.h"
#include "simulation.h"
#include "worlds.h"

namespace {

using namespace ashlar;
using namespace ashlar::bench;

struct Options {
  std::uint64_t count = 2000, seed = 1;
  bool is_shown = false;
};

/// A decision that does not come to an end cannot be interrupted: the process ends, with the seeds that are played.
constexpr unsigned kSecondsMax = 120;
std::array<std::atomic<std::uint64_t>, 64> playing;
extern "C" void end_with_seeds(int) {
  for (const auto& seed : playing)
    if (seed != 0)
      std::fprintf(stderr, "bench simulations: seed %llu may not come to an end\n",
                   static_cast<unsigned long long>(seed));
  std::_Exit(1);
}

std::vector<std::string> play(std::uint64_t seed, Sums& sums) {
  try {
    return Simulation(seed).play(sums);
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

Sums play_all(const Options& options) {
  Sums all;
  std::mutex lock;
  std::atomic<std::uint64_t> next = options.seed;
  const auto work = [&](std::size_t thread) {
    for (std::uint64_t seed = next++; seed < options.seed + options.count; seed = next++) {
      playing[thread] = seed;
      alarm(kSecondsMax);
      Sums sums;
      const std::vector<std::string> wrong = play(seed, sums);
      const std::lock_guard guard(lock);
      all.decisions += sums.decisions;
      all.starts += sums.starts;
      all.stops += sums.stops;
      all.faulty += wrong.empty() ? 0 : 1;
      for (const std::string& words : wrong)
        std::printf("  seed %llu: %s\n", static_cast<unsigned long long>(seed), words.c_str());
    }
    playing[thread] = 0;
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t < std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, playing.size()); ++t)
    threads.emplace_back(work, t);
  work(0);
  for (std::thread& thread : threads) thread.join();
  alarm(0);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Many small simulations, all drawn: is every decision as it must be?");
  app.add_option("COUNT", options.count, "how many")->capture_default_str();
  app.add_option("--seed", options.seed, "of the first; the next one's is one more")->capture_default_str();
  app.add_flag("--show", options.is_shown, "print the scenario of that seed, and play none");
  CLI11_PARSE(app, argc, argv);
  if (options.is_shown) {
    const DrawnSimulation drawn = drawn_simulation(options.seed);
    const Profile& p = drawn.profile;
    std::printf(
        "# order: %s, queueOrder: %s, blocking: %s, victim: %s, grace: %lld ms, halfLife: %lld ms, seed: %llu\n%s",
        std::string(p.order->name).c_str(), std::string(p.queue_order->name).c_str(),
        std::string(kBlockingNames[static_cast<std::size_t>(p.blocking)]).c_str(),
        std::string(config::kVictimNames[static_cast<std::size_t>(p.victim)]).c_str(),
        static_cast<long long>(p.grace.value), static_cast<long long>(p.half_life.value),
        static_cast<unsigned long long>(p.seed), drawn.scenario.c_str());
    return 0;
  }
  std::signal(SIGALRM, end_with_seeds);
  Report report("Drawn simulations");
  const Sums sums = play_all(options);
  report.note("simulations, each played twice", static_cast<double>(options.count), "");
  report.note("decisions", static_cast<double>(sums.decisions), "");
  report.note("starts", static_cast<double>(sums.starts), "");
  report.note("stops", static_cast<double>(sums.stops), "");
  report.at_most("simulations in which something is not as it must be", static_cast<double>(sums.faulty), "", 0);
  return report.finish();
}
