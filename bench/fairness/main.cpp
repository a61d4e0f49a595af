// bench_fairness: do queues get what their weights say? Plays a week of too much work under queue orders, and computes
// Jain's index of the GPU time that queues had, for their weights, while jobs of them waited.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench_report.h"
#include "folders.h"
#include "sim/scenario/run.h"

namespace {

using namespace ashlar;
using namespace ashlar::bench;

constexpr double kJainPercentMin = 99;

/// GPU seconds of queues while they had waiting jobs.
class Shares {
 public:
  void look(const State& state, const Engine& engine, Millis now) {
    const QueueTree& queues = state.queues();
    had_.resize(queues.rows());
    held_.resize(queues.rows());
    const double seconds = static_cast<double>((now - last_).value) / 1000;
    for (std::size_t q = 0; q < had_.size(); ++q) had_[q] += held_[q] * seconds;
    last_ = now;
    std::fill(held_.begin(), held_.end(), 0.0);
    engine.pending().each_class([&](ClassId, const PendingQueue::Class& waiting) {
      const QueueId queue = waiting.key.queue;
      held_[queue.row()] = static_cast<double>(queues.used(queue)[0]) / kWholeDevice;
    });
  }
  double had(QueueId queue) const { return queue.row() < had_.size() ? had_[queue.row()] : 0; }

 private:
  std::vector<double> had_, held_;  ///< by queue
  Millis last_{0};
};

double weight_of(const std::vector<sim::ScenarioQueue>& queues, std::size_t q) {
  double siblings = 0;
  for (const sim::ScenarioQueue& other : queues)
    if (other.parent == queues[q].parent) siblings += static_cast<double>(other.rank.weight);
  const double part = static_cast<double>(queues[q].rank.weight) / siblings;
  return queues[q].parent < 0 ? part : part * weight_of(queues, static_cast<std::size_t>(queues[q].parent));
}

bool has_children(const std::vector<sim::ScenarioQueue>& queues, std::size_t q) {
  return std::ranges::any_of(
      queues, [&](const sim::ScenarioQueue& other) { return other.parent == static_cast<std::int32_t>(q); });
}

/// Jain's index of the leaves in percent; prints them.
double jain(const sim::Scenario& scenario, const Shares& shares) {
  double sum = 0, squares = 0, count = 0;
  for (std::size_t q = 0; q < scenario.queues.size(); ++q) {
    if (has_children(scenario.queues, q)) continue;
    const double hours = shares.had(QueueId(q + 1)) / 3600, weight = weight_of(scenario.queues, q);  // row 0: the root
    std::printf("    %-10s %5.1f %% by weight  %8.0f GPU hours  %8.0f for its weight\n",
                scenario.queues[q].name.c_str(), 100 * weight, hours, hours / weight);
    sum += hours / weight;
    squares += hours / weight * (hours / weight);
    ++count;
  }
  return squares > 0 ? 100 * sum * sum / (count * squares) : 0;
}

double play(const sim::Scenario& scenario, const sim::ScenarioRun& simulation, const char* order) {
  Profile profile = std::move(builtin_profile("ashlar")).value();
  profile.queue_order = find_queue_order(order);
  Shares shares;
  const Millis horizon = scenario.horizon.value_or(Millis::max());
  const sim::QueueRun run = simulation.run(profile, {}, [&](State& state, Engine& engine, const Plan& plan) {
    if (plan.at <= horizon) shares.look(state, engine, plan.at);
  });
  std::printf("  %s: %lld jobs ended\n", order, static_cast<long long>(run.jobs));
  return jain(scenario, shares);
}

template <class Made>
Made must(Result<Made> made) {
  if (made) return *std::move(made);
  std::fprintf(stderr, "bench fairness: %s\n", made.error().message.c_str());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  std::string path = ASHLAR_SOURCE_DIR "/bench/fairness/week.yaml";
  CLI::App app("Do queues get what their weights say?");
  app.add_option("--scenario", path, "what to play")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const sim::Scenario scenario = must(sim::read_scenario(path));
  const sim::ScenarioRun simulation = must(sim::ScenarioRun::make(scenario));
  Report report("GPU time of queues by weight");
  report.note("Jain's index under by-job", play(scenario, simulation, "by-job"), "%");
  for (const char* order : {"drf", "fair-tree"})
    report.at_least(std::string("Jain's index under ") + order, play(scenario, simulation, order), "%",
                    kJainPercentMin);
  return report.finish();
}
