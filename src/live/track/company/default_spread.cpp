#include "live/track/company/default_spread.h"

#include <algorithm>

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
  const std::size_t by_address =
      std::hash<const void*>()(t.rules.get()) * 31 + std::hash<const void*>()(t.labels.get());
  return (by_address * 31 + t.ns.hash()) * 31 + t.controller.hash();
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
  if (seen_.size() >= kTemplatesMax) seen_.clear();
  Made& made = seen_[{pod.rules, pod.labels, pod.ns, pod.controller_name, pod.controller_kind}];
  if (made.edition != edition) made = {edition, make(pod)};
  return made.rules;
}

void DefaultSpread::sort_once(std::vector<PodSlot>& slots) {
  std::ranges::sort(slots);
  const auto again = std::ranges::unique(slots);
  slots.erase(again.begin(), again.end());
}

void DefaultSpread::note_waiting(const PooledString& ns, PodSlot slot) {
  waiting_[ns].push_back(slot);
  ++noted_;
}

std::vector<PodSlot> DefaultSpread::take_waiting(const PooledString& ns) {
  const auto it = waiting_.find(ns);
  if (it == waiting_.end()) return {};
  std::vector<PodSlot> slots = std::move(it->second);
  waiting_.erase(it);
  noted_ -= slots.size();
  sort_once(slots);
  return slots;
}

}  // namespace ashlar::kube
