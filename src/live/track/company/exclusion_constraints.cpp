#include "live/track/company/exclusion_constraints.h"

#include <optional>

#include "base/digest.h"
#include "live/track/hashes.h"

namespace ashlar::kube {

std::size_t ExclusionConstraints::KindHash::operator()(const Kind& kind) const {
  std::uint64_t h = hash_combine(hash_of(*kind.rules), kind.seen_as.value);
  for (const PodTerm& term : kind.company.keeps_away) h = hash_combine(h, term.selector.value);
  for (const SpreadTerm& term : kind.company.spread) h = hash_combine(h, term.selector.value);
  for (const PodPreference& term : kind.company.prefers_pods) h = hash_combine(h, term.selector.value);
  for (const SpreadTerm& term : kind.company.prefers_spread) h = hash_combine(h, term.selector.value);
  if (kind.volumes) h = hash_combine(h, kind.volumes->hash);
  return static_cast<std::size_t>(hash_combine(h, kind.company.near.selector.value));
}

ConstraintId ExclusionConstraints::of(const PooledString& ns, const Labels& labels,
                                      const std::shared_ptr<const PodRules>& rules,
                                      const std::shared_ptr<const VolumeTerms>& volumes) {
  const std::optional<Labels> seen = anti_affinity_.asked().seen_of(ns, labels);
  const bool has_company = rules && rules->has_company();
  if (!seen && !has_company && !volumes) return translator_.constraint(rules);
  static const auto kNoRules = std::make_shared<const PodRules>();
  Kind kind{seen ? translator_.company().label_set(ns, *seen) : LabelSetId::none(), rules ? rules : kNoRules};
  kind.volumes = volumes;
  if (has_company) kind.company = translator_.company().rules_of(ns, labels, *rules);
  const auto [row, is_new] = rows_.try_emplace(std::move(kind), ConstraintId());
  if (is_new) {
    ++work_.rows;
    row->second =
        translator_.constraint(*row->first.rules, row->first.seen_as, row->first.company, row->first.volumes.get());
    const bool keeps_away = !row->first.company.keeps_away.empty();
    if (keeps_away && asking_.try_emplace(row->second, ns, rules).second) anti_affinity_.use_terms(ns, *rules);
  }
  return row->second;
}

void ExclusionConstraints::note_gone(ConstraintId row) {
  const auto asking = asking_.find(row);
  if (asking == asking_.end()) return;
  anti_affinity_.leave_terms(asking->second.first, *asking->second.second);
  asking_.erase(asking);
}

void ExclusionConstraints::forget() { rows_ = Rows(0, KindHash(), KindEqual{&work_.compared}); }

}  // namespace ashlar::kube
