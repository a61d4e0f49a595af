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
  }
  void add(const HostPort& p) { add(p.host_ip), add(static_cast<std::uint64_t>(p.protocol) << 16 | p.port); }
  void add(const LabelSelector& s) { add(std::uint64_t{s.present}), add(s.match_labels), add(s.expressions); }
  void add(const PodAffinityTerm& t) {
    add(t.selector), add(t.namespace_selector), add(t.namespaces), add(t.topology_key);
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(std::uint64_t{list.size()});
    for (const T& one : list) add(one);
  }

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace

std::uint64_t hash_of(const PodAffinityTerm& term) {
  Hash hash;
  hash.add(term);
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
  hash.add(rules.unsupported);
  hash.add(rules.too_large);
  hash.add(rules.ignored_soft);
  return hash.value();
}

}  // namespace ashlar::kube
