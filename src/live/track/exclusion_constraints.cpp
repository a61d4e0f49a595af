#include "live/track/exclusion_constraints.h"

#include <utility>

#include "base/digest.h"
#include "live/track/hashes.h"

namespace ashlar::kube {

std::size_t ExclusionConstraints::KindHash::operator()(const Kind& kind) const {
  return static_cast<std::size_t>(hash_combine(hash_of(*kind.rules), std::hash<const void*>()(kind.list)));
}

ConstraintId ExclusionConstraints::of(const PooledString& ns, const Labels& labels,
                                      const std::shared_ptr<const PodRules>& rules) {
  if (anti_affinity_.is_empty()) return translator_.constraint(rules);
  AntiAffinity::Meant meant = anti_affinity_.rules_for(ns, labels);
  if (meant.empty()) return translator_.constraint(rules);
  if (edition_ != anti_affinity_.edition() || kept_ > kKeptMax) forget();
  edition_ = anti_affinity_.edition();
  static const auto kNoRules = std::make_shared<const PodRules>();
  const Kind kind{&list_for(std::move(meant)), rules ? rules : kNoRules};
  const auto [row, is_new] = rows_.try_emplace(kind);
  if (is_new) {
    ++work_.rows;
    row->second = translator_.constraint(*kind.rules, *kind.list);
  }
  return row->second;
}

const Exclusions& ExclusionConstraints::list_for(AntiAffinity::Meant&& rules) {
  const auto [list, is_new] = lists_.try_emplace(std::move(rules));
  if (is_new) {
    ++work_.lists;
    list->second = AntiAffinity::exclusions_of(list->first);
    kept_ += list->second.size();
  }
  return list->second;
}

void ExclusionConstraints::forget() {
  lists_ = {};
  rows_ = Rows(0, KindHash(), KindEqual{&work_.compared});
  kept_ = 0;
}

}  // namespace ashlar::kube
