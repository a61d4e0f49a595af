// bench_counts: placed pods by labels, one core, no I/O: a new selector, a pod under many selectors, and, through the
// live scheduler's tables, a pod with required anti-affinity that is bound while thousands wait, and a node whose labels
// change all the time. Each figure of one event is the median of many, beside its limit.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "bench_report.h"
#include "engine/driver.h"
#include "engine/engine.h"
#include "live/track/tracker.h"
#include "policy/profile.h"
#include "state/state.h"

namespace {

using namespace ashlar;
using namespace ashlar::bench;
using kube::EventBuffer;
using kube::PooledString;
using kube::WallClock;
using Op = LabelExpression::Op;

constexpr LabelKeyId kHost{0u}, kZone{1u}, kApp{2u}, kInstance{3u}, kTier{4u};
constexpr std::uint32_t kHosts = 1u << 16, kZones = 1u << 17, kApps = 1u << 18, kInstances = 1u << 19,
                        kTiers = 1u << 20;
constexpr ConstraintId kAnywhere{0u};
constexpr DemandId kSmall{0u};

LabelExpression is_in(LabelKeyId key, std::uint32_t value) { return {key, Op::kIn, {LabelId(value)}, 0}; }

/// A cluster, and the rows in use.
struct World {
  State state;
  std::uint32_t members = 0;

  explicit World(std::uint32_t nodes) {
    tell(QueueDefined{QueueId(0u), QueueId::none(), {kUnlimited, kUnlimited, kUnlimited}});
    tell(DemandDefined{kSmall, {.amounts = {{resource::kCpu, 100}, {resource::kPods, 1}}, .devices = {}, .ports = {}}});
    tell(ConstraintDefined{kAnywhere, {}});
    tell(NamespaceSeen{NamespaceId(0u), {.is_known = true, .labels = {}}});
    for (std::uint32_t n = 0; n < nodes; ++n) {
      NodeFacts f;
      f.allocatable = {128'000, std::int64_t{1} << 40, std::int64_t{1} << 42, 250};
      f.labels = {{kHost, LabelId(kHosts + n), NodeLabel::kNotANumber},
                  {kZone, LabelId(kZones + n % 3), NodeLabel::kNotANumber}};
      tell(NodeSeen{NodeId(n), f});
    }
  }
  void tell(EventBody body) { apply(state, Event{state.now(), std::move(body)}); }
  /// Ten labels, as pods have them: some that all share, an application of this many sets, and one of its own.
  void define_set(std::uint32_t row, std::uint32_t sets_per_app) {
    std::vector<PodLabel> labels = {{kApp, LabelId(kApps + row / sets_per_app)},
                                    {kInstance, LabelId(kInstances + row)},
                                    {kTier, LabelId(kTiers + row % 4)}};
    for (std::uint32_t k = 0; k < 7; ++k) labels.push_back({LabelKeyId(10 + k), LabelId(100 + k)});
    tell(LabelSetDefined{LabelSetId(row), {NamespaceId(0u), std::move(labels)}});
  }
  void select(std::uint32_t row, std::vector<LabelExpression> all) {
    tell(PodSelectorDefined{PodSelectorId(row), {{NamespaceId(0u)}, false, {}, std::move(all)}});
  }
  MemberId submit(LabelSetId labels, ConstraintId constraint, bool is_ours) {
    Workload w;
    w.job = JobId(members);
    w.is_ours = is_ours;
    w.members = {{MemberId(members), kSmall, constraint, labels}};
    tell(Submitted{std::move(w)});
    return MemberId(members++);
  }
  MemberId run(LabelSetId labels, ConstraintId constraint, NodeId node) {
    const MemberId member = submit(labels, constraint, false);
    tell(Bound{member, node, {}});
    return member;
  }
};

/// Median of `runs` calls, in microseconds.
template <class Run>
double median_us(int runs, Run&& run) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run(i);
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<std::size_t>(runs / 2)];
}

World with_pods(std::uint32_t nodes, std::uint32_t sets, std::uint32_t pods) {
  World w(nodes);
  Rng rng(7);
  for (std::uint32_t i = 0; i < sets; ++i) w.define_set(i, 100);
  for (std::uint32_t i = 0; i < pods; ++i)
    w.run(LabelSetId(i % sets), kAnywhere, NodeId(static_cast<std::uint32_t>(rng.below(nodes))));
  return w;
}

void measure_selectors(Report& report) {
  World w = with_pods(5000, 50'000, 150'000);
  const auto define = [&](const char* what, auto&& expressions_of) {
    report.at_most(std::string("a new selector, 150,000 pods, 50,000 label sets: ") + what,
                   median_us(101, [&](int i) { w.select(0, expressions_of(i)); }), "us", 1000);
  };
  using All = std::vector<LabelExpression>;
  define("of 100 sets", [](int i) { return All{is_in(kApp, kApps + static_cast<std::uint32_t>(i))}; });
  define("a quarter of all sets", [](int i) { return All{is_in(kTier, kTiers + static_cast<std::uint32_t>(i % 4))}; });
  define("all but 100 sets", [](int i) {
    return All{{kApp, Op::kNotIn, {LabelId(kApps + static_cast<std::uint32_t>(i))}, 0}};
  });
  define("all sets", [](int i) { return i % 2 == 0 ? All{} : All{{kInstance, Op::kExists, {}, 0}}; });
}

void measure_pods(Report& report) {
  World w = with_pods(5000, 50'000, 150'000);
  for (std::uint32_t s = 0; s < 10'000; ++s)
    w.select(s, {is_in(kTier, kTiers + s % 4), is_in(kApp, kApps + s % 500), is_in(LabelKeyId(10u), 100)});
  std::vector<MemberId> bound(1001);
  report.at_most("a pod comes and is bound, 10,000 selectors, 5 match",
                 median_us(1001,
                           [&](int i) {
                             bound[static_cast<std::size_t>(i)] =
                                 w.run(LabelSetId(i * 49), kAnywhere, NodeId(static_cast<std::uint32_t>(i)));
                           }),
                 "us", 20);
  report.at_most("it ends", median_us(1001, [&](int i) { w.tell(MemberGone{bound[static_cast<std::size_t>(i)]}); }),
                 "us", 20);
}

enum class Terms : std::uint8_t { kOne, kOfEach, kOwnOfEach };

/// The live scheduler without an API server: pods and nodes as they are read, the engine behind.
struct Live : Actuator {
  WallClock clock{[] { return Millis(1'000'000); }};
  EventBuffer source{clock};
  kube::Tracker tracker{kube::TrackerOptions{}, source, kube::Tracker::Listeners{}};
  State state;
  Engine engine{builtin_profile("ashlar").value()};
  Driver driver{state, engine, {clock, source, *this}};

  Live() { tracker.open(); }
  void submit(const Plan&) override {}
  static PooledString text(const char* stem, std::uint32_t number) {
    return PooledString(stem + std::to_string(number));
  }
  void see_node(std::uint32_t n, const char* telemetry = nullptr, std::uint32_t value = 0) {
    kube::Node node;
    node.name = text("n", n);
    node.ready = kube::ConditionStatus::kTrue;
    node.allocatable.cpu = MilliCores(64'000);
    node.pods_max = 110;
    node.labels = {{PooledString("host"), node.name}};
    if (telemetry != nullptr) node.labels.push_back({PooledString(telemetry), text("", value)});
    tracker.take(kube::Change<kube::Node>{kube::Change<kube::Node>::Kind::kModified, std::move(node)});
  }
  static kube::Pod pod(PooledString name, const char* scheduler, std::int64_t cpu, kube::Labels labels) {
    kube::Pod p;
    p.ns = PooledString("ns");
    p.uid = p.name = std::move(name);
    p.scheduler_name = PooledString(scheduler);
    p.requests.cpu = MilliCores(cpu);
    p.labels = std::make_shared<const kube::Labels>(std::move(labels));
    return p;
  }
  void tell(kube::Pod p, kube::Change<kube::Pod>::Kind kind = kube::Change<kube::Pod>::Kind::kModified) {
    tracker.take(kube::Change<kube::Pod>{kind, std::move(p)});
  }
  void step() {
    tracker.settle();
    driver.step();
    tracker.note_taken();
  }
  /// A foreign pod that refuses pods with app=web on its host; kOfEach: by a term of its own, kOwnOfEach: and pods of
  /// an application of its own instead. `topology`: the label whose value is its host.
  static kube::Pod loner(std::uint32_t number, std::uint32_t node, Terms terms, const char* topology = "host") {
    kube::PodAffinityTerm term;
    term.selector.present = true;
    term.topology_key = PooledString(topology);
    term.selector.match_labels = {
        {PooledString("app"), terms == Terms::kOwnOfEach ? text("own", number) : PooledString("web")}};
    if (terms == Terms::kOfEach)
      term.selector.expressions = {{PooledString("tier"), kube::SelectorOp::kNotIn, {text("t", number)}}};
    kube::PodRules rules;
    rules.required_anti_affinity = {term};
    kube::Pod p = pod(text("o", number), "default-scheduler", 0, {});
    p.rules = std::make_shared<const kube::PodRules>(std::move(rules));
    p.node_name = text("n", node);
    return p;
  }
};

/// Foreign pods that refuse company are bound one after the other while 3,000 pods wait that are too large.
void measure_anti_affinity(Report& report, Terms terms, const char* what) {
  constexpr std::uint32_t kOwners = 2000, kWaiting = 3000, kNodes = 200;
  Live live;
  for (std::uint32_t n = 0; n < kNodes; ++n) live.see_node(n);
  for (std::uint32_t i = 0; i < kOwners; ++i) live.tell(Live::loner(i, i % (kNodes / 2), terms));
  for (std::uint32_t i = 0; i < kWaiting; ++i)
    live.tell(Live::pod(Live::text("w", i), "ashlar", 100'000,
                        {{PooledString("app"), PooledString("web")}, {PooledString("index"), Live::text("", i)}}));
  live.step();
  live.step();
  const auto next = [&](int i) {
    const auto n = static_cast<std::uint32_t>(i);
    return Live::loner(kOwners + n, kNodes / 2 + n, terms);
  };
  report.at_most(std::string("one more is bound and decided on, 2,000 owners, 3,000 waiting: ") + what,
                 median_us(99, [&](int i) { live.tell(next(i)), live.step(); }), "us", 1000);
  report.at_most(
      "  and it ends",
      median_us(99, [&](int i) { live.tell(next(i), kube::Change<kube::Pod>::Kind::kDeleted), live.step(); }), "us",
      1000);
}

/// The share of a core that a node costs whose label changes 100 times a second for a minute, on 5,000 nodes with 50,000
/// bound pods, of which 2,000 have required anti-affinity by the label `topology`, and 100 waiting pods that select by
/// the label `asked`.
double telemetry_percent(const char* asked, const char* topology) {
  constexpr std::uint32_t kNodes = 5000, kPods = 50'000, kLoners = 2000, kWaiting = 100, kChanges = 6000;
  Live live;
  for (std::uint32_t n = 0; n < kNodes; ++n) live.see_node(n, "power", 0);
  for (std::uint32_t i = 0; i < kLoners; ++i) live.tell(Live::loner(i, i % kNodes, Terms::kOne, topology));
  for (std::uint32_t i = kLoners; i < kPods; ++i) {
    kube::Pod p = Live::pod(Live::text("b", i), "default-scheduler", 100, {});
    p.node_name = Live::text("n", i % kNodes);
    live.tell(std::move(p));
  }
  for (std::uint32_t i = 0; i < kWaiting; ++i) {
    kube::PodRules rules;
    rules.node_selector = {{PooledString(asked), Live::text("never", i)}};
    kube::Pod p = Live::pod(Live::text("w", i), "ashlar", 100, {{PooledString("app"), PooledString("web")}});
    p.rules = std::make_shared<const kube::PodRules>(std::move(rules));
    live.tell(std::move(p));
  }
  for (int i = 0; i < 3; ++i) live.step();
  const auto start = std::chrono::steady_clock::now();
  for (std::uint32_t i = 1; i <= kChanges; ++i) live.see_node(7, "power", i), live.step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / (kChanges / 100.0) * 100;
}

void measure_telemetry(Report& report) {
  const std::string what = "5,000 nodes, 50,000 bound pods, a label of one node changes 100 times a second: ";
  report.at_most(what + "asked by no pod", telemetry_percent("zone", "host"), "% of core", 1);
  report.at_most(what + "asked by 100 kinds", telemetry_percent("power", "host"), "% of core", 1);
  report.at_most(what + "a domain of anti-affinity", telemetry_percent("zone", "power"), "% of core", 1);
}

/// A pod with these rules comes, is decided on and bound, beside `pods` others of 500 applications on 5,000 nodes in
/// three zones. Selector 1 means its own application, 2 another one.
void measure_rules(Report& report, const std::string& what, const Constraint& rules, std::uint32_t pods) {
  constexpr std::uint32_t kNodes = 5000, kOwn = 2000;
  constexpr LabelSetId kOwnSet{60'000u};
  constexpr ConstraintId kRules{1u};
  World w = with_pods(kNodes, 50'000, pods);
  w.tell(LabelSetDefined{kOwnSet, {.ns = NamespaceId(0u), .labels = {{kApp, LabelId(kApps + 10'000)}}}});
  w.select(1, {is_in(kApp, kApps + 10'000)});
  w.select(2, {is_in(kApp, kApps + 1)});
  w.tell(ConstraintDefined{kRules, rules});
  Engine engine{builtin_profile("ashlar").value()};
  std::uint32_t bound = 0;
  const auto come = [&](int) {
    const MemberId member = w.submit(kOwnSet, kRules, true);
    engine.decide(w.state, w.state.now());
    if (const Member& m = w.state.member(member); m.is_placed()) ++bound, w.tell(Bound{member, m.node, {}});
  };
  for (int i = 0; i < 10; ++i) come(i);
  report.at_most("a pod with " + what + ", " + std::to_string(pods) + " pods: decided and bound", median_us(kOwn, come),
                 "us", 30);
  report.at_most("  such pods that found no place", kOwn + 10.0 - bound, "", 0);
}

void measure_company(Report& report, std::uint32_t pods) {
  Constraint rules;
  rules.keeps_away = {{PodSelectorId(1u), kHost}};
  rules.keeps_itself_away = true;
  rules.near = {.selector = PodSelectorId(2u), .topologies = {kZone}};
  rules.spread = {{.selector = PodSelectorId(1u), .topology = kZone},
                  {.selector = PodSelectorId(1u), .topology = kHost, .skew_max = 2}};
  measure_rules(report, "anti-affinity, affinity and two spread constraints", rules, pods);
}

void measure_preferences(Report& report, std::uint32_t pods) {
  const auto measure = [&](const char* what, const Constraint& rules) { measure_rules(report, what, rules, pods); };
  Constraint near, apart, spread;
  near.prefers_pods = {{PodSelectorId(2u), kZone, 80}};
  measure("preferred affinity by zone", near);
  apart.prefers_pods = {{PodSelectorId(1u), kHost, -100}};
  measure("preferred anti-affinity by host", apart);
  spread.prefers_spread = {{.selector = PodSelectorId(1u), .topology = kZone, .skew_max = 1}};
  measure("a soft spread by zone", spread);
}

}  // namespace

int main() {
  Report report("counts, one core");
  measure_selectors(report);
  measure_pods(report);
  measure_anti_affinity(report, Terms::kOne, "one term");
  measure_anti_affinity(report, Terms::kOfEach, "a term of each");
  measure_anti_affinity(report, Terms::kOwnOfEach, "of each for others");
  measure_telemetry(report);
  measure_company(report, 50'000);
  measure_company(report, 150'000);
  measure_preferences(report, 50'000);
  return report.finish();
}
