#include "live/track/hashes.h"

#include "base/digest.h"

namespace ashlar::kube {
namespace {

/// Lists are hashed with their length: otherwise a value could move from one list to the next unnoticed.
class Hash {
 public:
  std::uint64_t value() const { return sum_; }
  void add(std::uint64_t number) { sum_ = hash_combine(sum_, number); }
  void add(const PooledString& text) { add(std::uint64_t{text.hash()}); }
  void add(const KeyValue& pair) { add(pair.key), add(pair.value); }
  void add(const Requirement& r) { add(r.key), add(static_cast<std::uint64_t>(r.op)), add(r.values); }
  void add(const NodeTerm& term) { add(term.expressions), add(term.fields); }
  void add(const PreferredTerm& p) { add(static_cast<std::uint64_t>(p.weight)), add(p.term); }
  void add(const Toleration& t) {
    add(t.key), add(t.value), add(static_cast<std::uint64_t>(t.effect) * 2 + (t.exists ? 1 : 0));
    add(static_cast<std::uint64_t>(t.compares));
  }
  void add(const HostPort& p) { add(p.host_ip), add(static_cast<std::uint64_t>(p.protocol) << 16 | p.port); }
  void add(const LabelSelector& s) { add(std::uint64_t{s.present}), add(s.match_labels), add(s.expressions); }
  void add(const PodAffinityTerm& t) {
    add(t.selector), add(t.namespace_selector), add(t.namespaces), add(t.topology_key);
  }
  void add(const PreferredPodTerm& p) { add(static_cast<std::uint64_t>(p.weight)), add(p.term); }
  void add(const TopologySpread& s) {
    add(s.selector), add(s.topology_key), add(s.match_label_keys), add(std::uint64_t{s.requires_all_labels});
    add(static_cast<std::uint64_t>(s.max_skew) << 32 | static_cast<std::uint32_t>(s.min_domains));
    add(std::uint64_t{s.honors_affinity} * 2 + std::uint64_t{s.honors_taints});
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(std::uint64_t{list.size()});
    for (const T& one : list) add(one);
  }

 private:
  std::uint64_t sum_ = 0;
};

std::uint64_t hash_of(const ashlar::NodeTerm& term, std::uint64_t h) {
  for (const LabelExpression& e : term.all) {
    h = hash_combine(h, (std::uint64_t{e.key.value} << 8) | static_cast<std::uint64_t>(e.op));
    h = hash_combine(h, static_cast<std::uint64_t>(e.number));
    for (const LabelId v : e.values) h = hash_combine(h, v.value);
  }
  return h;
}

std::uint64_t hash_of(const std::vector<SpreadTerm>& spreads, std::uint64_t h) {
  for (const SpreadTerm& t : spreads) {
    h = hash_combine(h, (std::uint64_t{t.selector.value} << 32) | t.topology.value);
    h = hash_combine(h, (static_cast<std::uint64_t>(t.skew_max) << 32) | static_cast<std::uint32_t>(t.domains_min));
    h = hash_combine(h, (t.requires_all_labels ? 8u : 0u) + (t.matches_itself ? 4u : 0u) +
                            (t.honors_affinity ? 2u : 0u) + (t.honors_taints ? 1u : 0u));
  }
  return h;
}

}  // namespace

std::uint64_t hash_of(const Demand& d) {
  std::uint64_t h = hash_combine(
      static_cast<std::uint64_t>(d.devices.count) << 32 | static_cast<std::uint32_t>(d.devices.milli_each.value),
      static_cast<std::uint64_t>(d.devices.memory_each.value));
  for (const ResourceAmount& a : d.amounts)
    h = hash_combine(hash_combine(h, a.resource.value), static_cast<std::uint64_t>(a.amount));
  for (const ashlar::HostPort& p : d.ports)
    h = hash_combine(h, (std::uint64_t{p.address} << 32) | (std::uint64_t{p.protocol} << 16) | p.number);
  return h;
}

std::uint64_t hash_of(const DeviceLayout& layout) {
  std::uint64_t h = layout.devices.size();
  for (const DeviceFacts& d : layout.devices) {
    const std::uint64_t place = (std::uint64_t{d.island} << 24) | (std::uint64_t{d.numa_node} << 16) |
                                (std::uint64_t{d.pcie_switch} << 8) | static_cast<std::uint64_t>(d.mode);
    h = hash_combine(h, (std::uint64_t{d.device_class.value} << 32) | place);
    h = hash_combine(h, static_cast<std::uint64_t>(d.memory.value));
  }
  return h;
}

std::uint64_t hash_of(const GangSpec& spec) {
  std::uint64_t h = spec.groups.size();
  for (const GangGroup& g : spec.groups)
    h = hash_combine(hash_combine(h, g.members_min), (std::uint64_t{g.within.value} << 32) | g.prefer.value);
  return h;
}

std::uint64_t hash_of(const Constraint& c) {
  std::uint64_t h = hash_of(c.selector, c.any_of.size());
  for (const ashlar::NodeTerm& t : c.any_of) h = hash_of(t, h + 1);
  for (const DeviceClassId m : c.models) h = hash_combine(h, m.value);
  for (const ashlar::Toleration& t : c.tolerations)
    h = hash_combine(h, (std::uint64_t{t.key.value} << 32 | t.value.value) + static_cast<std::uint64_t>(t.effect) +
                            static_cast<std::uint64_t>(t.op) * 8 + static_cast<std::uint64_t>(t.number) * 32);
  for (const ashlar::PreferredTerm& p : c.preferred) h = hash_of(p.term, h + static_cast<std::uint64_t>(p.weight));
  h = hash_combine(h, c.seen_as.value);
  for (const CapabilityId id : c.capabilities) h = hash_combine(h, id.value);
  h = hash_combine(h, c.capabilities.size());
  for (const PodTerm& t : c.keeps_away) h = hash_combine(h, (std::uint64_t{t.selector.value} << 32) | t.topology.value);
  h = hash_combine(
      h, (std::uint64_t{c.near.selector.value} << 2) + (c.near.matches_itself ? 2 : 0) + (c.keeps_itself_away ? 1 : 0));
  for (const LabelKeyId topology : c.near.topologies) h = hash_combine(h, topology.value);
  for (const std::vector<ashlar::NodeTerm>& any_of : c.volumes) {
    h = hash_combine(h, any_of.size());
    for (const ashlar::NodeTerm& t : any_of) h = hash_of(t, h + 1);
  }
  for (const LabelKeyId key : c.features) h = hash_combine(h, key.value);
  h = hash_combine(h, c.features.size());
  for (const PodPreference& t : c.prefers_pods) {
    h = hash_combine(h, (std::uint64_t{t.selector.value} << 32) | t.topology.value);
    h = hash_combine(h, static_cast<std::uint64_t>(std::int64_t{t.weight}) * 2 + (t.is_required ? 1 : 0));
  }
  for (const ImageId id : c.images.on_nodes) h = hash_combine(h, id.value);
  h = hash_combine(h, c.images.count);
  h = hash_combine(h, c.spread.size());
  for (const auto* spreads : {&c.spread, &c.prefers_spread}) h = hash_of(*spreads, h);
  return h;
}

std::uint64_t hash_of(const LabelSelector& selector) {
  Hash hash;
  hash.add(selector);
  return hash.value();
}

std::uint64_t hash_of(const Labels& labels) {
  Hash hash;
  hash.add(labels);
  return hash.value();
}

std::uint64_t hash_of(const PodAffinityTerm& term) {
  Hash hash;
  hash.add(term);
  return hash.value();
}

std::uint64_t hash_of(const std::vector<std::vector<NodeTerm>>& lists) {
  Hash hash;
  hash.add(lists);
  return hash.value();
}

std::uint64_t hash_of(const PodRules& rules) {
  Hash hash;
  hash.add(rules.node_selector);
  hash.add(std::uint64_t{rules.has_required_affinity});
  hash.add(rules.required_affinity);
  hash.add(rules.preferred_affinity);
  hash.add(rules.tolerations);
  hash.add(rules.host_ports);
  hash.add(rules.required_anti_affinity);
  hash.add(rules.required_pod_affinity);
  hash.add(rules.spread);
  hash.add(rules.preferred_pod_affinity);
  hash.add(rules.preferred_anti_affinity);
  hash.add(rules.preferred_spread);
  hash.add(rules.features);
  hash.add(rules.unsupported);
  hash.add(rules.unknown_fields);
  hash.add(rules.too_large);
  hash.add(rules.ignored_soft);
  hash.add(rules.images);
  hash.add(rules.gpu_classes);
  hash.add(rules.gpu_capabilities);
  return hash.value();
}

}  // namespace ashlar::kube
