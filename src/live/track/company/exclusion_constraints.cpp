#include "live/track/company/exclusion_constraints.h"

#include <optional>

#include "base/digest.h"
#include "live/track/hashes.h"

namespace ashlar::kube {

std::size_t ExclusionConstraints::KindHash::operator()(const Kind& kind) const {
  return static_cast<std::size_t>(hash_combine(hash_of(*kind.rules), kind.seen_as.value));
}

ConstraintId ExclusionConstraints::of(const PooledString& ns, const Labels& labels,
                                      const std::shared_ptr<const PodRules>& rules) {
  const std::optional<Labels> seen = anti_affinity_.asked().seen_of(ns, labels);
  if (!seen) return translator_.constraint(rules);
  static const auto kNoRules = std::make_shared<const PodRules>();
  const Kind kind{translator_.company().label_set(ns, *seen), rules ? rules : kNoRules};
  const auto [row, is_new] = rows_.try_emplace(kind);
  if (is_new) {
    ++work_.rows;
    row->second = translator_.constraint(*kind.rules, kind.seen_as);
  }
  return row->second;
}

void ExclusionConstraints::forget() { rows_ = Rows(0, KindHash(), KindEqual{&work_.compared}); }

}  // namespace ashlar::kube
