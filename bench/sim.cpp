// bench sim: how fast the simulator is, as whole processes: starting, reading packed input, simulating, writing the result to nowhere. Each case runs in
// a child process, best of N by wall time; its peak memory is that of the child. Published traces are read from $ASHLAR_TRACES (default ../shared/traces
// beside the repository); cases whose traces are absent are said to be skipped. `bench_sim --child CASE` runs one case, for profilers.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "bench_report.h"
#include "policy/profile.h"
#include "sim/packing.h"
#include "sim/queue.h"
#include "sim/readers/openb.h"
#include "sim/readers/queue_trace.h"
#include "sim/readers/scenario.h"
#include "sim/scenario_run.h"

namespace {

using namespace ashlar;
using namespace ashlar::sim;

constexpr int kRuns = 5;
constexpr double kMillionJobs = 1e6;

std::string traces() {
  const char* const set = std::getenv("ASHLAR_TRACES");
  return set != nullptr && *set != '\0' ? set : ASHLAR_SOURCE_DIR "/../shared/traces";
}

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "bench sim: %s\n", result.error().message.c_str());
  std::exit(2);
}

void run_packing_case(const std::string& policy) {
  const std::string folder = traces() + "/packing/";
  auto nodes = must(read_openb_nodes(folder + "openb/openb_node_list_gpu_node.csv.zst"));
  auto pods = must(read_openb_pods(folder + "openb/openb_pod_list_default.csv.zst", nodes));
  const auto orders = must(read_arrivals(folder + "fgd-arrivals/default.csv.xz", pods.size(), nodes.size()));
  const PackingTrace trace = must(PackingTrace::make(std::move(nodes), std::move(pods)));
  const PackingRun run = run_packing(trace, orders.front(), must(builtin_profile(policy)));
  std::printf("%s", packing_json({&run, 1}).c_str());
}

void run_queue_case(const std::string& policy) {
  const JobTrace trace = must(read_jobs(traces() + "/philly-p-octnov-replay-input.csv.xz"));
  const auto vcs = must(read_vcs(traces() + "/philly-vc-nodes.csv.xz"));
  const QueueReplay replay{.trace = trace, .vcs = vcs, .shrink = 4};
  const QueueRules rules = must(find_queue_rules(policy));
  const QueueRun run = run_queue(replay, rules, must(builtin_profile(rules.profile)));
  std::printf("%s", queue_json({&run, 1}).c_str());
}

void run_million_case(const std::string& profile) {
  const Scenario scenario = must(read_scenario(ASHLAR_SOURCE_DIR "/bench/sim_million.yaml"));
  const ScenarioRun simulation = must(ScenarioRun::make(scenario));
  const QueueRun run = simulation.run(must(builtin_profile(profile)));
  if (run.jobs + run.unfinished_jobs != static_cast<std::int64_t>(kMillionJobs)) std::exit(1);
  std::printf("%s", queue_json({&run, 1}).c_str());
}

void run_case(const std::string& name) {
  const std::size_t slash = name.find('/');
  const std::string kind = name.substr(0, slash), policy = slash == std::string::npos ? "" : name.substr(slash + 1);
  if (kind == "packing")
    run_packing_case(policy);
  else if (kind == "queue")
    run_queue_case(policy);
  else if (kind == "million")
    run_million_case(policy);
}

struct Measured {
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all threads; on a busy machine it says more than the wall
  double mebibytes = 0;
};

/// One child process; none if it failed.
std::optional<Measured> measure_once(const char* self, const std::string& name) {
  std::fflush(stdout);  // or the child would print it again
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(3);
    execl(self, self, "--child", name.c_str(), static_cast<char*>(nullptr));
    _exit(3);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return Measured{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), seconds(used.ru_utime) + seconds(used.ru_stime),
                  static_cast<double>(used.ru_maxrss) / 1024};
}

Measured measure(const char* self, const std::string& name, int runs) {
  std::optional<Measured> best;
  for (int i = 0; i < runs; ++i) {
    const std::optional<Measured> m = measure_once(self, name);
    if (!m) {
      std::fprintf(stderr, "bench sim: the case %s failed\n", name.c_str());
      std::exit(1);
    }
    if (!best || m->seconds < best->seconds) best = m;
  }
  return *best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--child") == 0) {
    run_case(argv[2]);
    return 0;
  }
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) return 2;
  self[length] = '\0';
  bench::Report report("bench sim: whole processes, wall milliseconds, best of " + std::to_string(kRuns));
  const auto line = [&](const std::string& what, const std::string& name, double limit_ms) {
    const Measured best = measure(self, name, kRuns);
    report.at_most(what, best.seconds * 1000, "ms", limit_ms);
    report.note("  the same: CPU time of all threads", best.cpu_seconds * 1000, "ms");
  };
  if (std::filesystem::is_directory(traces())) {
    line("openb default, 1,213 nodes, 10,866 arrivals, one seed: FGD", "packing/fgd", 150);
    line("Philly-P, 68,503 jobs, a quarter of the nodes: FIFO", "queue/fifo", 500);
    line("Philly-P, 68,503 jobs, a quarter of the nodes: Tiresias", "queue/tiresias", 4000);
    line("Philly-P, 68,503 jobs, a quarter of the nodes: SRTF", "queue/srtf", 4000);
  } else {
    std::printf("  SKIPPED: no published traces in %s; set ASHLAR_TRACES to the folder that holds them\n", traces().c_str());
  }
  const Measured million = measure(self, "million/ashlar", 3);
  report.at_most("1,000,000 generated jobs, 1,250 x 8 cards, load 0.85, 10 % gangs, profile ashlar (best of 3)", million.seconds * 1000, "ms", 10000);
  report.note("  the same: CPU time of all threads", million.cpu_seconds * 1000, "ms");
  report.note("  the same: events (submit, start, end) a second, thousands", 3 * kMillionJobs / million.seconds / 1000, "k/s");
  report.at_most("  the same: peak memory of the process, by job", million.mebibytes * 1024 * 1024 / kMillionJobs, "bytes", 300);
  return report.finish();
}
