#include "apps/demo/simulated_play.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/driver.h"
#include "policy/profile.h"
#include "sim/world/clock.h"
#include "sim/world/world.h"
#include "text/amount_text.h"
#include "text/device_text.h"
#include "text/reason_text.h"

namespace ashlar::demo {
namespace {

constexpr Millis kBindTakes{5};     ///< the answer of an API server that has little to do
constexpr int kStepsMax = 100'000;  ///< a whole play takes about 2,000
constexpr LevelId kBlock{0u}, kRack{1u};
constexpr ConstraintId kAnyNode{0u};

QueueId queue_of(std::size_t team) { return QueueId(static_cast<std::uint32_t>(team + 1)); }

std::size_t team_of(const Act& act) {
  const auto team = std::find_if(teams().begin(), teams().end(), [&](const Team& t) { return t.name == act.team; });
  ASHLAR_CHECK(team != teams().end());
  return static_cast<std::size_t>(team - teams().begin());
}

NodeFacts node_facts(int node) {
  NodeFacts facts;
  facts.allocatable.assign(resource::kFirstExtended, 0);
  facts.allocatable[resource::kCpu.row()] = kCoresPerNode * 1000;
  facts.allocatable[resource::kMemory.row()] = std::int64_t{kMemoryGibPerNode} << 30;
  facts.allocatable[resource::kPods.row()] = kPodsPerNode;
  facts.devices = {.count = kGpusPerNode, .memory_each = MiB(kGpuMemoryMib), .device_class = DeviceClassId(0u)};
  const int rack = node / kNodesPerRack;
  facts.domains = {DomainId(static_cast<std::uint32_t>(rack / kRacksPerBlock)),
                   DomainId(static_cast<std::uint32_t>(rack))};
  return facts;
}

Demand demand_of(const Act& act) {
  Demand demand;
  demand.amounts = {{resource::kCpu, kCoresPerPod * 1000},
                    {resource::kMemory, std::int64_t{kMemoryGibPerPod} << 30},
                    {resource::kPods, 1}};
  demand.devices.count = act.milli_gpu > 0 ? 1 : act.gpus;
  if (act.milli_gpu > 0) demand.devices.milli_each = MilliGpu(act.milli_gpu);
  return demand;
}

/// The names of the script's queues, racks and blocks.
class NamesOfScript final : public ReasonNames {
 public:
  std::string subject(const Reason& r) const override {
    const ReasonSubject subject = row_of(r.code).subject;
    if (subject == ReasonSubject::kResource) return ResourceId(r.subject) == resource::kMemory ? "memory" : "cpu";
    if (subject == ReasonSubject::kDemand) return "nvidia.com/gpu";
    if (subject == ReasonSubject::kLevel) return LevelId(r.subject) == kBlock ? "block" : "rack";
    if (subject == ReasonSubject::kQueue && r.subject >= 1 && r.subject <= teams().size())
      return teams()[r.subject - 1].name;
    return {};
  }
  std::string amount(const Reason& r, std::int64_t amount) const override {
    return amount_text(ResourceId(r.subject), amount);
  }
  std::string domain(const Reason& r, std::int64_t domain) const override {
    return subject(r) + "-" + std::to_string(domain);
  }
  std::string quota(const Reason& r, std::int64_t amount) const override { return quota_text(r.numbers[0], amount); }
  std::string detail(const Reason&) const override { return {}; }
};

/// As the scheduler writes it into the condition, without the numbers of nodes that come first there.
std::string words_of(const Verdict& verdict, const Act& act) {
  if (verdict.reasons.empty()) return {};
  const std::string prefix = act.is_gang() ? "gang " + act.name + " of " + std::to_string(act.members) + ": " : "";
  const Reason& first = verdict.reasons.front();
  if (!row_of(first.code).is_about_nodes)
    return std::string(reason_name(first.code)) + ": " + prefix + reason_text(first, NamesOfScript());
  std::string reasons;
  for (const Reason& r : verdict.reasons) {
    const bool is_of_gang = r.code == ReasonCode::kTopologyFragmented || r.code == ReasonCode::kGangPartial ||
                            r.code == ReasonCode::kExceedsCluster || r.code == ReasonCode::kLimitReached;
    if (is_of_gang || !act.is_gang()) reasons += (reasons.empty() ? "" : "; ") + reason_text(r, NamesOfScript());
  }
  return prefix + (reasons.empty() ? "no capacity for all members at once" : reasons) + ".";
}

/// The cluster at time 0, then each job at its time.
std::vector<sim::ScriptedEvent> events_of(const Script& script, bool has_queues,
                                          std::vector<std::pair<std::size_t, std::size_t>>& of) {
  std::vector<sim::ScriptedEvent> events;
  const auto add = [&](Millis at, auto what) { events.push_back({at, std::move(what)}); };
  add(Millis(0), EventBody(LevelsDefined{2, 0}));
  add(Millis(0), EventBody(ConstraintDefined{kAnyNode, {}}));
  for (std::size_t t = 0; t < teams().size(); ++t) {
    QueueDefined queue{queue_of(t), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}};
    if (teams()[t].quota_gpus > 0)
      queue.quota[static_cast<std::size_t>(QuotaDimension::kMilliGpu)] = teams()[t].quota_gpus * std::int64_t{1000};
    add(Millis(0), EventBody(queue));
  }
  for (int n = 0; n < kNodes; ++n)
    add(Millis(0), EventBody(NodeSeen{NodeId(static_cast<std::uint32_t>(n)), node_facts(n)}));
  std::vector<Demand> demands;
  for (std::size_t a = 0; a < script.acts.size(); ++a) {
    const Act& act = script.acts[a];
    const auto known = std::find(demands.begin(), demands.end(), demand_of(act));
    const DemandId demand(static_cast<std::uint32_t>(known - demands.begin()));
    if (known == demands.end()) {
      demands.push_back(demand_of(act));
      add(act.at, EventBody(DemandDefined{demand, demands.back()}));
    }
    Workload job;
    job.job = JobId(static_cast<std::uint32_t>(a));
    if (has_queues) job.queue = queue_of(team_of(act));
    job.priority = act.priority_class.empty() ? 0 : kCriticalPriority;
    job.members_min = static_cast<std::uint32_t>(act.members);
    if (!act.within.empty()) job.within = act.within == "block" ? kBlock : kRack;
    job.submitted = act.at;
    for (int m = 0; m < act.members; ++m) {
      job.members.push_back({MemberId(static_cast<std::uint32_t>(of.size())), demand, kAnyNode});
      of.emplace_back(a, static_cast<std::size_t>(m));
    }
    add(act.at, EventBody(Submitted{std::move(job)}));
    add(act.at, sim::RunsFor{JobId(static_cast<std::uint32_t>(a)), act.runs_for});
  }
  return events;
}

}  // namespace

struct SimulatedPlay::Parts {
  Parts(const Script& given, bool has_queues)
      : script(given),
        events(events_of(script, has_queues, place_of_member)),
        world(clock, events, [](const Action&) { return sim::Fate{.after = kBindTakes}; }, {}),
        engine(builtin_profile("ashlar").value()),
        driver(state, engine, {clock, world, world}) {}

  void step() {
    const Plan& plan = driver.step();
    look_again_at = plan.look_again_at;
    for (const Event& event : driver.batch()) show(event);
    for (const VerdictChange& change : plan.verdicts)
      if (const std::string words = words_of(change.verdict, script.acts[change.job.row()]);
          change.verdict.kind != VerdictKind::kPlaced && !words.empty())
        scene.note_wait(scene.jobs()[change.job.row()], words);
  }

  void show(const Event& event) {
    if (const auto* submitted = std::get_if<Submitted>(&event.body)) {
      scene.add(script.acts[submitted->workload.job.row()], event.at);
    } else if (const auto* bound = std::get_if<Bound>(&event.body)) {
      const auto [job, member] = place_of_member[bound->member.row()];
      scene.bind(scene.jobs()[job], member, static_cast<int>(bound->node.row()), devices_text(bound->devices),
                 event.at);
    } else if (const auto* ended = std::get_if<Ended>(&event.body)) {
      scene.jobs()[ended->job.row()].is_over = true;
    }
  }

  Script script;
  std::vector<std::pair<std::size_t, std::size_t>> place_of_member;  ///< act and member, by MemberId
  std::vector<sim::ScriptedEvent> events;
  sim::SimClock clock;
  sim::World world;
  State state;
  Engine engine;
  Driver driver;
  Scene scene;
  Millis look_again_at = Millis::max();
  Millis now;
};

SimulatedPlay::SimulatedPlay(const Script& script, bool has_queues)
    : parts_(std::make_unique<Parts>(script, has_queues)) {}
SimulatedPlay::~SimulatedPlay() = default;

void SimulatedPlay::advance_to(Millis time) {
  Parts& p = *parts_;
  for (int steps = 0;; ++steps) {
    const Millis next = std::max(std::min(p.world.next_event(), p.look_again_at), p.clock.now());
    if (next > time) break;
    ASHLAR_CHECK(steps < kStepsMax);  // the engine would look again at once for ever
    p.clock.advance_to(next);
    p.step();
  }
  p.now = std::max(p.now, time);
}

bool SimulatedPlay::is_over() const {
  const Parts& p = *parts_;
  return p.now >= p.script.length || (p.scene.jobs().size() == p.script.acts.size() && p.scene.is_over());
}

Millis SimulatedPlay::now() const { return parts_->now; }
const Scene& SimulatedPlay::scene() const { return parts_->scene; }

}  // namespace ashlar::demo
