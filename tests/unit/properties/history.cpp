#include "history.h"

#include <algorithm>

namespace ashlar {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr ResourceId kHca{resource::kFirstExtended};

Demand demand_number(int i) {
  Demand d;
  const auto cpu = [&](std::int64_t milli) { d.amounts.push_back({resource::kCpu, milli}); };
  const auto memory = [&](std::int64_t gib) { d.amounts.push_back({resource::kMemory, gib * kGiB}); };
  const auto pods = [&] { d.amounts.push_back({resource::kPods, 1}); };
  switch (i) {
    case 0:
      cpu(1000);
      pods();
      break;
    case 1:
      cpu(4000);
      pods();
      d.devices.count = 1;
      break;
    case 2:
      pods();
      d.devices.count = 2;
      break;
    case 3:
      memory(16);
      pods();
      d.devices.count = 4;
      break;
    case 4:
      pods();
      d.devices.count = 8;
      break;
    case 5:
      pods();
      // four of them take a device's memory and less than half of its compute
      d.devices = {1, MilliGpu(100), MiB(10240)};
      break;
    case 6:
      pods();
      d.devices = {1, MilliGpu(500), MiB(0)};
      break;
    case 7:
      cpu(2000);
      pods();
      d.devices = {1, MilliGpu(700), MiB(0)};
      break;
    case 8:
      pods();
      d.amounts.push_back({kHca, 1});
      d.devices.count = 1;
      break;
    case 9:
      pods();
      d.ports.push_back({6, 0, 80});
      break;
    case 10:
      cpu(20000);
      memory(100);
      pods();
      break;
    default:
      pods();
      d.devices.count = 1;
      d.ports.push_back({6, 1, 80});
      break;
  }
  return d;
}

Constraint constraint_number(int i) {
  Constraint c;
  const LabelExpression zone_a{LabelKeyId(1u), LabelExpression::Op::kIn, {LabelId(1u)}, 0};
  switch (i) {
    case 1:
      c.models = {DeviceClassId(0u)};
      break;
    case 2:
      c.selector.all = {zone_a};
      break;
    case 3:
      c.tolerations = {Toleration{}};
      c.features = {LabelKeyId(1u), LabelKeyId(2u)};
      break;
    case 4:
      c.any_of = {NodeTerm{{zone_a}}, NodeTerm{{{LabelKeyId(2u), LabelExpression::Op::kGreater, {}, 4}}}};
      c.volumes = {{NodeTerm{{{LabelKeyId(2u), LabelExpression::Op::kExists, {}, 0}}}},
                   {NodeTerm{{zone_a}}, NodeTerm{{{LabelKeyId(2u), LabelExpression::Op::kLess, {}, 9}}}}};
      break;
    case 5:
      c.preferred = {{50, NodeTerm{{zone_a}}}};
      break;
    case 6:
    case 7:
      c.seen_as = LabelSetId(i - 6);
      if (i == 7) break;
      c.preferred = {{50, NodeTerm{{zone_a}}}};
      c.prefers_pods = {{PodSelectorId(0u), LabelKeyId(1u), 30}, {PodSelectorId(1u), LabelKeyId(2u), -50}};
      c.prefers_spread = {{.selector = PodSelectorId(0u), .topology = LabelKeyId(1u), .skew_max = 3},
                          {.selector = PodSelectorId(2u), .topology = LabelKeyId(2u), .honors_taints = true}};
      break;
    case 16:  // as by default
      c.prefers_spread = {
          {.selector = PodSelectorId(0u), .topology = LabelKeyId(2u), .skew_max = 3, .requires_all_labels = false},
          {.selector = PodSelectorId(0u), .topology = LabelKeyId(1u), .skew_max = 5, .requires_all_labels = false}};
      break;
    case 8:
    case 9:
    case 10:  // zones are few, node numbers many
      c.keeps_away = {{PodSelectorId(i - 8), LabelKeyId(i == 9 ? 2u : 1u)}};
      if (i == 10) c.keeps_away.push_back({PodSelectorId(0u), LabelKeyId(2u)});
      c.keeps_itself_away = true;
      break;
    case 11:
      c.near = {.selector = PodSelectorId(0u), .topologies = {LabelKeyId(1u)}, .matches_itself = true};
      c.features = {LabelKeyId(2u)};
      break;
    case 12:
      c.spread = {{.selector = PodSelectorId(1u), .topology = LabelKeyId(1u)},
                  {.selector = PodSelectorId(0u), .topology = LabelKeyId(2u), .skew_max = 2, .honors_taints = true}};
      break;
    case 13:
      c.selector.all = {zone_a};
      c.spread = {{.selector = PodSelectorId(2u),
                   .topology = LabelKeyId(2u),
                   .skew_max = 2,
                   .domains_min = 3,
                   .honors_affinity = false}};
      break;
    case 14:  // a weight of its own beside another one, and a term twice
      c.prefers_pods = {{PodSelectorId(0u), LabelKeyId(1u), 7},
                        {PodSelectorId(0u), LabelKeyId(1u), -100},
                        {PodSelectorId(1u), LabelKeyId(2u), 40},
                        {PodSelectorId(1u), LabelKeyId(2u), 40}};
      break;
    case 15:
      c.near = {.selector = PodSelectorId(1u), .topologies = {LabelKeyId(2u)}};
      c.prefers_pods = {{PodSelectorId(1u), LabelKeyId(2u), 1, true}, {PodSelectorId(2u), LabelKeyId(1u), 9}};
      c.keeps_away = {{PodSelectorId(3u), LabelKeyId(2u)}};
      break;
    default:
      break;
  }
  return c;
}

/// Some name capabilities, beside a class or alone.
Constraint constraint_with_capabilities(int i) {
  Constraint c = constraint_number(i);
  if (i == 1 || i == 3) c.capabilities = {CapabilityId(0u)};
  if (i == 5) c.capabilities = {CapabilityId(0u), CapabilityId(1u)};
  return c;
}

/// Of none, one or both capabilities, and with more or fewer models.
DeviceClass class_number(int i) {
  DeviceClass of;
  for (std::uint32_t m = 0; m < static_cast<std::uint32_t>(i / 4 % 3); ++m) of.models.emplace_back(m);
  for (std::uint32_t k = 0; k < 2; ++k)
    if ((i >> k & 1) != 0) of.capabilities.emplace_back(k);
  return of;
}

/// Pods of two applications and two tiers in three namespaces.
LabelSet label_set_number(int i) {
  return {NamespaceId(i % Outside::kNamespaces),
          {{LabelKeyId(50u), LabelId(500u + static_cast<std::uint32_t>(i % 2))},
           {LabelKeyId(51u), LabelId(510u + static_cast<std::uint32_t>(i / 2 % 2))}}};
}

PodSelector selector_number(int i) {
  const LabelExpression app{LabelKeyId(50u), LabelExpression::Op::kIn, {LabelId(500u)}, 0};
  const LabelExpression other_tier{LabelKeyId(51u), LabelExpression::Op::kNotIn, {LabelId(510u)}, 0};
  const LabelExpression red{LabelKeyId(52u), LabelExpression::Op::kExists, {}, 0};
  PodSelector s{.namespaces = {NamespaceId(0u)}, .selects_namespaces = false, .of_namespace = {}, .all = {app}};
  if (i == 1) s = {{NamespaceId(0u), NamespaceId(1u)}, false, {}, {}};
  if (i == 2) s = {{}, true, {red}, {app}};
  if (i == 3) s = {{NamespaceId(2u)}, false, {}, {other_tier}};
  if (i == 4) s = {{}, true, {}, {app, other_tier}};
  return s;
}

/// Something else of each device than anybody requests, and not the same of each.
DeviceGrants odd_grants(const DeviceMask& devices, const Move& move) {
  if (devices == DeviceMask::unknown()) return {};
  DeviceGrants grants = grants_of(devices, {.milli = MilliGpu(50 * (1 + move.c % 20)),
                                            .slices = static_cast<std::uint32_t>(move.a % 3),
                                            .memory = MiB(move.b % 4 * 5000)});
  if (!grants.empty() && move.a % 2 == 0) grants.front().share.milli = MilliGpu(1000 - 100 * (move.b % 10));
  return grants;
}

/// Of 2, 4 or 8 devices.
DeviceLayout layout_number(int i) {
  DeviceLayout layout;
  const int count = 2 << i / 4;
  for (int d = 0; d < count; ++d) {
    const bool is_second_half = d >= count / 2;
    DeviceFacts device{.device_class = DeviceClassId(i % 4 < 2 && is_second_half ? 1u : 0u)};
    if (i % 4 == 1) device.memory = MiB(is_second_half ? 81920 : 40960);
    if (i % 4 == 2) device.island = is_second_half ? 1 : 0;
    if (i % 4 == 3) device = {.device_class = DeviceClassId(1u), .memory = MiB(d % 2 == 0 ? 40960 : 8192)};
    if (i % 4 == 3 && d + 1 == count) device.mode = DeviceMode::kSliced;
    layout.devices.push_back(device);
  }
  return layout;
}

/// Of two or three groups; levels nested, across them, or none.
GangSpec gang_spec_number(int i) {
  const auto level = [](int l) { return l < 0 ? LevelId::none() : LevelId(static_cast<std::uint32_t>(l)); };
  GangSpec spec{{{1, {}, {}}, {1, level(i % 4 - 1), level(i % 3 - 1)}}};
  if (i % 2 == 1) spec.groups[0] = {0, level(2), {}};
  if (i >= 3) spec.groups.push_back({static_cast<std::uint32_t>(i - 3), level(i - 4), level(1)});
  return spec;
}

/// Sometimes: GPUs of one class, and a resource on all nodes.
std::vector<QuotaShare> shares_of(const Move& move) {
  std::vector<QuotaShare> shares;
  if (move.a % 3 != 0)
    shares.push_back({.of = quota_key(0),
                      .guarantee = move.c % 4 == 0 ? QuotaShare::kNotNamed : 1000 * (move.c % 20),
                      .borrows = move.b % 3 == 0 ? 1000 * (move.a % 12) : kUnlimited,
                      .lends = move.a % 5 == 0 ? 1000 * (move.b % 6) : kUnlimited});
  if (move.b % 4 == 1) shares.push_back({.of = quota_key(1), .guarantee = 1000 * (move.a % 90), .borrows = kUnlimited});
  if (move.b % 5 == 2)
    shares.push_back({.of = {ResourceId::none(), DeviceClassId(static_cast<std::uint32_t>(move.a % 2))},
                      .guarantee = 1000 * (move.c % 10),
                      .lends = move.c % 2 == 0 ? kUnlimited : 1000 * (move.b % 3)});
  return shares;
}

std::vector<QueueUsage> usage_of(const Move& move) {
  if (move.a % 4 != 2) return {};
  return {{quota_key(move.b % 2), std::int64_t{1000} * 60'000 * move.c}};
}

QueueGate gate_of(const Move& move) {
  if (move.b % 7 != 3) return {};
  return {move.c % 2 == 0 ? QueueGate::Is::kHeld : QueueGate::Is::kDraining, Millis(60'000 * (move.a % 10))};
}

StopRules stop_rules_of(const Move& move) {
  StopRules rules;
  rules.own = static_cast<StopRules::Own>(move.a % 4);
  rules.reclaims = static_cast<StopRules::Reclaims>(move.b % 3);
  if (move.c % 2 == 0) rules.while_borrowing = move.b % 5;
  rules.longer_while_borrowing = move.c % 4 == 0;
  if (move.a % 5 == 1) rules.protected_from_own = Millis(60'000 * (move.c % 10));
  if (move.a % 5 == 2) rules.protected_from_others = Millis(60'000 * (move.b % 10));
  return rules;
}

std::vector<QuotaLimit> limits_of(const Move& move) {
  std::vector<QuotaLimit> limits;
  if (move.a / 4 % 3 == 0)
    limits.push_back(
        {{ResourceId::none(), DeviceClassId(static_cast<std::uint32_t>(move.a / 12 % 2))}, 1000 * (move.b % 14)});
  if (move.a / 4 % 4 == 0) limits.push_back({{ResourceId(resource::kFirstExtended), {}}, move.b % 5});
  return limits;
}

}  // namespace

NodeFacts Outside::facts_of(const Move& move) const {
  NodeFacts f;
  constexpr std::int32_t kDevices[] = {8, 8, 4, 2, 8, 0, 1, 8};
  f.devices.count = kDevices[move.b % 8];
  f.devices.device_class =
      f.devices.count == 0 ? DeviceClassId::none() : DeviceClassId(static_cast<std::uint32_t>(move.b / 8 % 2));
  f.devices.memory_each = f.devices.count == 0 ? MiB(0) : MiB(move.b / 16 % 2 * 40960);
  if (options_.has_layouts && move.a % 2 == 1) {
    const int layout = move.b / 2 % kLayouts;
    f.devices = devices_with(DeviceLayoutId(layout), layout_number(layout));
  }
  f.allocatable = {32000, 256 * kGiB, 0, 12, move.b % 3};
  f.is_ready = move.c % 8 != 7;
  const bool is_zone_a = move.c % 2 == 0;
  f.labels = {{LabelKeyId(1u), LabelId(is_zone_a ? 1u : 2u), NodeLabel::kNotANumber},
              {LabelKeyId(2u), LabelId(3u + static_cast<std::uint32_t>(move.c % 8)), move.c % 8}};
  if (move.c % 7 == 6) f.labels.erase(f.labels.begin());
  if (move.c % 5 == 4)
    f.taints = {
        {LabelKeyId(3u), LabelId(20u), move.c % 2 == 0 ? TaintEffect::kNoSchedule : TaintEffect::kPreferNoSchedule}};
  const auto rack = static_cast<std::uint32_t>(move.c / 8 % 4);
  f.domains = {DomainId(rack / 2), DomainId(rack), DomainId(static_cast<std::uint32_t>(move.a % 3))};
  if (move.c % 11 == 10) f.domains[2] = DomainId::none();
  if (move.c % 13 == 12) f.domains = {};
  return f;
}

void Outside::introduce_company(std::vector<Event>& out) const {
  for (int i = 0; i < kLabelSets; ++i) tell(out, LabelSetDefined{LabelSetId(i), label_set_number(i)});
  for (int i = 0; i < kSelectors; ++i) tell(out, PodSelectorDefined{PodSelectorId(i), selector_number(i)});
  tell(out, NamespaceSeen{NamespaceId(0u), {.is_known = true, .labels = {}}});
  for (int i = kWithCompany; i < kWithCompany + kLonerConstraints; ++i)
    tell(out, ConstraintDefined{ConstraintId(i), constraint_number(i)});
}

/// On some nodes from now on, and no longer on others; not always of the same size.
void Outside::move_image(const Move& move, std::vector<Event>& out) const {
  ImageSeen seen{ImageId(move.a % kImages), (std::int64_t{1 + move.a} << 20) * 100, {}, {}};
  if (move.c % 16 == 0) seen.bytes = 0;
  for (int n = 0; n < nodes(); ++n) {
    if ((move.b >> n % 6 & 1) != 0) seen.added.emplace_back(n);
    if ((move.c >> n % 6 & 1) == 0) seen.removed.emplace_back(n);
  }
  tell(out, seen);
}

Constraint Outside::constraint_of(int i) const {
  Constraint c = options_.has_layouts ? constraint_with_capabilities(i) : constraint_number(i);
  if (!options_.has_images) return c;
  const ImageId a(0u), b(1u), d(2u);
  if (i == 1) c.images = {{a, a}, 2};
  if (i == 3) c.images = {{b}, 1};
  if (i == 5) c.images = {{a, b}, 3};
  if (i == 6) c.images = {{d}, 1};
  if (i == 7) c.images = {{b, d}, 2};
  return c;
}

std::vector<Event> Outside::begin() {
  std::vector<Event> out;
  tell(out, LevelsDefined{2, 1});
  for (int i = 0; i < kDemands; ++i) tell(out, DemandDefined{DemandId(i), demand_number(i)});
  if (options_.has_company) introduce_company(out);
  for (int i = 0; options_.has_layouts && i < kLayouts; ++i)
    tell(out, DeviceLayoutDefined{DeviceLayoutId(i), layout_number(i)});
  for (int i = 0; options_.has_gangs && i < kGangSpecs; ++i)
    tell(out, GangSpecDefined{GangSpecId(i), gang_spec_number(i)});
  for (int i = 0; i < constraints(); ++i) tell(out, ConstraintDefined{ConstraintId(i), constraint_of(i)});
  if (options_.has_layouts) tell(out, DeviceClassDefined{DeviceClassId(0u), class_number(3)});
  if (options_.has_quota) {
    tell(out, QueueDefined{QueueId(1u), QueueId(0u), {20'000, kUnlimited, kUnlimited}});
    tell(out, QueueDefined{QueueId(2u), QueueId(1u), {8'000, kUnlimited, kUnlimited}});
    tell(out, QueueDefined{QueueId(3u), QueueId(1u), {kUnlimited, 30'000, 200 * kGiB}});
  }
  for (int n = 0; n < 4; ++n) tell(out, NodeSeen{NodeId(n), facts_of({0, n, n == 3 ? 2 : 0, 8 * n})});
  for (int n = kNodes; n < nodes(); ++n) tell(out, NodeSeen{NodeId(n), facts_of({0, n, n % 4, 5 * n % 32})});
  return out;
}

void Outside::learn(const Plan& plan) {
  for (const Action& action : plan.actions)
    if (const auto* bind = std::get_if<Bind>(&action)) unanswered_.push_back(*bind);
}

MemberId Outside::spare_member(const State& state, std::vector<std::uint8_t>& promised) const {
  for (std::size_t row = 0;; ++row) {
    if (row >= promised.size()) promised.resize(row + 1, 0);
    if (state.is_live(MemberId(row)) || promised[row] != 0) continue;
    promised[row] = 1;
    return MemberId(row);
  }
}

LabelSetId Outside::labels_of(const Move& move) const {
  return options_.has_company && move.c % 7 < kLabelSets ? LabelSetId(move.c % 7) : LabelSetId::none();
}

std::pair<ConstraintId, LabelSetId> Outside::rules_of(const Move& move, std::uint32_t m) const {
  if (!options_.has_rules_among_members) {
    const int constraint = move.a / 2 % 9;
    return {ConstraintId(static_cast<std::size_t>(constraint < constraints() ? constraint : 0)), labels_of(move)};
  }
  // what a constraint says of its own member is true of these labels
  constexpr std::pair<std::size_t, std::size_t> kPairs[] = {{0, 0},  {0, 1}, {0, 2}, {0, 5}, {11, 0},
                                                            {12, 0}, {9, 1}, {9, 4}, {15, 5}};
  const auto [constraint, labels] =
      kPairs[(static_cast<std::uint32_t>(move.a / 2) + m * static_cast<std::uint32_t>(move.c % 3)) % std::size(kPairs)];
  return {ConstraintId(constraint), LabelSetId(labels)};
}

void Outside::submit(const Move& move, const State& state, std::vector<Event>& out) {
  const JobId job(static_cast<std::size_t>(move.a % kJobs));
  if (state.is_live(job)) return;
  Workload w;
  w.job = job;
  w.submitted = now_;
  w.queue = QueueId(static_cast<std::uint32_t>(options_.has_quota ? move.b % kQueues : 0));
  w.priority = move.c % 3;
  const std::uint32_t members = move.kind % 2 == 0 ? 1 : 2 + static_cast<std::uint32_t>(move.b % 5);
  const int wish = move.c / 3 % 8;
  // independent of the hard one: wider, narrower, the same, or across it
  const int soft_setting = (move.a + move.c) % 5;
  if (members > 1 && wish < 4) w.within = LevelId(static_cast<std::uint32_t>(wish % 3));
  if (members > 1 && soft_setting < 3) w.prefer = LevelId(static_cast<std::uint32_t>(soft_setting));
  w.members_min = members;
  if (members > 2 && move.c % 4 == 3) w.members_min = 1 + static_cast<std::uint32_t>(move.a % 2);  // elastic
  // one pod is still to come
  if (members > 2 && move.c % 16 == 5) w.members_min = members + 1;
  if (move.b % 4 == 1) w.estimate = {Millis(10'000 * (1 + move.c)), Millis(15'000 * (1 + move.c))};
  w.order_hint = move.b;
  if (options_.has_shares) w.stopping = {Millis(60'000 * (move.a % 4)), Millis(1000 * move.c), move.b % 9 == 5};
  std::vector<std::uint8_t> promised;
  const bool is_mixed = members > 1 && move.a % 5 >= 3;
  for (std::uint32_t m = 0; m < members; ++m) {
    const int demand = (move.b + move.c + (is_mixed ? static_cast<int>(m) / 2 : 0)) % kDemands;
    const auto [constraint, labels] = rules_of(move, m);
    w.members.push_back({spare_member(state, promised), DemandId(demand), constraint, labels});
  }
  if (options_.has_gangs && members > 1 && move.c % 3 != 0) divide(move, w);
  tell(out, Submitted{std::move(w)});
}

/// In neighbours by rank, or in turn.
void Outside::divide(const Move& move, Workload& w) const {
  const int number = (move.a + move.b) % kGangSpecs;
  w.spec = GangSpecId(number);
  const std::size_t groups = gang_spec_number(number).groups.size();
  for (std::size_t m = 0; m < w.members.size(); ++m)
    w.members[m].group = static_cast<std::uint32_t>(move.b % 2 == 0 ? m * groups / w.members.size() : m % groups);
}

/// The API server says what became of a bind: right away or late, once or twice, as asked or otherwise.
void Outside::answer(const Move& move, const State& state, std::vector<Event>& out) {
  if (unanswered_.empty()) return;
  const std::size_t which = static_cast<std::size_t>(move.a) % unanswered_.size();
  const Bind bind = unanswered_[which];
  const bool is_final = move.c % 7 != 6;
  if (is_final) unanswered_.erase(unanswered_.begin() + static_cast<std::ptrdiff_t>(which));
  if (!state.is_live(bind.member) || state.member(bind.member).job != bind.job) return;
  if (move.b % 8 == 7) return tell(out, BindRejected{bind.member});
  if (move.b % 32 == 6)  // somebody else was faster
    return tell(out, Bound{bind.member, NodeId(static_cast<std::size_t>(move.c % nodes())), {}});
  const DeviceMask devices = move.b % 5 == 4 ? DeviceMask{} : bind.devices;
  const bool is_odd = options_.has_grants && move.c % 3 != 0;
  tell(out, Bound{bind.member, bind.node, devices, is_odd ? odd_grants(devices, move) : DeviceGrants{}});
}

/// A hold of one or two nodes, known or not, for nobody, a queue or a job, for a time, for ever or already over; or the
/// end of one.
void Outside::hold(const Move& move, const State& state, std::vector<Event>& out) {
  const JobId job(static_cast<std::size_t>(kJobs + 8 + move.a % 4));
  if (state.is_live(job) && move.b % 4 != 3) return tell(out, Ended{job});
  if (state.is_live(job)) return tell(out, HoldPlaced{{.job = job, .parts = {}}});  // a duplicate
  Hold hold{.job = job, .parts = {}};
  if (move.a % 5 != 0) hold.until = now_ + Millis(20'000 * (move.c % 16) - 20'000);
  hold.until = std::max(hold.until, Millis(0));
  if (move.b / 4 % 3 == 0) hold.from = now_ + Millis(10'000 * (move.c % 32));
  if (move.a / 4 % 4 == 1) hold.owner.job = JobId(static_cast<std::size_t>(move.b % kJobs));
  if (move.a / 4 % 4 > 1) hold.owner.queue = QueueId(static_cast<std::size_t>(move.b % kQueues));
  std::vector<std::uint8_t> promised;
  for (int i = 0; i <= move.b % 2; ++i) {
    HoldPart part{.member = {spare_member(state, promised), DemandId(static_cast<std::size_t>(move.c % kDemands)),
                             ConstraintId(0u)},
                  .node = NodeId(static_cast<std::size_t>((move.b + i) % nodes())),
                  .devices = {}};
    if (move.c % 3 == 0) part.devices.set(move.b % 9);  // perhaps a device that the node does not have
    hold.parts.push_back(part);
  }
  tell(out, HoldPlaced{std::move(hold)});
}

void Outside::disturb(const Move& move, const State& state, std::vector<Event>& out) {
  const NodeId node(static_cast<std::size_t>(move.a % nodes()));
  const JobId job(static_cast<std::size_t>(move.a % kJobs));
  const auto members = state.is_live(job) ? state.job(job).members_present : 0;
  MemberId member;
  if (members > 0) {
    std::uint32_t skip = static_cast<std::uint32_t>(move.b) % members;
    state.each_member(job, [&](MemberId m, const Member&) {
      if (skip-- == 0) member = m;
    });
  }
  switch (move.kind) {
    case 24:
      if (options_.has_node_changes || !state.cluster().is_live(node)) tell(out, NodeSeen{node, facts_of(move)});
      break;
    case 25:
      tell(out, NodeGone{node});
      break;
    case 26:
      tell(out, NodeGone{node});  // a flap, the last word doubled
      tell(out, NodeSeen{node, facts_of(move)});
      tell(out, NodeSeen{node, facts_of(move)});
      break;
    case 27:
      if (!member.is_none()) tell(out, MemberGone{member});
      break;
    case 28:
      tell(out, Evicted{job, Millis(move.c * 1000), move.a % 3 == 0 ? member : MemberId::none()});
      break;
    case 29:
      tell(out, EstimateChanged{job, {Millis(move.c * 1000), Millis(move.c * 1500)}});
      if (options_.has_shares && move.a % 2 == 0) tell(out, CheckpointSaved{job, now_});
      break;
    case 30:
      if (!member.is_none())
        tell(out, ConstraintChanged{member, ConstraintId(static_cast<std::size_t>(move.c % constraints()))});
      break;
    case 31:
      tell(out, PriorityChanged{job, move.c % 5});
      break;
    case 32:
      if (options_.has_quota)
        tell(out, QueueDefined{QueueId(static_cast<std::uint32_t>(1 + move.a % 4)),
                               QueueId(static_cast<std::uint32_t>(move.c % kQueues)),  // known or not
                               {1000 * (move.b % 24), kUnlimited, kUnlimited},
                               limits_of(move),
                               options_.has_shares ? shares_of(move) : std::vector<QuotaShare>(),
                               options_.has_shares ? QueueRank{1 + 500 * (move.b % 5), move.c % 2} : QueueRank(),
                               options_.has_shares ? gate_of(move) : QueueGate(),
                               options_.has_shares ? usage_of(move) : std::vector<QueueUsage>(),
                               options_.has_shares ? stop_rules_of(move) : StopRules()});
      break;
    case 33:
      if (!state.is_live(job)) break;
      {
        std::vector<std::uint8_t> promised;
        MembersAdded added{job, 1 + static_cast<std::uint32_t>(move.c) % (members + 1), {}};
        added.members.push_back(
            {spare_member(state, promised), DemandId(static_cast<std::size_t>(move.b % kDemands)), ConstraintId(0u)});
        if (!state.job(job).spec.is_none()) {
          added.members[0].group = static_cast<std::uint32_t>(move.c) % state.groups_of(job).size();
          if (move.b % 5 == 0) added.members_min = 0;
        }
        tell(out, added);
      }
      break;
    case 34:
      if (options_.has_foreign && !member.is_none())
        tell(out,
             Nominated{member, move.b % 3 == 0 ? NodeId::none() : NodeId(static_cast<std::size_t>(move.c % nodes())),
                       move.c});
      break;
    default:
      break;
  }
}

std::vector<Event> Outside::act(const Move& move, const State& state) {
  std::vector<Event> out;
  if (move.c % 4 == 0) now_ += Millis(move.c * 250);
  if (move.kind < 11) {
    submit(move, state, out);
  } else if (move.kind < 19) {
    answer(move, state, out);
    if (move.kind == 18)
      for (int i = 0; i < 4; ++i) answer({move.kind, move.a + i, move.b + i, move.c}, state, out);
  } else if (move.kind < 22) {
    tell(out, Ended{JobId(static_cast<std::size_t>(move.a % kJobs))});
  } else if (move.kind == 22 && options_.has_holds) {
    hold(move, state, out);
  } else if (move.kind < 24 && options_.has_foreign) {  // another scheduler's pod, bound whether it fits or not
    const JobId job(static_cast<std::size_t>(kJobs + move.a % 8));
    std::vector<std::uint8_t> promised;
    if (state.is_live(job)) {
      tell(out, Ended{job});
    } else {
      Workload w;
      w.job = job;
      w.is_ours = false;
      w.submitted = now_;
      w.members.push_back(
          {spare_member(state, promised), DemandId(static_cast<std::size_t>(move.c % kDemands)),
           ConstraintId(move.b % 2 == 0 || !options_.has_company ? 0 : kWithCompany + move.c % kLonerConstraints),
           labels_of(move)});
      const MemberId member = w.members[0].member;
      DeviceMask devices;
      if (move.c % 2 == 0) devices.set(move.b % 9);  // perhaps a device that the node does not have
      tell(out, Submitted{std::move(w)});
      tell(out, Bound{member, NodeId(static_cast<std::size_t>(move.b % nodes())), devices,
                      options_.has_grants ? odd_grants(devices, move) : DeviceGrants{}});
    }
  } else if ((move.kind == 36 || move.kind == 37) && options_.has_images) {
    move_image(move, out);
  } else if (move.kind >= 38 && options_.has_layouts && move.c % 3 == 1) {
    tell(out, DeviceClassDefined{DeviceClassId(static_cast<std::uint32_t>(move.a % kClasses)), class_number(move.b)});
  } else if (move.kind == 38 && options_.has_company) {
    NamespaceLabels labels{.is_known = move.c % 4 != 0, .labels = {}};
    if (move.b % 2 == 0 && labels.is_known) labels.labels = {{LabelKeyId(52u), LabelId(520u)}};
    tell(out, NamespaceSeen{NamespaceId(move.a % kNamespaces), labels});
  } else if (move.kind == 39 && options_.has_health) {
    const auto some = [](int bits) { return static_cast<std::uint64_t>(bits % 8 < 3 ? 0 : bits % 16); };
    tell(out, DeviceHealthChanged{NodeId(static_cast<std::size_t>(move.a % nodes())),
                                  DeviceMask{some(move.b) | some(move.c) << 4, 0}});
  } else if (move.kind < 35) {
    disturb(move, state, out);
  } else if (move.kind == 35) {
    now_ += Millis(60'000 * (1 + move.b));
    tell(out, Tick{});
  } else if (move.kind == 36 && !told_.empty()) {
    // Something old is delivered once more; its time lies in the past. A job's submission is not repeated: its rows may
    // belong to others by now.
    Event old = told_[static_cast<std::size_t>(move.a) * told_.size() / 64];
    if (!std::holds_alternative<Submitted>(old.body) && !std::holds_alternative<MembersAdded>(old.body) &&
        !std::holds_alternative<LevelsDefined>(old.body))
      out.push_back(std::move(old));
  } else if (move.kind == 37) {
    std::vector<Event> events;
    submit({move.kind, move.a, move.b, move.c}, state, events);
    events.push_back({now_ - Millis(100'000), Tick{}});  // a clock that jumps back
    for (Event& e : events) out.push_back(std::move(e));
  }
  if (out.size() > 1 && move.b % 4 == 3 && move.kind >= 24 && move.kind < 37) std::swap(out.front(), out.back());
  told_.insert(told_.end(), out.begin(), out.end());
  return out;
}

}  // namespace ashlar
