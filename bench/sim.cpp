// bench sim: how fast the simulator is, as a user feels it: whole processes of the program `ashlar` beside this one,
// from start to exit, reading packed input. Best of N by wall time; peak memory is that of the process. Published
// traces are read from $ASHLAR_TRACES (default ../shared/traces beside the repository); cases whose traces are absent
// are said to be skipped.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "bench_report.h"
#include "folders.h"

namespace {

using namespace ashlar;
using Words = std::vector<std::string>;

constexpr int kRuns = 5;
constexpr int kRunsOfAMillion = 3;
constexpr double kMillionJobs = 1e6;

std::string traces() {
  const char* const set = std::getenv("ASHLAR_TRACES");
  return set != nullptr && *set != '\0' ? set : ASHLAR_SOURCE_DIR "/../shared/traces";
}

Words packing(const std::string& policy) {
  const std::string folder = traces() + "/packing/";
  return {"sim",        "packing",
          "--nodes",    folder + "openb/openb_node_list_gpu_node.csv.zst",
          "--pods",     folder + "openb/openb_pod_list_default.csv.zst",
          "--policy",   policy,
          "--arrivals", folder + "fgd-arrivals/default.csv.xz",
          "--seed",     "42",
          "-o",         "json"};
}

Words queue(const std::string& policy) {
  return {"sim",      "queue",
          "--jobs",   traces() + "/philly-p-octnov-replay-input.csv.xz",
          "--vcs",    traces() + "/philly-vc-nodes.csv.xz",
          "--shrink", "4",
          "--policy", policy,
          "-o",       "json"};
}

struct Measured {
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all threads; on a busy machine it says more than the wall
  double mebibytes = 0;
  std::string output;
  /// The number behind "key": in the JSON that was printed; 0 where it is absent.
  double value(const std::string& key) const {
    const std::size_t at = output.find("\"" + key + "\":");
    return at == std::string::npos ? 0 : std::strtod(output.c_str() + at + key.size() + 3, nullptr);
  }
};

/// One process; none if it failed. What it prints goes to a file, as with a shell.
std::optional<Measured> measure_once(const std::string& program, const Words& words, const std::string& out) {
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::fflush(stdout);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0) _exit(3);
    execv(program.c_str(), arguments.data());
    _exit(3);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::nullopt;
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  std::ifstream printed(out);
  return Measured{wall, seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024,
                  std::string(std::istreambuf_iterator<char>(printed), {})};
}

Measured measure(const std::string& program, const Words& words, int runs) {
  const std::string out =
      (std::filesystem::temp_directory_path() / ("bench-sim-" + std::to_string(getpid()) + ".json")).string();
  std::optional<Measured> best;
  for (int i = 0; i < runs; ++i) {
    const std::optional<Measured> m = measure_once(program, words, out);
    if (!m) {
      std::fprintf(stderr, "bench sim: %s %s %s failed\n", program.c_str(), words[0].c_str(), words[1].c_str());
      std::exit(1);
    }
    if (!best || m->seconds < best->seconds) best = m;
  }
  std::filesystem::remove(out);
  return *best;
}

}  // namespace

int main() {
  const std::string program = (std::filesystem::canonical("/proc/self/exe").parent_path() / "ashlar").string();
  bench::Report report("bench sim: whole processes of ashlar, wall milliseconds, best of " + std::to_string(kRuns));
  const auto line = [&](const std::string& what, const Words& words, double limit_ms) {
    const Measured best = measure(program, words, kRuns);
    report.at_most(what, best.seconds * 1000, "ms", limit_ms);
    report.note("  the same: CPU time of all threads", best.cpu_seconds * 1000, "ms");
    report.note("  the same: the replay alone (wall_seconds)", best.value("wall_seconds") * 1000, "ms");
  };
  if (std::filesystem::is_directory(traces())) {
    line("openb default, 1,213 nodes, 10,866 arrivals, one seed: FGD", packing("fgd"), 150);
    line("Philly-P, 68,503 jobs, a quarter of the nodes: FIFO", queue("fifo"), 500);
    line("Philly-P, 68,503 jobs, a quarter of the nodes: Tiresias", queue("tiresias"), 4000);
    line("Philly-P, 68,503 jobs, a quarter of the nodes: SRTF", queue("srtf"), 4000);
  } else {
    std::printf("  SKIPPED: no published traces in %s; set ASHLAR_TRACES to the folder that holds them\n",
                traces().c_str());
  }
  const auto million = [&](const std::string& file, const std::string& what, double limit_ms) {
    const Measured best =
        measure(program, {"sim", "run", ASHLAR_SOURCE_DIR "/bench/" + file, "-o", "json"}, kRunsOfAMillion);
    if (best.value("jobs") + best.value("unfinished_jobs") != kMillionJobs) {
      std::fprintf(stderr, "bench sim: the million jobs of %s did not all come\n", file.c_str());
      std::exit(1);
    }
    report.at_most(what, best.seconds * 1000, "ms", limit_ms);
    report.note("  the same: CPU time of all threads", best.cpu_seconds * 1000, "ms");
    report.note("  the same: events (submit, start, end) a second, thousands", 3 * kMillionJobs / best.seconds / 1000,
                "k/s");
    report.at_most("  the same: peak memory of the process, by job", best.mebibytes * 1024 * 1024 / kMillionJobs,
                   "bytes", 300);
  };
  million("sim_million.yaml",
          "1,000,000 generated jobs, 1,250 x 8 cards, load 0.85, 10 % gangs, profile ashlar (best of 3)", 3000);
  million("sim_million_hard.yaml", "the same of 500 kinds, 5 % unlike gangs, estimates off by 3 x, 1,400 node failures",
          6000);
  return report.finish();
}
