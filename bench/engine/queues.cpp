// The order of queues by what they use: one change of usage while many jobs wait in many queues, and starts that take
// turns between queues.
#include <string>
#include <utility>
#include <vector>

#include "parts.h"
#include "world.h"

namespace ashlar::bench {
namespace {

constexpr std::uint32_t kOrganisations = 10;

World world_by(const char* queue_order, Blocking blocking) {
  Profile profile = std::move(builtin_profile("ashlar")).value();
  profile.queue_order = find_queue_order(queue_order);
  profile.blocking = blocking;
  return World(std::move(profile), {.has_verdicts = false});
}

/// Below ten organisations; each may use 64 GPUs.
std::vector<QueueId> add_queues(World& w, std::uint32_t count) {
  for (std::uint32_t q = 1; q <= kOrganisations; ++q)
    w.tell(QueueDefined{QueueId(q), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  std::vector<QueueId> queues;
  for (std::uint32_t i = 0; i < count; ++i) {
    queues.emplace_back(kOrganisations + 1 + i);
    w.tell(QueueDefined{
        queues.back(), QueueId(1 + i % kOrganisations), {64 * kWholeDevice, std::int64_t{64'000}, kUnlimited}});
  }
  return queues;
}

/// A node that has cores only, in a full cluster.
NodeId add_cores(World& w) {
  w.add_nodes(100);
  w.fill_whole();
  NodeFacts cores;
  cores.allocatable = {std::int64_t{100'000'000}, std::int64_t{1} << 50, 0, 100'000};
  const NodeId n(w.state.cluster().rows());
  w.tell(NodeSeen{n, cores});
  return n;
}

/// Every queue has a job of one core that runs, which are returned, and some that wait for a whole node each.
std::vector<JobId> let_wait(World& w, std::uint32_t queues, int waiting) {
  const NodeId cores = add_cores(w);
  const DemandId core = w.demand(0, 1000), node = w.demand(8, 32'000);
  std::vector<JobId> running;
  for (const QueueId queue : add_queues(w, queues)) {
    running.push_back(w.submit({.demand = core, .queue = queue}));
    w.tell(Bound{w.state.job(running.back()).first, cores, {}});
    for (int j = 0; j < waiting; ++j) w.submit({.demand = node, .queue = queue, .duration = Millis(3'600'000)});
  }
  w.settle();
  w.settle();
  return running;
}

/// One of the running jobs ends, which helps none that waits.
double change_of_usage_seconds(World w, std::uint32_t queues, int waiting = 100) {
  std::vector<JobId> running = let_wait(w, queues, waiting);
  return best_of(50, [&] {
    const JobId ended = running.back();
    running.pop_back();
    return seconds([&] {
      w.tell(Ended{ended});
      w.decide();
    });
  });
}

/// The usage of all is forgotten by one step: each has a new key.
double step_of_history_seconds(World w, std::uint32_t queues) {
  let_wait(w, queues, 10);
  const Millis step(w.engine.profile().half_life.value / 1440);
  return best_of(20, [&] { return seconds([&] { w.tick(step); }); });
}

/// 10 pods of one core of each queue start in one decision; the queue of the next is another each time.
double turn_seconds(World w, std::uint32_t queues) {
  add_cores(w);
  const DemandId core = w.demand(0, 1000);
  const std::vector<QueueId> of = add_queues(w, queues);
  std::vector<JobId> jobs;
  for (int j = 0; j < 10; ++j)
    for (const QueueId queue : of) jobs.push_back(w.submit({.demand = core, .queue = queue}));
  std::size_t started = 0;
  const double took = seconds([&] { started = w.decide().actions.size(); });
  return started == jobs.size() ? took / static_cast<double>(started) : 1e9;
}

}  // namespace

void measure_queues(Report& report) {
  for (const std::uint32_t queues : {100u, 1000u})
    report.at_most("least-share: " + std::to_string(queues) + " queues x 100 waiting, the usage of one changes",
                   change_of_usage_seconds(world_by("least-share", Blocking::kSkip), queues) * 1e6, "us", 5);
  report.at_most("drf: 10,000 queues x 10 waiting, the usage of one changes",
                 change_of_usage_seconds(world_by("drf", Blocking::kSkip), 10'000, 10) * 1e6, "us", 1000);
  report.at_most("drf: the same 10,000 queues, a step of their history",
                 step_of_history_seconds(world_by("drf", Blocking::kSkip), 10'000) * 1e3, "ms", 50);
  report.at_most("the same with easy, 1000 queues",
                 change_of_usage_seconds(world_by("least-share", Blocking::kEasy), 1000) * 1e6, "us", 5);
  report.at_most("the same by-job with easy, 1000 queues, to compare",
                 change_of_usage_seconds(world_by("by-job", Blocking::kEasy), 1000) * 1e6, "us", 5);
  report.at_least("least-share: 10,000 pods of 1000 queues that take turns start",
                  1 / best_of(3, [] { return turn_seconds(world_by("least-share", Blocking::kSkip), 1000); }), "pods/s",
                  50'000);
  report.at_least("the same by-job, to compare",
                  1 / best_of(3, [] { return turn_seconds(world_by("by-job", Blocking::kSkip), 1000); }), "pods/s",
                  100'000);
}

}  // namespace ashlar::bench
