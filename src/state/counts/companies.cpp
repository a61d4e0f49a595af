#include "state/counts/companies.h"

namespace ashlar {

template <class Of>
Of& Companies::up_to_date(KeptByConstraint<Of>& kept, const Asked& asked, const Counts& counts,
                          const NodeColumns& nodes) {
  Of* found = kept.find(asked.id, asked.definition);
  // Numbers of flips, and of versions, that no former one of the row had.
  Of& of = found != nullptr ? *found : kept.put(asked.id, asked.definition, Of(++made_ << 32));
  of.refresh({.constraint = asked.constraint,
              .rules = asked.rules,
              .counts = counts,
              .nodes = nodes,
              .domains = domains_,
              .images = asked.images,
              .nodes_edition = edition_});
  kept.settle(asked.id);
  return of;
}

template Company& Companies::up_to_date(KeptByConstraint<Company>&, const Asked&, const Counts&, const NodeColumns&);
template PodPreferences& Companies::up_to_date(KeptByConstraint<PodPreferences>&, const Asked&, const Counts&,
                                               const NodeColumns&);

}  // namespace ashlar
