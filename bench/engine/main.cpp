// bench_engine: the engine alone, one core, no I/O. Every figure is the best of N runs and stands beside its limit, a
// promise of the project; a miss is printed as such and the exit status is 1.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "parts.h"

namespace {

using namespace ashlar::bench;

struct Part {
  const char* name;
  void (*measure)(Report& report);
};
constexpr Part kParts[] = {
    {"starts", measure_starts},   {"reserved", measure_reserved}, {"gangs", measure_gangs},
    {"waiting", measure_waiting}, {"held", measure_held},         {"holds", measure_holds},
    {"nodes", measure_nodes},     {"timeline", measure_timeline}, {"queues", measure_queues},
    {"victims", measure_victims}, {"copies", measure_copies},     {"availability", measure_availability},
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> only, names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  CLI::App app("The engine alone, one core");
  app.add_option("--only", only, "parts: " + CLI::detail::join(names, " "))
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  CLI11_PARSE(app, argc, argv);
  Report report("engine, one core");
  for (const Part& part : kParts)
    if (only.empty() || std::find(only.begin(), only.end(), part.name) != only.end()) part.measure(report);
  return report.finish();
}
