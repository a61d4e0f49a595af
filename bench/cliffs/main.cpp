// bench_cliffs: the cost of one event as one quantity grows and everything else stays: kinds, waiting jobs, held jobs,
// selectors, levels, queues, holds, groups of gangs, unlike devices, in steps of the square root of ten. Prints a line
// for each measurement: quantity, size, event, microseconds of CPU time. `./dev bench cliffs --report` runs it and judges the steps.
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "worlds.h"

namespace {

using namespace ashlar;
using namespace ashlar::bench;

constexpr int kRuns = 9;
constexpr double kRunsSeconds = 1.5;  ///< no further run of an event after this
/// A size is left out if the one before took this long: the next takes at least three times as long.
constexpr double kPointSecondsMax = 8;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct Growing {
  const char* name;
  Subject (*make)(int size);
  int size_max;  ///< as many as are measured, or there can be
};
constexpr Growing kQuantities[] = {
    {"kinds", with_kinds, 100'000},
    {"waiting", with_waiting, 100'000},
    {"held", with_held, 100'000},
    {"selectors", with_selectors, 100'000},
    {"levels", with_levels, static_cast<int>(Topology::kLevelsMax)},
    {"queues", with_queues, 100'000},
    {"holds", with_holds, 10'000},
    {"later-holds", with_later_holds, 10'000},
    {"owners", with_owners, 10'000},
    {"owner-jobs", with_owner_jobs, 10'000},
    {"holds-on-node", with_holds_on_a_node, 1000},
    {"parts", with_parts_of_a_hold, 5000},
    {"beside-holds", with_waiting_beside_holds, 100'000},
    {"beside-later", with_waiting_beside_later_holds, 100'000},
    {"groups", with_groups, 1000},
    {"unlike-groups", with_unlike_groups, 1000},
    {"waiting-groups", with_waiting_groups, 1000},
    {"gang-kinds", with_kinds_of_gangs, 10'000},
    {"choice", with_members_of_a_choice, 1000},
    {"choice-gangs", with_gangs_with_a_choice, 316},
    {"layouts", with_layouts, 5000},
    {"device-kinds", with_device_kinds, 16},
    {"searched-kinds", with_device_kinds_in_search, 16},
    {"depth", with_queue_depth, 16},
    {"limited-classes", with_limited_classes, 1000},
    {"reservations", with_reservations, 64},
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
  Subject subject = quantity.make(size);
  World& w = subject.world;
  w.settle();
  const auto print = [&](const char* event, double micros) {
    std::printf("%s %d %s %.1f\n", quantity.name, size, event, micros);
    std::fflush(stdout);
  };
  std::printf("%s %d set-up %.1f\n", quantity.name, size, (cpu_seconds() - before) * 1e6);
  print("tick", best_micros([&] { w.tick(Millis(1)); }));
  NodeFacts facts = without_devices();
  print("unrelated-node", best_micros([&] {
          ++facts.allocatable[0];
          w.tell(NodeSeen{subject.unrelated, facts});
          w.decide();
        }));
  const NodeId last(subject.unrelated.value - 1);
  NodeFacts labelled = w.state.cluster().facts(last);
  std::uint32_t label = 1'000'000;
  print("node-label", best_micros([&] {
          labelled.labels = {{LabelKeyId(1u), LabelId(++label), NodeLabel::kNotANumber}};
          w.tell(NodeSeen{last, labelled});
          w.decide();
        }));
  if (subject.guest)
    print("guest", best_micros([&] {
            w.tell(Submitted{*subject.guest});
            w.decide();
            w.tell(Ended{subject.guest->job});
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
    int measured = 0;
    for (const int size : {1, 3, 10, 32, 100, 316, 1000, 3162, 10'000, 31'623, 100'000}) {
      if (size > quantity.size_max) break;
      if (took > kPointSecondsMax) {
        std::printf("%s %d left-out %.1f\n", quantity.name, size, took);
        std::fflush(stdout);
        break;
      }
      took = measure(quantity, size);
      measured = size;
    }
    if (measured < quantity.size_max && took <= kPointSecondsMax) measure(quantity, quantity.size_max);
  }
  return 0;
}
