// bench_cliffs: the cost of one event as one quantity grows and everything else stays: kinds, waiting jobs, held jobs,
// selectors, levels, queues, from 1 to 100,000 in steps of the square root of ten. Prints a line for each measurement:
// quantity, size, event, microseconds of CPU time. `./dev bench cliffs --report` runs it and judges the steps.
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../engine/world.h"

namespace {

using namespace ashlar;
using namespace ashlar::bench;

constexpr std::uint32_t kNodes = 1000;
constexpr int kWaitingMin = 10'000;  ///< jobs that wait at every size, so that only their kinds, selectors, queues grow
constexpr int kRuns = 9;
constexpr double kRunsSeconds = 1.5;  ///< no further run of an event after this
/// A size is left out if the one before took this long: the next takes at least three times as long.
constexpr double kPointSecondsMax = 8;
constexpr Millis kTwoDays{172'800'000};

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// A demand for whole devices; each number is another one.
DemandId demand_number(World& w, std::int32_t devices, int number) {
  Demand d;
  d.amounts = {{resource::kCpu, 8000},
               {resource::kMemory, (std::int64_t{8} << 30) + (std::int64_t{number} << 20)},
               {resource::kPods, 1}};
  d.devices.count = devices;
  w.tell(DemandDefined{DemandId(w.next_demand), d});
  return DemandId(w.next_demand++);
}

NodeFacts without_devices() {
  NodeFacts facts;
  facts.allocatable = {1000, std::int64_t{1} << 30, 0, 250};
  return facts;
}

/// Each node taken whole by one job; a further node without devices.
World full() {
  World w;
  w.add_nodes(kNodes);
  w.fill_whole();
  w.tell(NodeSeen{NodeId(kNodes), without_devices()});
  return w;
}

World with_kinds(int size) {
  World w = full();
  std::vector<DemandId> kinds;
  for (int k = 0; k < size; ++k) kinds.push_back(demand_number(w, kDevices, k));
  for (int i = 0; i < std::max(size, kWaitingMin); ++i)
    w.submit({.demand = kinds[static_cast<std::size_t>(i % size)], .duration = kTwoDays});
  return w;
}

World with_waiting(int size) {
  World w = full();
  const DemandId whole = demand_number(w, kDevices, 0);
  for (int i = 0; i < size; ++i) w.submit({.demand = whole, .duration = kTwoDays});
  return w;
}

/// Jobs of ten kinds that last beyond the reservation of a gang that needs every node.
World with_held(int size) {
  World w;
  w.add_nodes(kNodes);
  w.fill(0.6, 16);
  w.tell(NodeSeen{NodeId(kNodes), without_devices()});
  w.submit({.demand = w.demand(8, 128'000), .members = kNodes, .priority = 10, .duration = Millis(7'200'000)});
  w.decide();
  std::vector<DemandId> kinds;
  for (int k = 0; k < std::min(size, 10); ++k) kinds.push_back(demand_number(w, 1, k));
  for (int i = 0; i < size; ++i)
    w.submit({.demand = kinds[static_cast<std::size_t>(i % 10)], .duration = kTwoDays + Millis(size - i)});
  return w;
}

World with_selectors(int size) {
  World w = full();
  const DemandId whole = demand_number(w, kDevices, 0);
  std::vector<ConstraintId> selectors;
  for (int s = 0; s < size; ++s) selectors.push_back(w.constraint_without(LabelId(static_cast<std::uint32_t>(s))));
  for (int i = 0; i < std::max(size, kWaitingMin); ++i)
    w.submit({.demand = whole, .constraint = selectors[static_cast<std::size_t>(i % size)], .duration = kTwoDays});
  return w;
}

/// Gangs of two nodes, each within one of the levels; the innermost domains are pairs of nodes.
World with_levels(int size) {
  World w;
  const auto levels = static_cast<std::uint32_t>(size);
  w.state = State();  // levels are defined once
  w.tell(LevelsDefined{levels, 0});
  w.tell(ConstraintDefined{ConstraintId(0u), {}});
  w.tell(QueueDefined{QueueId(0u), QueueId::none(), {kUnlimited, kUnlimited, kUnlimited}});
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    NodeFacts facts = World::facts_of(n);
    facts.domains.clear();
    for (std::uint32_t l = 0; l < levels; ++l) facts.domains.emplace_back(n >> std::min(levels - l, 10u));
    w.tell(NodeSeen{NodeId(n), facts});
  }
  w.fill_whole();
  w.tell(NodeSeen{NodeId(kNodes), without_devices()});
  const DemandId whole = demand_number(w, kDevices, 0);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(kWaitingMin); ++i)
    w.submit({.demand = whole, .members = 2, .within = LevelId(i % levels), .duration = kTwoDays});
  return w;
}

World with_queues(int size) {
  World w = full();
  const DemandId whole = demand_number(w, kDevices, 0);
  for (int q = 1; q <= size; ++q)
    w.tell(QueueDefined{QueueId(static_cast<std::uint32_t>(q)), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  for (int i = 0; i < std::max(size, kWaitingMin); ++i)
    w.submit({.demand = whole, .queue = QueueId(static_cast<std::uint32_t>(1 + i % size)), .duration = kTwoDays});
  return w;
}

struct Growing {
  const char* name;
  World (*make)(int size);
  int size_max;  ///< 100,000, or what there can be at most
};
constexpr Growing kQuantities[] = {
    {"kinds", with_kinds, 100'000},
    {"waiting", with_waiting, 100'000},
    {"held", with_held, 100'000},
    {"selectors", with_selectors, 100'000},
    {"levels", with_levels, static_cast<int>(Topology::kLevelsMax)},
    {"queues", with_queues, 100'000},
};

/// The best of some runs, in microseconds.
double best_micros(const std::function<void()>& event) {
  double best = 1e30, all = 0;
  for (int run = 0; run < kRuns && all < kRunsSeconds; ++run) {
    const double before = cpu_seconds();
    event();
    const double took = cpu_seconds() - before;
    best = std::min(best, took);
    all += took;
  }
  return best * 1e6;
}

/// Seconds that the size took in all.
double measure(const Growing& quantity, int size) {
  const double before = cpu_seconds();
  World w = quantity.make(size);
  w.decide();
  const auto print = [&](const char* event, double micros) {
    std::printf("%s %d %s %.1f\n", quantity.name, size, event, micros);
    std::fflush(stdout);
  };
  std::printf("%s %d set-up %.1f\n", quantity.name, size, (cpu_seconds() - before) * 1e6);
  print("tick", best_micros([&] { w.tick(Millis(1)); }));
  NodeFacts facts = without_devices();
  print("unrelated-node", best_micros([&] {
          ++facts.allocatable[0];
          w.tell(NodeSeen{NodeId(kNodes), facts});
          w.decide();
        }));
  NodeFacts labelled = w.state.cluster().facts(NodeId(kNodes - 1));
  std::uint32_t label = 1'000'000;
  print("node-label", best_micros([&] {
          labelled.labels = {{LabelKeyId(1u), LabelId(++label), NodeLabel::kNotANumber}};
          w.tell(NodeSeen{NodeId(kNodes - 1), labelled});
          w.decide();
        }));
  // Neighbouring nodes are freed together, so that gangs of two find room.
  std::uint32_t job = 0;
  print("ends", best_micros([&] {
          for (int i = 0; i < 2; ++i) w.tell(Ended{JobId(job++)});
          w.decide();
        }));
  return cpu_seconds() - before;
}

}  // namespace

/// Names of quantities, or none for all.
int main(int argc, char** argv) {
  for (const Growing& quantity : kQuantities) {
    const auto is_named = [&](const char* name) { return std::strcmp(name, quantity.name) == 0; };
    if (argc > 1 && std::none_of(argv + 1, argv + argc, is_named)) continue;
    double took = 0;
    for (const int size : {1, 3, 10, 32, 100, 316, 1000, 3162, 10'000, 31'623, 100'000}) {
      if (size > quantity.size_max) break;
      if (took > kPointSecondsMax) {
        std::printf("%s %d left-out %.1f\n", quantity.name, size, took);
        std::fflush(stdout);
        break;
      }
      took = measure(quantity, size);
    }
    if (quantity.size_max < 100'000) measure(quantity, quantity.size_max);
  }
  return 0;
}
