// One event while many jobs are held by a reservation: a gang that needs every node of the cluster waits first, and all
// jobs behind it would last longer than it takes until it can start.
#include <string>
#include <vector>

#include "parts.h"
#include "world.h"

namespace ashlar::bench {
namespace {

constexpr std::uint32_t kNodes = 5000;
constexpr Millis kTwoDays{172'800'000};

/// Nodes, one without devices, filled to 60 %, and the gang.
World behind_a_reservation() {
  World w;
  w.add_nodes(kNodes);
  w.fill(0.6, 80);
  NodeFacts cpu_only;
  cpu_only.allocatable = {1000, std::int64_t{1} << 30, 0, 250};
  w.tell(NodeSeen{NodeId(kNodes), cpu_only});
  w.submit({.demand = w.demand(8, 128'000), .members = kNodes, .priority = 10, .duration = Millis(7'200'000)});
  w.settle();
  return w;
}

double unrelated_event_seconds(World& w) {
  NodeFacts cpu_only = w.state.cluster().facts(NodeId(kNodes));
  return best_of(5, [&] {
    ++cpu_only.allocatable[0];
    return seconds([&] {
      w.tell(NodeSeen{NodeId(kNodes), cpu_only});
      w.decide();
    });
  });
}

double tick_seconds(World& w) {
  return best_of(5, [&] { return seconds([&] { w.tick(Millis(1)); }); });
}

}  // namespace

void measure_held(Report& report) {
  for (const int kinds : {1, 100, 10'000}) {
    World w = behind_a_reservation();
    std::vector<DemandId> demands;
    for (int k = 0; k < kinds; ++k) demands.push_back(w.demand(1, 4000 + k));
    for (int i = 0; i < 10'000; ++i)
      w.submit({.demand = demands[static_cast<std::size_t>(i % kinds)], .duration = kTwoDays});
    w.decide();
    const std::string what = "10,000 held jobs of " + std::to_string(kinds) + (kinds == 1 ? " kind, " : " kinds, ");
    const double limit = kinds == 10'000 ? 5 : 1;
    report.at_most(what + "an unrelated node changes", unrelated_event_seconds(w) * 1e3, "ms", limit);
    report.at_most(what + "a tick", tick_seconds(w) * 1e3, "ms", limit);
  }
  World w = behind_a_reservation();
  const DemandId one = w.demand(1, 4000);
  for (int i = 0; i < 50'000; ++i) w.submit({.demand = one, .duration = kTwoDays + Millis(50'000 - i)});
  w.settle();
  report.at_most("50,000 held jobs of one kind, falling durations, a tick", tick_seconds(w) * 1e3, "ms", 1);
  report.at_most("  looked at in it", w.tick(Millis(1)).examined, "jobs", 0);
}

}  // namespace ashlar::bench
