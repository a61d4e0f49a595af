#include "state/counts/companies.h"

namespace ashlar {

Company& Companies::of(const Asked& asked, const Counts& counts, const NodeColumns& nodes) {
  auto it = kept_.find(asked.id.value);
  if (it == kept_.end() || it->second.definition != asked.definition) {
    if (it == kept_.end() && kept_.size() >= kKept) kept_.clear();
    // Numbers of flips that no former company of the row had.
    it = kept_.insert_or_assign(asked.id.value, Kept{asked.definition, Company(++made_ << 32)}).first;
  }
  Company& company = it->second.company;
  company.refresh({.constraint = asked.constraint,
                   .rules = asked.rules,
                   .counts = counts,
                   .nodes = nodes,
                   .domains = domains_,
                   .nodes_edition = edition_});
  return company;
}

}  // namespace ashlar
