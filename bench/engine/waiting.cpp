// One event while many wait: what it costs should follow what changes, not how many wait nor of how many kinds they are.
#include <algorithm>
#include <string>
#include <vector>

#include "parts.h"
#include "world.h"

namespace ashlar::bench {
namespace {

/// 10,000 waiting gangs; then one node without devices changes.
double unrelated_event_seconds(World& w, int kinds) {
  std::vector<DemandId> demands;
  for (int k = 0; k < kinds; ++k) demands.push_back(w.demand(8, 64'000 + k));
  for (int g = 0; g < 10'000; ++g)
    w.submit({.demand = demands[static_cast<std::size_t>(g % kinds)], .members = 5000, .within = kBlock});
  w.settle();
  NodeFacts cpu_only;
  cpu_only.allocatable = {64'000, std::int64_t{1} << 38, 0, 250};
  const NodeId n(w.state.cluster().rows());
  w.tell(NodeSeen{n, cpu_only});
  w.settle();
  return best_of(5, [&] {
    cpu_only.allocatable[0] += 1000;
    return seconds([&] {
      w.tell(NodeSeen{n, cpu_only});
      w.decide();
    });
  });
}

/// 10,000 gangs of a leader with a core and four workers with a whole node, each gang within a rack, on a full cluster;
/// then a job of one core ends.
double leaders_seconds(World& w, int gangs) {
  const DemandId leader = w.demand(0, 1000), worker = w.demand(8, 32'000);
  std::vector<JobId> small;
  for (std::uint32_t n = 0; n < 8; ++n) {
    small.push_back(w.submit({.demand = leader, .duration = Millis(3'600'000)}));
    w.tell(Bound{w.state.job(small.back()).first, NodeId(n * 100), {}});
  }
  for (int g = 0; g < gangs; ++g) {
    Workload gang = w.workload({.demand = worker, .members = 5, .within = kRack, .duration = Millis(3'600'000)});
    gang.members[0].demand = leader;
    w.submit(std::move(gang));
  }
  w.settle();
  return best_of(static_cast<int>(small.size()), [&] {
    const JobId ended = small.back();
    small.pop_back();
    return seconds([&] {
      w.tell(Ended{ended});
      w.decide();
    });
  });
}

/// 100 strict queues over their quota; one of the jobs that run there ends, and the first that waits starts.
double over_quota_seconds(int pending) {
  constexpr std::uint32_t kQueues = 100;
  Profile profile = std::move(builtin_profile("ashlar")).value();
  profile.blocking = Blocking::kStrict;
  World w(std::move(profile));
  w.add_nodes(1000);
  const DemandId one = w.demand(1, 4000);
  for (std::uint32_t q = 1; q <= kQueues; ++q)
    w.tell(QueueDefined{QueueId(q), QueueId(0u), {8 * kWholeDevice, kUnlimited, kUnlimited}});
  std::vector<JobId> running;
  for (std::uint32_t i = 0; i < 8 * kQueues; ++i)
    running.push_back(w.submit({.demand = one, .queue = QueueId(1 + i % kQueues)}));
  w.settle();
  for (int i = 0; i < pending; ++i)
    w.submit({.demand = one, .priority = i % 10, .queue = QueueId(1 + static_cast<std::uint32_t>(i) % kQueues)});
  w.settle();
  return best_of(20, [&] {
    const JobId ended = running.back();
    running.pop_back();
    bool starts = false;
    const double took = seconds([&] {
      w.tell(Ended{ended});
      starts = w.decide().actions.size() == 1;
    });
    return starts ? took : 1e9;
  });
}

}  // namespace

void measure_waiting(Report& report) {
  for (const int kinds : {1, 100, 10'000}) {
    World w;
    w.add_nodes(5000);
    w.fill(0.6, 80);
    report.at_most("10,000 waiting gangs of " + std::to_string(kinds) + " kinds, an unrelated node changes",
                   unrelated_event_seconds(w, kinds) * 1e6, "us", 1000);
  }
  World w;
  w.add_nodes(5000);
  w.fill_whole();
  report.at_most("10,000 waiting gangs of a leader and 4 workers within a rack, a job of one core ends",
                 leaders_seconds(w, 10'000) * 1e6, "us", 1000);
  report.at_most("100,000 pending in 100 strict queues over quota, a job ends", over_quota_seconds(100'000) * 1e6, "us",
                 1000);
}

}  // namespace ashlar::bench
