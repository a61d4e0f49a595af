#include "live/track/volumes/scarce_volumes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/digest.h"
#include "live/track/hashes.h"

namespace ashlar::kube {
namespace {

constexpr std::string_view kPrefix = "volumes of ";  ///< of labels, which no user can give

PooledString key_of(const PooledString& class_name) { return std::string(kPrefix) + class_name.str(); }

}  // namespace

std::size_t ScarceVolumes::TemplateHash::operator()(const Template& t) const {
  std::uint64_t h = t.own ? hash_of(*t.own) : 0;
  for (const PooledString& one : t.classes) h = hash_combine(h, one.hash());
  return static_cast<std::size_t>(h);
}

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
  std::shared_ptr<const PodRules>& made = made_[{own, classes}];
  if (made) return made;
  auto rules = std::make_shared<PodRules>(own ? *own : PodRules());
  for (const PooledString& one : classes) {
    PodAffinityTerm term;
    term.selector.present = term.namespace_selector.present = true;
    term.selector.expressions.push_back({.key = key_of(one), .op = SelectorOp::kExists, .values = {}});
    term.topology_key = kNodeNameKey;
    rules->required_anti_affinity.push_back(std::move(term));
  }
  return made = std::move(rules);
}

}  // namespace ashlar::kube
