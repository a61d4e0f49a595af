#include "live/track/volumes/scarce_volumes.h"

#include <algorithm>
#include <string>

namespace ashlar::kube {
namespace {

constexpr std::string_view kPrefix = "volumes of ";  ///< of labels, which no user can give
constexpr std::size_t kTemplatesMax = 64;

PooledString key_of(const PooledString& class_name) { return std::string(kPrefix) + class_name.str(); }

}  // namespace

const ScarceVolumes::Classes* ScarceVolumes::lost_by(PodSlot slot) const {
  if (lost_.empty()) return nullptr;
  const auto found = lost_.find(slot);
  return found == lost_.end() ? nullptr : &found->second;
}

Labels ScarceVolumes::labels(const Labels& own, const Classes& classes) {
  Labels all = own;
  for (const PooledString& one : classes) all.push_back({key_of(one), {}});
  std::ranges::sort(all, [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; });
  return all;
}

std::shared_ptr<const PodRules> ScarceVolumes::rules(const std::shared_ptr<const PodRules>& own,
                                                     const Classes& classes) {
  const auto is_like = [&](const Made& made) {
    if (made.classes != classes) return false;
    return made.own == own || (made.own && own && *made.own == *own);
  };
  const auto known = std::ranges::find_if(made_, is_like);
  if (known != made_.end()) return known->rules;
  auto rules = std::make_shared<PodRules>(own ? *own : PodRules());
  for (const PooledString& one : classes) {
    PodAffinityTerm term;
    term.selector.present = term.namespace_selector.present = true;
    term.selector.expressions.push_back({.key = key_of(one), .op = SelectorOp::kExists, .values = {}});
    term.topology_key = kNodeNameKey;
    rules->required_anti_affinity.push_back(std::move(term));
  }
  if (made_.size() == kTemplatesMax) made_.erase(made_.begin());  // the oldest
  return made_.emplace_back(own, classes, std::move(rules)).rules;
}

}  // namespace ashlar::kube
