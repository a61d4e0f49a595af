#include "sim/replay/packing.h"

#include <chrono>
#include <map>
#include <tuple>

#include "base/check.h"
#include "engine/driver.h"
#include "policy/score/fgd/mix_limit.h"
#include "sim/world/clock.h"
#include "sim/world/world.h"

namespace ashlar::sim {
namespace {

/// F summed over the nodes, corrected by the one node that changed.
class FragmentSum {
 public:
  FragmentSum(FgdMix mix, const Cluster& cluster) : mix_(std::move(mix)), cluster_(cluster), by_node_(cluster.rows()) {
    for (std::size_t n = 0; n < by_node_.size(); ++n) recount(NodeId(n));
  }
  void recount(NodeId n) {
    const double now = fragment_of(
        mix_, {cluster_.free(resource::kCpu)[n.row()], cluster_.models()[n.row()], cluster_.device_free_milli(n)});
    sum_ += now - by_node_[n.row()];
    by_node_[n.row()] = now;
  }
  double value() const { return sum_; }

 private:
  FgdMix mix_;  ///< a separate copy: the cache of a mix is for one thread
  const Cluster& cluster_;
  std::vector<double> by_node_;
  double sum_ = 0;
};

std::vector<Event> opening_of_trace(const PackingTrace& trace, const ArrivalOrder& order) {
  std::vector<Event> events;
  trace.catalog().define(events);
  std::vector<std::uint32_t> node_of_rank(order.node_ranks.size());
  for (std::size_t i = 0; i < order.node_ranks.size(); ++i)
    node_of_rank[order.node_ranks[i]] = trace.nodes_by_name()[i];
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank)
    events.push_back({Millis(0), NodeSeen{NodeId(rank), trace.facts_of(trace.nodes()[node_of_rank[rank]])}});
  return events;
}

}  // namespace

Result<PackingTrace> PackingTrace::make(std::vector<OpenbNode> nodes, std::vector<OpenbPod> pods) {
  PackingTrace trace;
  trace.nodes_ = std::move(nodes);
  trace.nodes_by_name_ = sorted_by_name(trace.nodes_);
  for (const OpenbNode& node : trace.nodes_) trace.catalog_.model(node.model);
  using Class = std::tuple<std::int64_t, std::int32_t, std::int32_t, std::string>;
  std::map<Class, FgdSample> classes;
  std::map<std::pair<DemandId, ConstraintId>, KindId> kinds;
  for (const std::uint32_t i : sorted_by_name(pods)) {
    const OpenbPod& pod = pods[i];
    std::vector<DeviceClassId> models;
    for (const std::string& name : pod.models) {
      models.push_back(trace.catalog_.find_model(name));
      if (models.back().is_none()) return invalid("pod " + pod.name + ": no node has the model '" + name + "'");
    }
    const DeviceRequest request{.count = pod.gpus,
                                .milli_each = pod.gpus > 0 ? pod.milli_each : MilliGpu(kWholeDevice)};
    const MemberSize size{request, pod.cpu, Bytes(pod.memory.value << 20)};
    const MemberNeed need{trace.catalog_.demand(demand_of(size)), trace.catalog_.constraint(models), 1};
    const auto [kind, is_new] = kinds.try_emplace({need.demand, need.constraint}, KindId::none());
    if (is_new) kind->second = trace.catalog_.add_kind({.needs = {need}, .within = {}, .prefer = {}});
    trace.pods_.push_back({need, pod.milli_total().value, kind->second});
    FgdSample& sample = classes[{pod.cpu.value, pod.gpus, pod.milli_each.value, pod.gpu_spec}];
    if (sample.count++ == 0) sample = {pod.cpu.value, pod.gpus, pod.milli_each.value, pod.gpu_spec, models, 1};
  }
  std::vector<FgdSample> samples;
  samples.reserve(classes.size());
  for (auto& [key, sample] : classes) samples.push_back(std::move(sample));
  trace.mix_ = make_mix(std::move(samples));
  if (const std::string problem = mix_problem(trace.mix_); !problem.empty()) return invalid(problem);
  return trace;
}

NodeFacts PackingTrace::facts_of(const OpenbNode& node) const {
  NodeFacts facts;
  facts.allocatable.assign(resource::kFirstExtended, 0);
  facts.allocatable[resource::kCpu.row()] = node.cpu.value;
  facts.allocatable[resource::kMemory.row()] = node.memory.value << 20;
  facts.allocatable[resource::kPods.row()] = kPodsPerNode;
  facts.devices.count = node.gpus;
  facts.devices.device_class = catalog_.find_model(node.model);
  return facts;
}

std::int64_t PackingTrace::total_milli() const {
  std::int64_t sum = 0;
  for (const OpenbNode& node : nodes_) sum += static_cast<std::int64_t>(node.gpus) * kWholeDevice;
  return sum;
}

PackingRun run_packing(const PackingTrace& trace, const ArrivalOrder& order, Profile profile,
                       const PackingListeners& listeners) {
  const auto begin = std::chrono::steady_clock::now();
  PackingRun run{.seed = order.seed, .policy = profile.name};
  if (profile.mix.is_empty()) profile.mix = trace.mix();
  profile.seed = order.seed;
  // in order of arrival: reading the trace for each would miss the processor's caches
  std::vector<PackingTrace::Pod> pods;
  pods.reserve(order.arrivals.size());
  for (const std::uint32_t index : order.arrivals) pods.push_back(trace.pod(index));
  SimClock clock;
  std::size_t next = 0;
  World world(clock, trace.catalog(),
              [&](SimJob& out) {
                if (next == pods.size()) return false;
                out = {.submit = Millis(static_cast<std::int64_t>(next) + 1),
                       .duration = Millis::max(),
                       .kind = pods[next].kind};
                ++next;
                return true;
              },
              {.is_refusal_final = true});
  world.expect(pods.size());
  world.open_with(opening_of_trace(trace, order));
  State state;
  Engine engine(std::move(profile), {.has_verdicts = false});
  Driver driver(state, engine, {clock, world, world});
  driver.step();  // the nodes
  FragmentSum fragments(trace.mix(), state.cluster());
  PackingMeter meter(trace.total_milli());
  PackingEvent event{.fragment_milli = fragments.value()};
  for (const PackingTrace::Pod& pod : pods) {
    clock.advance_to(world.next_event());
    const Plan& plan = driver.step();
    ASHLAR_CHECK(plan.actions.size() <= 1);
    event.arrived_milli += pod.milli_total;
    const Bind bound = plan.actions.empty() ? Bind{} : std::get<Bind>(plan.actions.front());
    if (!bound.node.is_none()) {
      event.used_milli += pod.milli_total;
      fragments.recount(bound.node);
    } else {
      ++run.refused_pods;
    }
    event.fragment_milli = fragments.value();
    meter.add(event);
    if (listeners.arrived) listeners.arrived(bound.node, bound.devices);
    if (++run.arrived_pods % 256 == 0 && listeners.progress) listeners.progress(run.arrived_pods);
  }
  ASHLAR_CHECK(state.is_consistent());  // columns and digest, updated incrementally throughout, equal a recount
  meter.finish(run);
  run.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return run;
}

}  // namespace ashlar::sim
