#include "live/track/company/default_spread.h"

#include "base/digest.h"
#include "live/track/hashes.h"

namespace ashlar::kube {

SpreadDefaults system_spread_defaults() {
  constexpr std::int32_t kSkewOfHosts = 3, kSkewOfZones = 5;
  const auto spread = [](std::string_view key, std::int32_t max_skew) {
    TopologySpread s;
    s.topology_key = PooledString(key);
    s.max_skew = max_skew;
    s.requires_all_labels = false;
    return s;
  };
  return {.hard = {},
          .soft = {spread("kubernetes.io/hostname", kSkewOfHosts), spread("topology.kubernetes.io/zone", kSkewOfZones)},
          .spares_gpus = true};
}

std::size_t DefaultSpread::TemplateHash::operator()(const Template& t) const {
  std::uint64_t h = hash_combine(t.ns.hash(), t.controller.hash());
  if (t.rules) h = hash_combine(h, hash_of(*t.rules));
  if (t.labels) h = hash_combine(h, hash_of(*t.labels));
  return static_cast<std::size_t>(hash_combine(h, static_cast<std::uint64_t>(t.controller_kind)));
}

std::shared_ptr<const PodRules> DefaultSpread::make(const PodRecord& pod) {
  ++made_;
  const LabelSelector selector = book_.selector_of(pod.ns, pod.its_labels(), pod.controller_kind, pod.controller_name);
  if (!selector.present) return pod.rules;
  auto rules = std::make_shared<PodRules>(pod.rules ? *pod.rules : PodRules());
  rules->spread = defaults_.hard;
  rules->preferred_spread = defaults_.soft;
  for (auto* list : {&rules->spread, &rules->preferred_spread})
    for (TopologySpread& spread : *list) spread.selector = selector;
  return rules;
}

std::shared_ptr<const PodRules> DefaultSpread::rules_of(const PodRecord& pod) {
  if (pod.rules && !(pod.rules->spread.empty() && pod.rules->preferred_spread.empty())) return pod.rules;
  const std::uint64_t edition = book_.edition(pod.ns);
  if (edition == 0) return pod.rules;  // nothing selects pods there
  Made& made = seen_[{pod.rules, pod.labels, pod.ns, pod.controller_name, pod.controller_kind}];
  if (made.edition != edition) made = {edition, make(pod)};
  return made.rules;
}

}  // namespace ashlar::kube
