#include "live/track/translate.h"

#include <algorithm>

#include "live/track/device_request.h"
#include "live/track/hashes.h"
#include "live/track/nodes/csi_nodes.h"
#include "text/amount_text.h"
#include "text/nearest_name.h"
#include "text/quantity_text.h"

namespace ashlar::kube {
namespace {

constexpr std::string_view kGpuProductLabel = "nvidia.com/gpu.product";
constexpr std::string_view kGpuMemoryLabel = "nvidia.com/gpu.memory";
constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnreachableTaint = "node.kubernetes.io/unreachable";

ashlar::TaintEffect effect_of(TaintEffect effect) {
  using enum ashlar::TaintEffect;
  constexpr ashlar::TaintEffect kEffects[] = {kAny, kNoSchedule, kPreferNoSchedule, kNoExecute};  // by TaintEffect
  return kEffects[static_cast<std::size_t>(effect)];
}

std::uint8_t protocol_number(HostPort::Protocol protocol) {
  return protocol == HostPort::Protocol::kTcp ? 6 : protocol == HostPort::Protocol::kUdp ? 17 : 132;
}

}  // namespace

const PooledString* find_setting(const Pod& pod, std::string_view key) {
  if (pod.annotations)
    if (const PooledString* found = find_label(*pod.annotations, key)) return found;
  return pod.labels ? find_label(*pod.labels, key) : nullptr;
}

namespace {

void sort_by_resource(Demand& demand) {
  std::sort(demand.amounts.begin(), demand.amounts.end(),
            [](const ResourceAmount& a, const ResourceAmount& b) { return a.resource < b.resource; });
}

}  // namespace

std::string refusal_text(const PooledString& resource) {
  return "requests " + resource.str() + ", but all " + std::to_string(resource::kColumnsMax) +
         " resource columns are in use";
}

Demand Translator::plain_demand(const Pod& pod) {
  Demand demand;
  const auto add = [&](ResourceId id, std::int64_t amount) {
    if (amount > 0) demand.amounts.push_back({id, amount});
  };
  add(resource::kCpu, pod.requests.cpu.value);
  add(resource::kMemory, pod.requests.memory.value);
  add(resource::kEphemeralStorage, pod.requests.ephemeral_storage.value);
  add(resource::kPods, 1);
  for (const Amount& a : pod.requests.extended) {
    add(names_.wished_resource(a.name), a.value);
  }
  sort_by_resource(demand);
  if (pod.rules)
    for (const HostPort& p : pod.rules->host_ports)
      demand.ports.push_back({protocol_number(p.protocol), names_.address(p.host_ip), p.port});
  return demand;
}

Result<Demand> Translator::build_demand(const Pod& pod, const PooledString* memory_request) {
  Demand demand = plain_demand(pod);
  for (const Amount& a : pod.requests.extended)
    if (a.value > 0 && names_.is_refused(a.name)) return invalid(refusal_text(a.name));
  const Result<DeviceRequest> devices = device_request(pod, memory_request);
  if (!devices) return devices.error();
  demand.devices = *devices;
  return demand;
}

DemandId Translator::held_by(const Pod& pod) {
  if (const Result<DemandId> whole = demand(pod); whole) return *whole;
  Demand held = plain_demand(pod);
  held.devices = devices_held(pod, find_setting(pod, kGpuMemoryAsk));
  return intern(std::move(held));
}

bool Translator::is_demand_of(const Pod& pod, DemandId id) {
  const Result<Demand> built = build_demand(pod, find_setting(pod, kGpuMemoryAsk));
  return built && *built == demands_[id];
}

std::string Translator::problem_of_device_settings(const Pod& pod, DemandId id) const {
  for (const std::string_view key : {kGpuClassesSetting, kGpuCapabilitiesSetting}) {
    const PooledString* setting = find_setting(pod, key);
    if (setting == nullptr) continue;
    if (demands_[id].devices.count == 0)
      return "requests " + std::string(key) +
             " but no GPU; add nvidia.com/gpu or ashlar.dev/gpu-milli to resources.limits";
    const Result<std::vector<std::string>> names = parse_names(setting->view());
    if (!names) return std::string(key) + ": " + names.error().message;
    for (const std::string& name : *names)
      if (key == kGpuCapabilitiesSetting && names_.capabilities.find(PooledString(name)).is_none()) {
        std::vector<std::string> known;
        for (const PooledString& one : names_.capabilities.all()) known.push_back(one.str());
        return std::string(key) + ": no device class of the configuration has the capability \"" + name + "\"" +
               suggestion(name, known);
      }
  }
  return {};
}

Result<DemandId> Translator::demand(const Pod& pod) {
  const PooledString* setting = find_setting(pod, kGpuMemoryAsk);
  const PooledString memory_request = setting == nullptr ? PooledString() : *setting;
  const bool is_blank = setting != nullptr && setting->empty();  // a request that cannot be read, unlike none
  for (const Seen& s : seen_)
    if (!s.id.is_none() && s.requests == pod.requests && s.rules == pod.rules && s.memory_request == memory_request &&
        !is_blank)
      return s.id;
  Result<Demand> built = build_demand(pod, setting);
  if (!built) return built.error();
  const DemandId id = intern(std::move(built).value());
  seen_[next_seen_] = {pod.requests, pod.rules, memory_request, id};
  next_seen_ = (next_seen_ + 1) % kSeen;
  return id;
}

DemandId Translator::intern(Demand demand) {
  const std::uint64_t hash = hash_of(demand);
  const auto [id, is_new] = demands_.of(std::move(demand), hash);
  if (is_new) out_.add(DemandDefined{id, demands_[id]});
  return id;
}

ConstraintId Translator::intern(Constraint constraint) {
  const std::uint64_t hash = hash_of(constraint);
  const auto [id, is_new] = constraints_.of(std::move(constraint), hash);
  if (!is_new) return id;
  out_.add(ConstraintDefined{id, constraints_[id]});
  company_.use(constraints_[id]);
  images_.use(constraints_[id].images);
  asked_keys_.ask(constraints_[id]);
  return id;
}

DeviceLayoutId Translator::intern(DeviceLayout layout) {
  const std::uint64_t hash = hash_of(layout);
  const auto [id, is_new] = layouts_.of(std::move(layout), hash);
  if (is_new) out_.add(DeviceLayoutDefined{id, layouts_[id]});
  return id;
}

GangSpecId Translator::gang_spec(GangSpec spec) {
  const std::uint64_t hash = hash_of(spec);
  const auto [id, is_new] = specs_.of(std::move(spec), hash);
  if (is_new) out_.add(GangSpecDefined{id, specs_[id]});
  return id;
}

NodeDevices Translator::devices(const NodeDevices& labelled, const std::vector<StatedDevices>& stated) {
  const DeviceFacts alike{.device_class = labelled.device_class, .memory = labelled.memory_each};
  DeviceLayout layout{std::vector<DeviceFacts>(static_cast<std::size_t>(labelled.count), alike)};
  for (const StatedDevices& group : stated)
    group.devices.among(labelled.count).each([&](int i) {
      DeviceFacts& device = layout.devices[static_cast<std::size_t>(i)];
      if (group.model) device.device_class = names_.device_class(PooledString(*group.model));
      if (group.memory) device.memory = *group.memory;
      device.island = group.island.value_or(0);
      device.numa_node = group.numa_node.value_or(0);
      device.pcie_switch = group.pcie_switch.value_or(0);
      if (group.is_sliced) device.mode = DeviceMode::kSliced;
    });
  const bool are_alike = std::all_of(layout.devices.begin(), layout.devices.end(), [&](const DeviceFacts& d) {
    return d ==
           DeviceFacts{.device_class = layout.devices.front().device_class, .memory = layout.devices.front().memory};
  });
  if (layout.devices.empty()) return labelled;
  if (!are_alike) {
    const DeviceLayoutId id = intern(layout);
    return devices_with(id, layout);
  }
  NodeDevices of_one_kind = labelled;
  of_one_kind.device_class = layout.devices.front().device_class;
  of_one_kind.memory_each = layout.devices.front().memory;
  return of_one_kind;
}

void Translator::replace(DeviceLayoutId before, DeviceLayoutId now) {
  if (before == now) return;
  if (!now.is_none()) layouts_.use(now);
  if (!before.is_none()) layouts_.leave(before);
}

ConstraintId Translator::acting_on_others(const PooledString& ns, const PodRules& rules) {
  Constraint c;
  c.keeps_away = company_.keeps_away(ns, rules.required_anti_affinity);
  c.prefers_pods = company_.prefers_pods(ns, rules);
  return c.acts_on_others() ? intern(std::move(c)) : anywhere();
}

DemandId Translator::renewed(DemandId id) {
  Demand renewed = demands_[id];
  for (ResourceAmount& a : renewed.amounts) {
    const ResourceId column =
        resource::has_column(a.resource) ? a.resource : names_.find_resource(names_.resource_name(a.resource));
    if (!column.is_none()) a.resource = column;
  }
  if (renewed == demands_[id]) return id;
  sort_by_resource(renewed);
  return intern(std::move(renewed));
}

DemandId Translator::with_volumes(DemandId id, const std::vector<Amount>& amounts) {
  Demand changed = demands_[id];
  std::erase_if(changed.amounts, [this](const ResourceAmount& a) {
    return a.resource.row() >= resource::kFirstExtended && is_volume_resource(names_.resource_name(a.resource).view());
  });
  for (const Amount& a : amounts) changed.amounts.push_back({names_.wished_resource(a.name), a.value});
  sort_by_resource(changed);
  return changed == demands_[id] ? id : intern(std::move(changed));
}

PooledString Translator::refused_in(DemandId id) const {
  for (const ResourceAmount& a : demands_[id].amounts)
    if (PooledString name = resource::has_column(a.resource) ? PooledString() : names_.resource_name(a.resource);
        names_.is_refused(name))
      return name;
  return {};
}

void Translator::note_taken(const std::function<void(ConstraintId)>& on_gone) {
  // No decision reports the content of an empty row: it can wait for other events.
  demands_.settle([this](DemandId id) {
    for (Seen& s : seen_)
      if (s.id == id) s = Seen();
    out_.add_confirmation(DemandDefined{id, {}});
    ++given_back_;
  });
  constraints_.settle([&](ConstraintId id) {
    for (SeenRules& s : seen_rules_)
      if (s.id == id) s = SeenRules();
    on_gone(id);
    company_.leave(constraints_[id]);
    images_.leave(constraints_[id].images);
    out_.add_confirmation(ConstraintDefined{id, {}});
    ++given_back_;
  });
  layouts_.settle([this](DeviceLayoutId id) {
    out_.add_confirmation(DeviceLayoutDefined{id, {}});
    ++given_back_;
  });
  specs_.settle([this](GangSpecId id) { out_.add_confirmation(GangSpecDefined{id, {}}); });
  given_back_ += company_.note_taken();
}

void Translator::renew_asked_keys(const std::function<bool(const PooledString& key)>& is_on_nodes) {
  asked_keys_.renew(
      [this](AskedKeys& keys) {
        constraints_.each([&](ConstraintId, const Constraint& constraint) { keys.ask(constraint); });
      },
      is_on_nodes);
}

void Translator::add_to(ObjectNames::InUse& in_use) const {
  demands_.each([&](DemandId, const Demand& demand) { in_use.add(demand); });
  constraints_.each([&](ConstraintId, const Constraint& constraint) { in_use.add(constraint); });
  layouts_.each([&](DeviceLayoutId, const DeviceLayout& layout) {
    for (const DeviceFacts& device : layout.devices) in_use.models.set(device.device_class);
  });
  company_.add_to(in_use);
}

LabelExpression Translator::expression(const Requirement& requirement, bool is_field) {
  LabelExpression e;
  const PooledString& key = is_field ? names_.node_name_key() : requirement.key;
  e.key = names_.label_keys.of(key);
  switch (requirement.op) {
    case SelectorOp::kIn:
      e.op = LabelExpression::Op::kIn;
      break;
    case SelectorOp::kNotIn:
      e.op = LabelExpression::Op::kNotIn;
      break;
    case SelectorOp::kExists:
      e.op = LabelExpression::Op::kExists;
      break;
    case SelectorOp::kDoesNotExist:
      e.op = LabelExpression::Op::kDoesNotExist;
      break;
    case SelectorOp::kGt:
      e.op = LabelExpression::Op::kGreater;
      break;
    case SelectorOp::kLt:
      e.op = LabelExpression::Op::kLess;
      break;
  }
  const bool is_number = e.op == LabelExpression::Op::kGreater || e.op == LabelExpression::Op::kLess;
  if (!is_number) {
    for (const PooledString& value : requirement.values) e.values.push_back(names_.label(key, value));
    return e;
  }
  const std::int64_t bound =
      requirement.values.size() == 1 ? label_number(requirement.values[0]) : NodeLabel::kNotANumber;
  if (bound != NodeLabel::kNotANumber)
    e.number = bound;
  else
    e.op = LabelExpression::Op::kIn;  // compares with nothing: an empty list matches no node, as upstream
  return e;
}

ashlar::NodeTerm Translator::term(const NodeTerm& from) {
  ashlar::NodeTerm to;
  for (const Requirement& r : from.expressions) to.all.push_back(expression(r, false));
  for (const Requirement& r : from.fields) to.all.push_back(expression(r, true));
  if (to.all.empty())
    // an empty term matches nothing
    to.all.push_back({names_.label_keys.of(names_.node_name_key()), LabelExpression::Op::kIn, {}, 0});
  return to;
}

void Translator::add_class(DeviceClassId id, Constraint& into) {
  if (std::find(into.models.begin(), into.models.end(), id) == into.models.end()) into.models.push_back(id);
}

/// Lists that cannot be read hold the pod, see problem_of_device_settings.
void Translator::take_device_settings(const PodRules& rules, Constraint& into) {
  if (!rules.gpu_classes.empty())
    if (const Result<std::vector<std::string>> names = parse_names(rules.gpu_classes.view()))
      for (const std::string& name : *names) add_class(names_.device_class(PooledString(name)), into);
  if (rules.gpu_capabilities.empty()) return;
  if (const Result<std::vector<std::string>> names = parse_names(rules.gpu_capabilities.view()))
    for (const std::string& name : *names)
      if (const CapabilityId id = names_.capabilities.find(PooledString(name)); !id.is_none())
        into.capabilities.push_back(id);
  std::sort(into.capabilities.begin(), into.capabilities.end());
}

/// A requirement for device models is better expressed as models than as labels: the engine then counts the nodes that
/// have another device. A class that lists several is required by the label too, which the kubelet compares by itself.
void Translator::take_models(const PodRules& rules, Constraint& into, bool& is_affinity_taken) {
  is_affinity_taken = false;
  if (rules.required_affinity.size() != 1) return;
  const NodeTerm& only = rules.required_affinity[0];
  if (only.expressions.size() != 1 || !only.fields.empty() || only.expressions[0].key != kGpuProductLabel) return;
  if (only.expressions[0].op != SelectorOp::kIn || only.expressions[0].values.empty() || !into.models.empty()) return;
  for (const PooledString& value : only.expressions[0].values) add_class(names_.device_class(value), into);
  is_affinity_taken =
      std::none_of(into.models.begin(), into.models.end(), [this](DeviceClassId id) { return names_.is_defined(id); });
}

ConstraintId Translator::constraint(const PodRules& rules, LabelSetId seen_as, const CompanyRules& company,
                                    const VolumeTerms* volumes) {
  Constraint c;
  if (volumes != nullptr)
    for (const std::vector<NodeTerm>& list : volumes->lists) {
      std::vector<ashlar::NodeTerm>& any_of = c.volumes.emplace_back();
      for (const NodeTerm& t : list) any_of.push_back(term(t));
    }
  c.seen_as = seen_as;
  c.keeps_away = company.keeps_away;
  c.keeps_itself_away = company.keeps_itself_away;
  c.near = company.near;
  c.spread = company.spread;
  c.prefers_pods = company.prefers_pods;
  c.prefers_spread = company.prefers_spread;
  for (const PooledString& feature : rules.features) c.features.push_back(names_.label_keys.of(feature));
  const bool has_spread = !c.spread.empty() || !c.prefers_spread.empty();
  take_device_settings(rules, c);
  const bool names_classes = !c.models.empty();
  for (const KeyValue& kv : rules.node_selector) {
    if (kv.key == kGpuProductLabel && !names_classes) {
      add_class(names_.device_class(kv.value), c);
      // a spread counts the nodes that the selector itself allows
      if (!names_.is_defined(c.models.back()) && !has_spread) continue;
    }
    c.selector.all.push_back(
        {names_.label_keys.of(kv.key), LabelExpression::Op::kIn, {names_.label(kv.key, kv.value)}, 0});
  }
  bool is_affinity_taken = false;
  take_models(rules, c, is_affinity_taken);
  is_affinity_taken = is_affinity_taken && !has_spread;
  if (rules.has_required_affinity && !is_affinity_taken) {
    for (const NodeTerm& t : rules.required_affinity) c.any_of.push_back(term(t));
    if (c.any_of.empty()) c.any_of.push_back(term({}));
  }
  for (const Toleration& t : rules.tolerations) {
    ashlar::Toleration to;
    if (!t.key.empty()) to.key = names_.label_keys.of(t.key);
    if (t.compares != Toleration::Compares::kNot) {
      to.op =
          t.compares == Toleration::Compares::kLess ? ashlar::Toleration::Op::kLess : ashlar::Toleration::Op::kGreater;
      to.number = decimal_integer(t.value.view());
    } else if (!t.exists) {
      to.value = names_.label(t.key, t.value);
    }
    to.effect = effect_of(t.effect);
    c.tolerations.push_back(to);
  }
  for (const PreferredTerm& p : rules.preferred_affinity) c.preferred.push_back({p.weight, term(p.term)});
  c.images = images_.named(rules.images);
  return intern(std::move(c));
}

ConstraintId Translator::constraint(const std::shared_ptr<const PodRules>& rules) {
  for (const SeenRules& s : seen_rules_)
    if (!s.id.is_none() && s.rules == rules) return s.id;
  const ConstraintId id = rules ? constraint(*rules, LabelSetId::none(), {}) : anywhere();
  seen_rules_[next_seen_rules_] = {rules, id};
  next_seen_rules_ = (next_seen_rules_ + 1) % kSeen;
  return id;
}

ConstraintId Translator::anywhere() {
  if (anywhere_.is_none()) constraints_.use(anywhere_ = intern(Constraint{}));
  return anywhere_;
}

std::vector<DomainId> Translator::domains_of(const Labels& labels) {
  std::vector<DomainId> domains(names_.levels().size());
  DomainId parent;
  for (std::size_t l = 0; l < domains.size(); ++l) {
    const PooledString* value = find_label(labels, names_.levels()[l].label);
    if (value == nullptr) continue;
    const bool is_nested = l < names_.nested_count();
    domains[l] = names_.domain(LevelId(l), is_nested ? parent : DomainId::none(), *value);
    if (is_nested) parent = domains[l];
  }
  return domains;
}

NodeFacts Translator::node_facts(const Node& node) {
  NodeFacts facts;
  facts.allocatable.assign(resource::kFirstExtended, 0);
  facts.allocatable[resource::kCpu.row()] = node.allocatable.cpu.value;
  facts.allocatable[resource::kMemory.row()] = node.allocatable.memory.value;
  facts.allocatable[resource::kEphemeralStorage.row()] = node.allocatable.ephemeral_storage.value;
  facts.allocatable[resource::kPods.row()] = node.pods_max;
  for (const Amount& a : node.allocatable.extended) {
    const ResourceId id = a.value > 0 ? names_.resource(a.name) : ResourceId::none();
    if (id.is_none()) continue;
    if (id.row() >= facts.allocatable.size()) facts.allocatable.resize(id.row() + 1, 0);
    facts.allocatable[id.row()] = a.value;
  }
  const std::int64_t devices = std::max(amount_of(node.allocatable, kGpuResource),
                                        amount_of(node.allocatable, kGpuMilliResource) / kWholeDevice);
  facts.devices.count = static_cast<std::int32_t>(std::clamp<std::int64_t>(devices, 0, kDevicesPerNodeMax));
  if (const PooledString* product = find_label(node.labels, kGpuProductLabel))
    facts.devices.device_class = names_.device_class(*product);
  if (const PooledString* memory = find_label(node.labels, kGpuMemoryLabel))
    facts.devices.memory_each = MiB(std::clamp<std::int64_t>(label_number(*memory), 0, kDeviceMemoryMaxMib));
  facts.labels = asked_keys_.labels_of(node.labels, node.name);
  const auto add_taint = [&](const PooledString& key, const PooledString& value, TaintEffect effect) {
    const ashlar::Taint taint{names_.label_keys.of(key), names_.label(key, value), effect_of(effect),
                              decimal_integer(value.view())};
    if (std::find(facts.taints.begin(), facts.taints.end(), taint) == facts.taints.end()) facts.taints.push_back(taint);
  };
  for (const Taint& t : node.taints) add_taint(t.key, t.value, t.effect);
  // What the node controllers would add; set here too, so that nothing is placed on a node from the moment it reports
  // the state itself.
  if (node.unschedulable) add_taint(kUnschedulableTaint, {}, TaintEffect::kNoSchedule);
  if (node.ready == ConditionStatus::kFalse) add_taint(kNotReadyTaint, {}, TaintEffect::kNoSchedule);
  if (node.ready == ConditionStatus::kUnknown) add_taint(kUnreachableTaint, {}, TaintEffect::kNoSchedule);
  facts.domains = domains_of(node.labels);
  return facts;
}

}  // namespace ashlar::kube
