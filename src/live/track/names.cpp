#include "live/track/names.h"

#include <algorithm>
#include <utility>

#include "kubeclient/objects.h"

namespace ashlar::kube {

namespace {
constexpr std::string_view kFixedResources[] = {"cpu", "memory", "ephemeral-storage", "pods"};
}  // namespace

ObjectNames::ObjectNames(std::vector<LevelName> nested)
    : nested_(static_cast<std::uint32_t>(nested.size())), levels_(std::move(nested)), node_name_key_(kNodeNameKey) {
  domains_.resize(levels_.size());
}

DeviceClassId ObjectNames::device_class(const PooledString& name) {
  const DeviceClassId listed = class_models.class_of(name);
  return listed.is_none() ? models.of(name) : listed;
}

DeviceClassDefined ObjectNames::define_class(const StatedClass& stated) {
  DeviceClassDefined defined{configured_model(PooledString(stated.name)), {}};
  defined_classes_ = std::max(defined_classes_, defined.id.value + 1);
  for (const std::string& model : stated.models)
    if (model != stated.name) defined.device_class.models.push_back(class_models.list(PooledString(model), defined.id));
  std::vector<CapabilityId>& able = defined.device_class.capabilities;
  for (const std::string& name : stated.capabilities) able.push_back(capabilities.of(PooledString(name)));
  std::sort(able.begin(), able.end());
  return defined;
}

DeviceClassId ObjectNames::configured_model(const PooledString& name) {
  const DeviceClassId id = device_class(name);
  configured_models_ = std::max(configured_models_, id.value + 1);
  return id;
}

ResourceId ObjectNames::resource(const PooledString& name) {
  if (const ResourceId known = find_resource(name); !known.is_none()) return known;
  std::size_t kept = 0;
  for (const std::string_view of_gpus : {kGpuResource, kGpuMilliResource})
    kept += name != of_gpus && extended_.find(PooledString(of_gpus)).is_none() ? 1 : 0;
  if (column_count() + kept < resource::kColumnsMax)
    return ResourceId(extended_.of(name).value + resource::kFirstExtended);
  if (refused_resources_.size() < kRefusedMax) refused_resources_.of(name);
  return ResourceId::none();
}

ResourceId ObjectNames::wished_resource(const PooledString& name) {
  const ResourceId column = find_resource(name);
  return column.is_none() ? ResourceId(absent_.of(name).value + resource::kColumnsMax) : column;
}

ResourceId ObjectNames::find_resource(const PooledString& name) const {
  for (std::uint32_t r = 0; r < resource::kFirstExtended; ++r)
    if (name == kFixedResources[r]) return ResourceId(r);
  const ResourceId found = extended_.find(name);
  return found.is_none() ? found : ResourceId(found.value + resource::kFirstExtended);
}

PooledString ObjectNames::resource_name(ResourceId id) const {
  if (id.value < resource::kFirstExtended) return PooledString(kFixedResources[id.value]);
  return resource::has_column(id) ? extended_.name(ResourceId(id.value - resource::kFirstExtended))
                                  : absent_.name(ResourceId(id.value - resource::kColumnsMax));
}

void ObjectNames::say_resource(ResourceId id, const std::string& words) {
  resource_words_[id.value] = PooledString(words);
  are_words_new_ = true;
}

PooledString ObjectNames::resource_text(ResourceId id) const {
  const auto words = resource_words_.find(id.value);
  return words == resource_words_.end() ? resource_name(id) : words->second;
}

LabelId ObjectNames::label(const PooledString& key, const PooledString& value) { return labels_.of({key, value}); }

std::string ObjectNames::label_text(LabelId id) const {
  const LabelPair pair = labels_.name(id);
  return pair.key.empty() ? std::string() : pair.key.str() + "=" + pair.value.str();
}

LevelId ObjectNames::find_level(const PooledString& name) const {
  for (std::size_t l = 0; l < levels_.size(); ++l)
    if (levels_[l].name == name || levels_[l].label == name) return LevelId(l);
  return LevelId::none();
}

LevelId ObjectNames::add_level(const PooledString& label, LevelId instead_of) {
  are_levels_new_ = true;
  if (!instead_of.is_none()) {
    levels_[instead_of.row()] = {label, label};
    return instead_of;
  }
  if (!has_room_for_level()) return LevelId::none();
  levels_.push_back({label, label});
  domains_.emplace_back();
  if (is_journaled_) domains_.back().start_journal();
  return LevelId(levels_.size() - 1);
}

DomainId ObjectNames::domain(LevelId level, DomainId parent, const PooledString& value) {
  return domains_[level.row()].of({value, parent});
}

PooledString ObjectNames::domain_name(LevelId level, DomainId domain) const {
  return level.row() < domains_.size() ? domains_[level.row()].name(domain).value : PooledString();
}

std::uint32_t ObjectNames::address(const PooledString& host_ip) {
  return host_ip.empty() || host_ip == "0.0.0.0" ? 0 : addresses_.of(host_ip).value + 1;
}

void ObjectNames::InUse::add(const Demand& demand) {
  for (const ResourceAmount& a : demand.amounts)
    if (!resource::has_column(a.resource)) resources.set(ResourceId(a.resource.value - resource::kColumnsMax));
  for (const ashlar::HostPort& p : demand.ports)
    if (p.address > 0) addresses.set(AddressId(p.address - 1));
}

void ObjectNames::InUse::add(const Constraint& c) {
  const auto add_term = [&](const ashlar::NodeTerm& term) {
    for (const LabelExpression& e : term.all) add(e);
  };
  add_term(c.selector);
  c.each_topology_label([&](LabelKeyId label) { label_keys.set(label); });
  for (const LabelKeyId key : c.features) label_keys.set(key);
  for (const ashlar::NodeTerm& t : c.any_of) add_term(t);
  for (const std::vector<ashlar::NodeTerm>& any_of : c.volumes)
    for (const ashlar::NodeTerm& t : any_of) add_term(t);
  for (const ashlar::PreferredTerm& p : c.preferred) add_term(p.term);
  for (const DeviceClassId m : c.models) models.set(m);
  for (const ashlar::Toleration& t : c.tolerations) {
    label_keys.set(t.key);
    labels.set(t.value);
  }
}

void ObjectNames::InUse::add(const LabelExpression& e) {
  label_keys.set(e.key);
  for (const LabelId value : e.values) labels.set(value);
}

void ObjectNames::InUse::add(const std::vector<PodLabel>& of_pod) {
  for (const PodLabel& l : of_pod) {
    label_keys.set(l.key);
    labels.set(l.id);
  }
}

void ObjectNames::InUse::add(const LabelSet& set) {
  namespaces.set(set.ns);
  add(set.labels);
}

void ObjectNames::InUse::add(const PodSelector& s) {
  for (const NamespaceId ns : s.namespaces) namespaces.set(ns);
  for (const LabelExpression& e : s.of_namespace) add(e);
  for (const LabelExpression& e : s.all) add(e);
  for (const NamespaceScope& scope : s.also_within) {
    for (const NamespaceId ns : scope.namespaces) namespaces.set(ns);
    for (const LabelExpression& e : scope.of_namespace) add(e);
  }
}

void ObjectNames::InUse::add(const NodeFacts& facts) {
  for (const NodeLabel& l : facts.labels) {
    label_keys.set(l.key);
    labels.set(l.id);
  }
  for (const ashlar::Taint& t : facts.taints) {
    label_keys.set(t.key);
    labels.set(t.value);
  }
  models.set(facts.devices.device_class);
  if (domains.size() < facts.domains.size()) domains.resize(facts.domains.size());
  for (std::size_t l = 0; l < facts.domains.size(); ++l) domains[l].set(facts.domains[l]);
}

void ObjectNames::keep_only(const InUse& in_use) {
  labels_.keep_only(in_use.labels);
  label_keys.keep_only(in_use.label_keys);
  Marks of_models = in_use.models;
  for (std::uint32_t m = 0; m < configured_models_; ++m) of_models.set(DeviceClassId(m));
  models.keep_only(of_models);
  namespaces.keep_only(in_use.namespaces);
  addresses_.keep_only(in_use.addresses);
  absent_.keep_only(in_use.resources);
  for (std::size_t l = 0; l < domains_.size(); ++l)
    domains_[l].keep_only(l < in_use.domains.size() ? in_use.domains[l] : Marks());
  kept_ = vocabulary();
}

std::size_t ObjectNames::vocabulary() const {
  std::size_t names =
      labels_.size() + label_keys.size() + models.size() + addresses_.size() + absent_.size() + namespaces.size();
  for (const auto& of_level : domains_) names += of_level.size();
  return names;
}

void ObjectNames::start_journal() {
  is_journaled_ = are_levels_new_ = are_words_new_ = true;
  nodes.start_journal();
  label_keys.start_journal();
  models.start_journal();
  absent_.start_journal();
  labels_.start_journal();
  for (auto& of_level : domains_) of_level.start_journal();
}

void ObjectNames::stop_journal() {
  is_journaled_ = false;
  nodes.stop_journal();
  label_keys.stop_journal();
  models.stop_journal();
  absent_.stop_journal();
  labels_.stop_journal();
  for (auto& of_level : domains_) of_level.stop_journal();
}

bool ObjectNames::has_changes() const {
  if (!is_journaled_) return false;
  const bool has_new = are_levels_new_ || are_words_new_ || queues.size() > queues_taken_ ||
                       extended_.size() > extended_taken_ || capabilities.size() > capabilities_taken_;
  return has_new || refused_resources_.size() > refused_taken_ || nodes.has_changes() || label_keys.has_changes() ||
         models.has_changes() || absent_.has_changes() || labels_.has_changes() ||
         std::any_of(domains_.begin(), domains_.end(), [](const auto& of_level) { return of_level.has_changes(); });
}

ObjectNames::Changes ObjectNames::take_changes() {
  const auto new_in = [](const auto& table, std::size_t& taken, auto id_of) {
    std::vector<PooledString> names;
    for (; taken < table.size(); ++taken) names.push_back(table.name(id_of(taken)));
    return names;
  };
  Changes c;
  c.nodes = nodes.take_changes();
  c.label_keys = label_keys.take_changes();
  c.models = models.take_changes();
  c.absent = absent_.take_changes();
  c.labels = labels_.take_changes();
  for (auto& of_level : domains_) c.domains.push_back(of_level.take_changes());
  c.queues = new_in(queues, queues_taken_, [](std::size_t row) { return QueueId(row); });
  c.capabilities = new_in(capabilities, capabilities_taken_, [](std::size_t row) { return CapabilityId(row); });
  c.extended = new_in(extended_, extended_taken_, [](std::size_t row) { return ResourceId(row); });
  c.refused_resources = new_in(refused_resources_, refused_taken_, [](std::size_t row) { return RefusedId(row); });
  if (std::exchange(are_levels_new_, false)) c.levels = levels_;
  if (std::exchange(are_words_new_, false)) c.resource_words = resource_words_;
  c.nested = nested_;
  c.defined_classes = defined_classes_;
  return c;
}

void ObjectNames::put(Changes&& c) {
  if (!c.levels.empty()) {
    levels_ = std::move(c.levels);
    nested_ = c.nested;
  }
  if (!c.resource_words.empty()) resource_words_ = std::move(c.resource_words);
  defined_classes_ = c.defined_classes;
  nodes.put(std::move(c.nodes));
  label_keys.put(std::move(c.label_keys));
  models.put(std::move(c.models));
  absent_.put(std::move(c.absent));
  labels_.put(std::move(c.labels));
  domains_.resize(std::max(domains_.size(), c.domains.size()));
  for (std::size_t level = 0; level < c.domains.size(); ++level) domains_[level].put(std::move(c.domains[level]));
  for (const PooledString& name : c.queues) queues.of(name);
  for (const PooledString& name : c.extended) extended_.of(name);
  for (const PooledString& name : c.capabilities) capabilities.of(name);
  for (const PooledString& name : c.refused_resources) refused_resources_.of(name);
}

}  // namespace ashlar::kube
