#include "sim/scenario/run.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/check.h"
#include "base/rng.h"
#include "engine/driver.h"
#include "sim/results/step_series.h"
#include "sim/world/clock.h"
#include "sim/world/timed_run.h"

namespace ashlar::sim {
namespace {

/// Domains of the nodes, level by level. A domain is the label values from the outermost level down to its own, so that
/// racks of the same name in different blocks are different racks.
class Domains {
 public:
  explicit Domains(const Scenario& scenario)
      : levels_(scenario.levels), rows_(scenario.levels.size()), has_node_level_(names_node_level(scenario)) {}

  bool has_node_level() const { return has_node_level_; }
  /// Call for the nodes in the order of their rows.
  std::vector<DomainId> of(const ScenarioNode& node) {
    std::vector<DomainId> domains(levels_.size());
    std::string path;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const auto label = std::find_if(node.labels.begin(), node.labels.end(),
                                      [&](const auto& kv) { return kv.first == levels_[l].label; });
      if (label == node.labels.end()) continue;
      path += label->second + '\n';
      domains[l] = rows_[l].try_emplace(path, DomainId(rows_[l].size())).first->second;
    }
    if (has_node_level_) domains.emplace_back(nodes_++);
    return domains;
  }

 private:
  /// It costs something per node, so it is defined only if a job requests it.
  static bool names_node_level(const Scenario& scenario) {
    for (const ArrivalStream& stream : scenario.arrivals)
      for (const JobShape& shape : stream.jobs) {
        const auto names_it = [](const auto& of) { return of.within == kNodeLevel || of.prefer == kNodeLevel; };
        if (names_it(shape) || std::any_of(shape.groups.begin(), shape.groups.end(), names_it)) return true;
      }
    return false;
  }

  const std::vector<ScenarioLevel>& levels_;
  std::vector<std::map<std::string, DomainId>> rows_;
  bool has_node_level_;
  std::uint32_t nodes_ = 0;
};

NodeDevices devices_of(const ScenarioNode& node, Catalog& catalog) {
  if (node.devices.empty())
    return {.count = node.gpus, .memory_each = node.gpu_memory, .device_class = catalog.model(node.model)};
  DeviceLayout layout;
  for (const ScenarioDevice& device : node.devices)
    layout.devices.push_back({.device_class = catalog.model(device.model),
                              .memory = device.memory,
                              .island = device.island,
                              .numa_node = device.numa_node,
                              .pcie_switch = device.pcie_switch,
                              .mode = device.is_sliced ? DeviceMode::kSliced : DeviceMode::kWhole});
  return devices_with(catalog.layout(layout), layout);
}

NodeFacts facts_of(const ScenarioNode& node, Catalog& catalog, Domains& domains) {
  NodeFacts facts;
  facts.allocatable.assign(resource::kFirstExtended, 0);
  facts.allocatable[resource::kCpu.row()] = node.cpu.value;
  facts.allocatable[resource::kMemory.row()] = node.memory.value;
  facts.allocatable[resource::kPods.row()] = node.pods;
  facts.devices = devices_of(node, catalog);
  facts.domains = domains.of(node);
  return facts;
}

/// Failures drawn: those of all nodes together are as frequent as all nodes' own, and each takes a node at random.
std::vector<ScenarioFailure> drawn_failures(const ScenarioFailureProcess& process, std::size_t nodes) {
  std::vector<ScenarioFailure> failures;
  Rng rng(process.seed);
  const double gap = static_cast<double>(process.mean_between.value) / static_cast<double>(nodes);
  double at = static_cast<double>(process.start.value);
  for (;;) {
    at += rng.exponential(gap);
    if (at >= static_cast<double>(process.until.value)) return failures;
    failures.push_back(
        {static_cast<std::uint32_t>(rng.below(nodes)), Millis(static_cast<std::int64_t>(at)), process.lasts});
  }
}

/// A node is away from its first failure until the last of those that overlap has ended.
std::vector<NodeChange> changes_of(const Scenario& scenario) {
  std::vector<NodeChange> changes;
  std::vector<ScenarioFailure> failures = scenario.failures;
  for (const ScenarioFailureProcess& process : scenario.failure_processes) {
    const std::vector<ScenarioFailure> drawn = drawn_failures(process, scenario.nodes.size());
    failures.insert(failures.end(), drawn.begin(), drawn.end());
  }
  for (const ScenarioFailure& failure : failures) {
    changes.push_back({failure.at, NodeId(failure.node), false});
    if (failure.lasts) changes.push_back({failure.at + *failure.lasts, NodeId(failure.node), true});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const NodeChange& a, const NodeChange& b) { return a.at < b.at; });
  std::map<NodeId, int> failures_open;
  std::erase_if(changes, [&](const NodeChange& change) {
    int& open = failures_open[change.node];
    return change.is_there ? --open > 0 : ++open > 1;
  });
  return changes;
}

/// Everything that a node has is held for its maintenance, or for a queue.
std::vector<Event> holds_of(const Scenario& scenario, std::span<const NodeFacts> facts, Catalog& catalog) {
  std::vector<Event> holds;
  for (const ScenarioHold& held : scenario.holds) {
    const NodeFacts& of = facts[held.node];
    Demand whole;
    whole.devices.count = of.devices.count;
    for (std::size_t r = 0; r < of.allocatable.size(); ++r)
      if (of.allocatable[r] > 0) whole.amounts.push_back({ResourceId(r), of.allocatable[r]});
    const std::size_t row = holds.size();
    Hold hold{.job = JobId(row), .parts = {}};
    hold.from = held.at;
    if (held.lasts) hold.until = held.at + *held.lasts;
    if (held.queue >= 0) hold.owner.queue = queue_row(static_cast<std::uint32_t>(held.queue));
    hold.parts.push_back({{MemberId(row), catalog.demand(whole), catalog.constraint({})}, NodeId(held.node), {}});
    holds.push_back({held.at - held.announced, HoldPlaced{std::move(hold)}});
  }
  return holds;
}

}  // namespace

Result<ScenarioRun> ScenarioRun::make(const Scenario& scenario) {
  ScenarioRun run;
  run.scenario_ = &scenario;
  Domains domains(scenario);
  for (const StatedClass& stated : scenario.classes) run.catalog_.define_class(stated);
  for (const ScenarioNode& node : scenario.nodes) run.facts_.push_back(facts_of(node, run.catalog_, domains));
  Result<ScenarioWork> work = ScenarioWork::make(scenario, run.catalog_);
  if (!work) return work.error();
  run.work_ = *std::move(work);
  run.holds_ = holds_of(scenario, run.facts_, run.catalog_);
  run.opening_.push_back({Millis(0), LevelsDefined{static_cast<std::uint32_t>(scenario.levels.size()),
                                                   domains.has_node_level() ? 1u : 0u}});
  run.catalog_.define(run.opening_);
  for (std::uint32_t q = 0; q < scenario.queues.size(); ++q) {
    const ScenarioQueue& queue = scenario.queues[q];
    const QueueId parent = queue.parent < 0 ? QueueId(0u) : queue_row(static_cast<std::uint32_t>(queue.parent));
    run.opening_.push_back(
        {Millis(0),
         QueueDefined{queue_row(q), parent, queue.quota, {}, queue.shares, queue.rank, {}, {}, queue.stops}});
  }
  for (std::size_t n = 0; n < run.facts_.size(); ++n)
    run.opening_.push_back({Millis(0), NodeSeen{NodeId(n), run.facts_[n]}});
  run.node_changes_ = changes_of(scenario);
  return run;
}

QueueRun ScenarioRun::run(const Profile& profile, const std::function<void(std::int64_t)>& progress,
                          const DecisionWatch& watch, const OnOutcome& ended) const {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> names;
  for (const ScenarioQueue& queue : scenario_->queues) names.push_back(queue.name);
  QueueMeter meter(std::move(names));
  meter.reserve(static_cast<std::size_t>(work_.jobs_expected()));
  StepSeries busy, waiting;
  Millis last_change;
  SimClock clock;
  const auto& [of_one, of_eight, of_more] = scenario_->restart;
  World world(clock, catalog_, work_.feed(),
              {.restart_of_one = of_one,
               .restart_of_eight = of_eight,
               .restart_of_more = of_more,
               .has_grace = profile.grace > Millis(0),
               .tells_by_estimates = profile.stops_for_a_place()});
  world.open_with(opening_);
  world.set_node_changes(node_changes_, facts_);
  world.set_holds(holds_);
  world.listen({.ended =
                    [&](const JobOutcome& outcome) {
                      meter.add(outcome);
                      if (ended) ended(outcome);
                    },
                .load =
                    [&](Millis at, std::int64_t busy_devices, std::int64_t waiting_jobs) {
                      busy.change(at, static_cast<double>(busy_devices));
                      waiting.change(at, static_cast<double>(waiting_jobs));
                      last_change = at;
                    }});
  State state;
  Engine engine(profile, {.has_verdicts = false});
  Driver driver(state, engine, {clock, world, world});
  TimedRun timed{.clock = clock,
                 .world = world,
                 .driver = driver,
                 .cadence = profile.cadence,
                 .horizon = scenario_->horizon,
                 .progress = progress};
  if (watch) timed.stepped = [&](const Plan& plan) { watch(state, engine, plan); };
  run_to_end(timed);
  ASHLAR_CHECK(state.is_consistent());  // columns and digest, updated incrementally throughout, equal a recount
  QueueRun run;
  run.policy = profile.name;
  meter.came(world.first_arrival());
  meter.finish(run);
  run.preemptions = world.preemptions();
  run.unfinished_jobs = world.present();
  const Millis end = scenario_->horizon.value_or(last_change);
  const double devices = static_cast<double>(scenario_->devices());
  run.busy_percent = busy.points(end, devices > 0 ? 100.0 / devices : 0.0);
  run.waiting_jobs = waiting.points(end);
  run.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return run;
}

}  // namespace ashlar::sim
