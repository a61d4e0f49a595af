#include "state/counts/companies.h"

namespace ashlar {

template <class Of>
Of& Companies::up_to_date(ByConstraint<Of>& kept, const Asked& asked, const Counts& counts, const NodeColumns& nodes) {
  auto it = kept.find(asked.id.value);
  if (it == kept.end() || it->second.definition != asked.definition) {
    if (it == kept.end() && kept.size() >= kKept) kept.clear();
    // Numbers of flips, and of versions, that no former one of the row had.
    it = kept.insert_or_assign(asked.id.value, Kept<Of>{asked.definition, Of(++made_ << 32)}).first;
  }
  Of& of = it->second.of;
  of.refresh({.constraint = asked.constraint,
              .rules = asked.rules,
              .counts = counts,
              .nodes = nodes,
              .domains = domains_,
              .images = asked.images,
              .nodes_edition = edition_});
  return of;
}

template Company& Companies::up_to_date(ByConstraint<Company>&, const Asked&, const Counts&, const NodeColumns&);
template PodPreferences& Companies::up_to_date(ByConstraint<PodPreferences>&, const Asked&, const Counts&,
                                               const NodeColumns&);

}  // namespace ashlar
