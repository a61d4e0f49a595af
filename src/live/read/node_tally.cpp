#include "live/read/node_tally.h"

#include <algorithm>
#include <tuple>

#include "base/bitset.h"
#include "policy/node/selector.h"

namespace ashlar::kube {
namespace {

constexpr std::uint32_t kNotLive = 0xffffffffu;

/// Its order is that of the rows; it only has to be one.
struct ByRow {
  bool operator()(const ashlar::Taint& a, const ashlar::Taint& b) const {
    return std::tie(a.key, a.value, a.effect) < std::tie(b.key, b.value, b.effect);
  }
  bool operator()(const std::vector<ashlar::Taint>& a, const std::vector<ashlar::Taint>& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), *this);
  }
};

/// The first of these taints that the constraint does not tolerate; nullptr where there is none.
const ashlar::Taint* first_untolerated(const Constraint& constraint, const std::vector<ashlar::Taint>& taints) {
  const auto is_refused = [&](const ashlar::Taint& taint) {
    return std::none_of(constraint.tolerations.begin(), constraint.tolerations.end(), [&](const auto& t) { return t.tolerates(taint); });
  };
  const auto first = std::find_if(taints.begin(), taints.end(), is_refused);
  return first == taints.end() ? nullptr : &*first;
}

bool is_exclusion(const LabelExpression& e) { return e.op == LabelExpression::Op::kNotIn; }

/// What the exclusions of a selector name. A label is a row of key and value together, so that one set serves all keys.
BitSet excluded_labels(const ashlar::NodeTerm& selector) {
  BitSet excluded;
  for (const LabelExpression& e : selector.all) {
    if (!is_exclusion(e)) continue;
    for (const LabelId value : e.values) {
      if (value.is_none()) continue;
      if (value.row() >= excluded.size()) excluded.resize(std::max(value.row() + 1, excluded.size() * 2));
      excluded.set(value.row());
    }
  }
  return excluded;
}

}  // namespace

void NodeTally::bring_up(const Cluster& cluster) {
  if (seen_ == cluster.facts_change_count()) return;
  seen_ = cluster.facts_change_count();
  company_.clear();
  alike_.clear();
  alike_of_.assign(cluster.rows(), kNotLive);
  std::map<std::vector<ashlar::Taint>, std::uint32_t, ByRow> rows;
  std::vector<ashlar::Taint> taints;
  for (std::size_t n = 0; n < cluster.rows(); ++n) {
    if (!cluster.is_live(NodeId(n))) continue;
    ++looks_;
    const std::vector<ashlar::Taint>& all = cluster.facts(NodeId(n)).taints;
    taints.clear();
    std::copy_if(all.begin(), all.end(), std::back_inserter(taints),
                 [](const auto& t) { return t.effect != ashlar::TaintEffect::kPreferNoSchedule; });
    const auto [row, is_new] = rows.try_emplace(taints, static_cast<std::uint32_t>(alike_.size()));
    if (is_new) alike_.push_back({taints, 0});
    ++alike_[row->second].nodes;
    alike_of_[n] = row->second;
  }
}

std::vector<NodeTally::Tainted> NodeTally::untolerated(const Cluster& cluster, const Constraint& constraint) {
  bring_up(cluster);
  std::map<ashlar::Taint, std::int64_t, ByRow> counts;
  for (const Alike& alike : alike_)
    if (const ashlar::Taint* taint = first_untolerated(constraint, alike.taints); taint != nullptr) counts[*taint] += alike.nodes;
  std::vector<Tainted> all;
  all.reserve(counts.size());
  for (const auto& [taint, nodes] : counts) all.push_back({taint, nodes});
  return all;
}

std::int64_t NodeTally::refused_company(const Cluster& cluster, ConstraintId id) {
  if (id.row() >= cluster.constraint_rows()) return 0;
  const Constraint& constraint = cluster.constraint(id);
  if (std::none_of(constraint.selector.all.begin(), constraint.selector.all.end(), is_exclusion)) return 0;
  bring_up(cluster);
  const auto [known, is_new] = company_.try_emplace(id);
  if (is_new || known->second.definition != cluster.definition(id))
    known->second = {.definition = cluster.definition(id), .nodes = count_company(cluster, constraint)};
  return known->second.nodes;
}

/// O(values + labels of the nodes), however many values are excluded.
std::int64_t NodeTally::count_company(const Cluster& cluster, const Constraint& constraint) {
  const BitSet excluded = excluded_labels(constraint.selector);
  ashlar::NodeTerm others;
  std::copy_if(constraint.selector.all.begin(), constraint.selector.all.end(), std::back_inserter(others.all),
               [](const LabelExpression& e) { return !is_exclusion(e); });
  std::vector<bool> is_tolerated;
  for (const Alike& alike : alike_) is_tolerated.push_back(first_untolerated(constraint, alike.taints) == nullptr);
  std::int64_t count = 0;
  for (std::size_t n = 0; n < alike_of_.size(); ++n) {
    if (alike_of_[n] == kNotLive) continue;
    ++looks_;
    const NodeFacts& facts = cluster.facts(NodeId(n));
    const auto holds = [&](const ashlar::NodeTerm& t) { return term_holds(t, facts); };
    const bool is_refused = std::any_of(facts.labels.begin(), facts.labels.end(), [&](const NodeLabel& l) { return excluded.test(l.id.row()); });
    if (!is_refused || !is_tolerated[alike_of_[n]] || !holds(others)) continue;
    if (constraint.any_of.empty() || std::any_of(constraint.any_of.begin(), constraint.any_of.end(), holds)) ++count;
  }
  return count;
}

}  // namespace ashlar::kube
