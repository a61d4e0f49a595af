// A small cluster whose life is drawn from a seed: nodes come, go and change, jobs of all shapes are submitted and end,
// binds are confirmed, refused or lost, queues and estimates change. It reads the state to stay plausible and adds some
// nonsense (doubled and late events) to stay honest.
#pragma once

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "engine/driver.h"
#include "engine/engine.h"
#include "policy/profile.h"
#include "state/state.h"

namespace ashlar::store {

class RandomWorld {
 public:
  /// `pace`: so much time passes at a time, on average.
  explicit RandomWorld(std::uint64_t seed, Millis pace = Millis(500)) : rng_(seed), pace_(pace) {}

  /// Definitions that come first: levels, queues, demands, constraints, nodes.
  std::vector<Event> opening() {
    std::vector<Event> events;
    add(events, LevelsDefined{2, 1});
    add(events, QueueDefined{QueueId(1), QueueId(0), {kUnlimited, kUnlimited, kUnlimited}});
    add(events, QueueDefined{QueueId(2),
                             QueueId(1),
                             {12'000, kUnlimited, kUnlimited},
                             {},
                             {{.of = quota_key(0), .guarantee = 4000, .lends = 3000}},
                             {2000, 1},
                             {QueueGate::Is::kDraining, Millis(70)},
                             {{quota_key(0), 3'600'000}},
                             {.own = StopRules::Own::kNever, .while_borrowing = 7, .protected_from_own = Millis(5)}});
    for (std::uint32_t d = 0; d < kDemands; ++d) add(events, DemandDefined{DemandId(d), demand(d)});
    add(events, NamespaceSeen{NamespaceId(0), {true, {{LabelKeyId(6), LabelId(60)}}}});
    for (std::uint32_t i = 0; i < 2; ++i)
      add(events, LabelSetDefined{LabelSetId(i), {NamespaceId(i), {{LabelKeyId(5), LabelId(50 + i)}}}});
    const LabelExpression app{LabelKeyId(5), LabelExpression::Op::kIn, {LabelId(50)}, 0};
    add(events, PodSelectorDefined{PodSelectorId(0), {{NamespaceId(0)}, false, {}, {app}}});
    add(events, DeviceClassDefined{DeviceClassId(0), {{DeviceModelId(0), DeviceModelId(1)}, {CapabilityId(0)}}});
    for (std::uint32_t c = 0; c < kConstraints; ++c) add(events, ConstraintDefined{ConstraintId(c), constraint(c)});
    add(events, DeviceLayoutDefined{DeviceLayoutId(0), layout()});
    add(events, GangSpecDefined{GangSpecId(0), {{{1, LevelId(1), {}}, {1, {}, LevelId(0)}}}});
    for (std::uint32_t n = 0; n < kNodes; ++n) add(events, NodeSeen{NodeId(n), facts(n)});
    add(events, ImageSeen{ImageId(0), std::int64_t(2) << 30, {NodeId(1), NodeId(2)}, {}});
    return events;
  }

  /// What happens before the next decision. `plan` is the last one.
  std::vector<Event> next(const State& state, const Plan& plan) {
    now_ += pace_ * static_cast<std::int64_t>(rng_.below(3));
    std::vector<Event> events;
    for (const Action& action : plan.actions)
      if (const auto* bind = std::get_if<Bind>(&action)) answer(events, *bind);
    const std::uint64_t count = rng_.below(4);
    for (std::uint64_t i = 0; i < count; ++i) one(state, events);
    return events;
  }
  Millis now() const { return now_; }

 private:
  static constexpr std::uint32_t kNodes = 10, kJobs = 40, kMembers = 160, kDemands = 6, kConstraints = 4;

  template <class Body>
  void add(std::vector<Event>& events, Body body) {
    events.push_back({now_, std::move(body)});
  }
  std::uint32_t draw(std::uint32_t bound) { return static_cast<std::uint32_t>(rng_.below(bound)); }

  static Demand demand(std::uint32_t d) {
    Demand demand;
    demand.amounts = {{resource::kCpu, 1000 + 500 * d}, {resource::kMemory, 1 << 20}, {resource::kPods, 1}};
    if (d == 1) demand.devices = {1, MilliGpu(300), MiB(0)};
    if (d == 2) demand.devices = {1, MilliGpu(1000), MiB(0)};
    if (d == 3) demand.devices = {2, MilliGpu(1000), MiB(0)};
    if (d == 4) demand.devices = {4, MilliGpu(1000), MiB(100)};
    if (d == 5) demand.ports = {{6, 0, 8080}};
    return demand;
  }
  static DeviceLayout layout() {
    DeviceLayout layout{std::vector<DeviceFacts>(4, {.device_class = DeviceClassId(0), .memory = MiB(40'000)})};
    layout.devices[2] = {.device_class = DeviceClassId(1), .memory = MiB(80'000), .island = 1};
    layout.devices[3] = {.device_class = DeviceClassId(1), .memory = MiB(80'000), .island = 1};
    return layout;
  }
  static Constraint constraint(std::uint32_t c) {
    Constraint constraint;
    if (c == 1) constraint.models = {DeviceClassId(1)};
    if (c == 2) constraint.selector.all = {{LabelKeyId(1), LabelExpression::Op::kIn, {LabelId(1), LabelId(2)}, 0}};
    if (c == 1) constraint.seen_as = LabelSetId(0);
    if (c == 1 || c == 3) constraint.images = {{ImageId(0)}, c};
    if (c == 2) constraint.features = {LabelKeyId(1)};
    if (c == 2) constraint.keeps_away = {{PodSelectorId(0), LabelKeyId(1)}};
    if (c == 3) {
      constraint.tolerations = {{LabelKeyId(2), LabelId::none(), TaintEffect::kAny}};
      constraint.preferred = {{50, {{{LabelKeyId(1), LabelExpression::Op::kExists, {}, 0}}}}};
      constraint.capabilities = {CapabilityId(0)};
    }
    return constraint;
  }
  NodeFacts facts(std::uint32_t n) {
    NodeFacts f;
    f.allocatable = {32'000, std::int64_t(64) << 30, std::int64_t(100) << 30, 20, 7};
    f.devices.count = n % 5 == 4 ? 0 : 4;
    f.devices.memory_each = MiB(n % 2 == 0 ? 0 : 40'000);
    f.devices.device_class = f.devices.count == 0 ? DeviceClassId::none() : DeviceClassId(n % 2);
    if (n == 2) f.devices = devices_with(DeviceLayoutId(0), layout());
    f.is_ready = draw(8) != 0;
    if (n % 3 != 0) f.labels = {{LabelKeyId(1), LabelId(n % 4), static_cast<std::int64_t>(n)}};
    if (n % 6 == 5) f.taints = {{LabelKeyId(2), LabelId(9), TaintEffect::kNoSchedule}};
    f.domains = {DomainId(n / 6), DomainId(n / 3), n % 4 == 3 ? DomainId::none() : DomainId(n % 2)};
    return f;
  }

  void answer(std::vector<Event>& events, const Bind& bind) {
    const std::uint32_t luck = draw(10);
    if (luck < 6)
      add(events, Bound{bind.member, bind.node, bind.devices,
                        bind.member.value % 5 == 0  // holds less of each than it requested
                            ? grants_of(bind.devices, {.milli = MilliGpu(300), .memory = MiB(2000)})
                            : DeviceGrants{}});
    else if (luck < 8)
      add(events, BindRejected{bind.member});
    else if (luck < 9)
      add(events, Bound{bind.member, NodeId(draw(kNodes)), DeviceMask{}});  // somebody else was faster
  }

  void submit(const State& state, std::vector<Event>& events) {
    Workload w;
    w.job = JobId(draw(kJobs));
    if (state.is_live(w.job)) return;
    w.queue = QueueId(draw(3));
    w.tenant = static_cast<std::uint32_t>(draw(4));
    w.priority = static_cast<std::int32_t>(draw(3));
    w.submitted = now_;
    w.order_hint = draw(1000);
    w.is_ours = draw(12) != 0;
    if (draw(8) == 0) w.runs_since = now_ - Millis(draw(9000));
    if (draw(4) == 0) w.saved_at = now_ - Millis(draw(9000));
    if (draw(3) == 0) w.stopping = {Millis(draw(5000)), Millis(draw(3000)), draw(3) == 0};
    if (draw(2) == 0) w.estimate = {Millis(1000 + draw(20'000)), Millis(2000 + draw(40'000))};
    if (draw(4) == 0) w.within = LevelId(draw(3));
    if (draw(4) == 0) w.prefer = LevelId(draw(2));
    const std::uint32_t size = draw(2) == 0 ? 1 : 1 + draw(5);
    const DemandId demand(draw(kDemands));
    const ConstraintId constraint(draw(kConstraints));
    for (std::uint32_t m = 0; m < size; ++m) {
      const MemberId member(draw(kMembers));
      if (state.is_live(member) || is_taken_now_[member.row()] != 0) continue;
      is_taken_now_[member.row()] = 1;
      w.members.push_back({member, draw(8) == 0 ? DemandId(draw(kDemands)) : demand, constraint, LabelSetId(draw(2))});
    }
    if (w.members.empty()) return;
    w.members_min = draw(3) == 0 ? 1 : static_cast<std::uint32_t>(w.members.size()) + (draw(6) == 0 ? 1 : 0);
    if (w.members.size() > 1 && draw(3) == 0) {
      w.spec = GangSpecId(0);
      for (std::size_t m = 1; m < w.members.size(); ++m) w.members[m].group = 1;
    }
    add(events, Submitted{std::move(w)});
  }

  void one(const State& state, std::vector<Event>& events) {
    is_taken_now_.assign(kMembers, 0);
    const JobId job(draw(kJobs));
    const MemberId member(draw(kMembers));
    const std::uint32_t node = draw(kNodes);
    switch (draw(27)) {
      case 0:
        return add(events, NodeGone{NodeId(node)});
      case 1:
      case 2:
        return add(events, NodeSeen{NodeId(node), facts(node)});
      case 3:
      case 4:
      case 5:
        return add(events, Ended{job});
      case 6:
        return add(events, MemberGone{member});
      case 7:
        return add(events, Evicted{job, Millis(draw(10'000)), draw(2) == 0 ? member_of(state, job) : MemberId::none()});
      case 8:
        return add(events, EstimateChanged{job, {Millis(draw(9000)), Millis(9000)}});
      case 9:
        return add(events, PriorityChanged{job, static_cast<std::int32_t>(draw(5))});
      case 10:
        return add(events, QueueDefined{QueueId(1 + draw(2)),
                                        QueueId(draw(2)),
                                        {static_cast<std::int64_t>(4000 + 1000 * draw(20)), kUnlimited, kUnlimited},
                                        limits(),
                                        shares(),
                                        {1 + static_cast<std::int64_t>(draw(3000)), static_cast<std::int32_t>(draw(3))},
                                        gate(),
                                        usage(),
                                        stop_rules()});
      case 11:
        return add(events, ConstraintChanged{member, ConstraintId(draw(kConstraints))});
      case 12:
        return nominate(state, member, node, events);
      case 13:
        return add(events, Tick{});
      case 14:
        return add(events, NodeCapacityChanged{
                               NodeId(node), {32'000, std::int64_t(64) << 30, std::int64_t(100) << 30, 20, draw(10)}});
      case 15:
        return add(events, NodeDevicesChanged{NodeId(node),
                                              {static_cast<std::int32_t>(draw(5)), MiB(0), DeviceClassId(draw(2))}});
      case 16:
        return hold(state, {job, now_ + Millis(draw(8000)), {{{member, {}, ConstraintId(0)}, NodeId(node), {}}}},
                    events);
      case 17:
        return add(events, DeviceHealthChanged{NodeId(node), {draw(16), 0}});
      case 24:
        return add(events,
                   ImageSeen{ImageId(0), std::int64_t(1 + draw(4)) << 30, {NodeId(node)}, {NodeId(draw(kNodes))}});
      case 26:
        return add(events, CheckpointSaved{job, now_});
      case 25:  // with and without the capability that a constraint names
        return add(events, DeviceClassDefined{
                               DeviceClassId(draw(2)),
                               {std::vector<DeviceModelId>(draw(3), DeviceModelId(node)), {CapabilityId(draw(2))}}});
      default:
        return submit(state, events);
    }
  }
  /// Any of the job's members; none if it has none.
  MemberId member_of(const State& state, JobId job) {
    MemberId chosen;
    if (!state.is_live(job) || state.job(job).members_present == 0) return chosen;
    std::uint32_t left = draw(state.job(job).members_present);
    state.each_member(job, [&](MemberId member, const Member&) {
      if (left-- == 0) chosen = member;
    });
    return chosen;
  }
  /// Perhaps of GPUs of one model, and of CPU on the nodes of one.
  std::vector<QuotaLimit> limits() {
    std::vector<QuotaLimit> limits;
    if (draw(2) == 0) limits.push_back({{ResourceId::none(), DeviceClassId(draw(2))}, 1000 * draw(12)});
    if (draw(3) == 0) limits.push_back({{resource::kCpu, DeviceClassId(draw(2))}, 1000 * draw(20)});
    if (draw(3) == 0) limits.push_back({{resource::kPods, DeviceClassId::none()}, draw(30)});
    return limits;
  }
  std::vector<QuotaShare> shares() {
    std::vector<QuotaShare> shares;
    if (draw(2) == 0) shares.push_back({.of = quota_key(0), .guarantee = 1000 * draw(12)});
    if (draw(3) == 0)
      shares.push_back({.of = {ResourceId::none(), DeviceClassId(draw(2))}, .borrows = 1000 * draw(6), .lends = 0});
    if (draw(4) == 0) shares.push_back({.of = quota_key(1), .guarantee = 1000 * draw(40), .lends = 1000 * draw(9)});
    return shares;
  }
  std::vector<QueueUsage> usage() {
    if (draw(4) != 0) return {};
    return {{quota_key(0), std::int64_t{36'000'000} * draw(100)}, {quota_key(1), std::int64_t{1000} * draw(1000)}};
  }
  QueueGate gate() {
    if (draw(4) != 0) return {};
    return {static_cast<QueueGate::Is>(draw(4)), Millis(draw(2000))};
  }
  StopRules stop_rules() {
    if (draw(4) != 0) return {};
    return {.own = static_cast<StopRules::Own>(draw(4)),
            .reclaims = static_cast<StopRules::Reclaims>(draw(3)),
            .longer_while_borrowing = draw(2) == 0,
            .while_borrowing = static_cast<std::int32_t>(draw(5)),
            .protected_from_own = Millis(draw(4000)),
            .protected_from_others = draw(2) == 0 ? StopRules::kAsAbove : Millis(draw(9000))};
  }
  void hold(const State& state, Hold hold, std::vector<Event>& events) {
    MemberSpec& member = hold.parts[0].member;
    if (state.is_live(hold.job) || state.is_live(member.member)) return;
    member.demand = DemandId(draw(kDemands));
    const std::uint32_t owner = draw(4);
    if (owner == 1) hold.owner.job = JobId(draw(8));
    if (owner > 1) hold.owner.queue = QueueId(draw(4));
    if (draw(3) == 0) hold.from = now_ + Millis(draw(4000));
    add(events, HoldPlaced{std::move(hold)});
  }
  void nominate(const State& state, MemberId member, std::uint32_t node, std::vector<Event>& events) {
    if (!state.is_live(member) || state.job(state.member(member).job).is_ours) return;
    add(events, Nominated{member, draw(3) == 0 ? NodeId::none() : NodeId(node), 5});
  }

  Rng rng_;
  Millis pace_;
  Millis now_{1'699'999'980'000};
  std::vector<std::uint8_t> is_taken_now_;
};

/// The default profile with queues in the order of what they use of their limits.
inline constexpr std::string_view kByShare = "ashlar-by-share";

/// The built-in profiles and that one.
inline std::vector<std::string_view> every_profile() {
  std::vector<std::string_view> names(builtin_profile_names().begin(), builtin_profile_names().end());
  names.push_back(kByShare);
  return names;
}

/// A profile by name; FGD gets a small target workload.
inline Profile profile_named(std::string_view name) {
  Profile profile = builtin_profile(name == kByShare ? "ashlar" : name).value();
  profile.name = name;
  if (name == kByShare) profile.queue_order = find_queue_order("least-share");
  if (name == "fgd")
    profile.mix.classes = {{2000, 1, 300, {}, 0.5}, {1000, 2, 1000, {DeviceClassId(1)}, 0.3}, {4000, 4, 1000, {}, 0.2}};
  return profile;
}

/// State, engine and world, stepped together; the steps can be recorded.
struct Life {
  State state;
  Engine engine;
  RandomWorld world;
  Plan plan;
  Recorder* recorder = nullptr;

  Life(std::string_view profile, std::uint64_t seed, EngineOptions options = {})
      : engine(profile_named(profile), options),
        world(seed, Millis(std::max<std::int64_t>(500, engine.profile().cadence.value / 2))) {}

  void step(std::vector<Event> batch) {
    for (const Event& event : batch) apply(state, event);
    plan = engine.decide(state, world.now());
    if (recorder != nullptr && has_news(batch, plan)) recorder->record(batch, plan, state.digest());
  }
  void open() { step(world.opening()); }
  void run(int steps) {
    for (int i = 0; i < steps; ++i) step(world.next(state, plan));
  }
};

}  // namespace ashlar::store
