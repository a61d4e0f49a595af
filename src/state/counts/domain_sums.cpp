#include "state/counts/domain_sums.h"

#include <algorithm>

namespace ashlar {
namespace {

DomainSum* find(std::vector<DomainSum>& sums, LabelId value) {
  const auto it =
      std::lower_bound(sums.begin(), sums.end(), value, [](const DomainSum& s, LabelId v) { return s.value < v; });
  return it != sums.end() && it->value == value ? &*it : nullptr;
}

std::vector<DomainSum> sums_of(const Counts& counts, const NodeColumns& columns, PodSelectorId selector,
                               LabelKeyId topology, const BitSet& nodes) {
  std::vector<DomainSum> sums;
  nodes.each([&](std::size_t n) {
    if (const LabelId value = value_of(columns.facts(NodeId(n)), topology); !value.is_none())
      sums.push_back({value, 0});
  });
  std::sort(sums.begin(), sums.end(), [](const DomainSum& a, const DomainSum& b) { return a.value < b.value; });
  sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
  for (const NodeCount& c : counts.by_node(selector)) {
    if (!nodes.test(c.node.row())) continue;
    if (DomainSum* sum = find(sums, value_of(columns.facts(c.node), topology))) sum->pods += c.pods;
  }
  return sums;
}

}  // namespace

std::span<const DomainSum> DomainSums::read(const Counts& counts, const NodeColumns& columns, PodSelectorId selector,
                                            LabelKeyId topology, const EligibleNodes& eligible) {
  if (kept_.size() >= kKept) kept_.clear();
  Sums& s = kept_[{selector, topology, eligible.constraint}];
  const bool is_current = s.is_made && s.definition == eligible.definition && s.facts == eligible.facts &&
                          counts.remembers(selector, s.steps);
  if (!is_current) {
    ++made_;
    s.sums = sums_of(counts, columns, selector, topology, eligible.nodes);
  } else {
    for (const Counts::Step& step : counts.steps_since(selector, s.steps)) {
      if (!eligible.nodes.test(step.node.row())) continue;
      if (DomainSum* sum = find(s.sums, value_of(columns.facts(step.node), topology)))
        sum->pods = static_cast<std::uint32_t>(static_cast<std::int64_t>(sum->pods) + step.by);
    }
  }
  s.definition = eligible.definition;
  s.facts = eligible.facts;
  s.steps = counts.step_count(selector);
  s.is_made = true;
  return s.sums;
}

}  // namespace ashlar
