#include "live/read/words/selector_trouble.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "kubeclient/bind_outcome.h"
#include "live/read/words/selector_text.h"
#include "policy/node/selector.h"
#include "state/counts/kept_away.h"
#include "text/nearest_name.h"
#include "text/short_list.h"

namespace ashlar::kube {
namespace {

using Op = LabelExpression::Op;

constexpr std::size_t kExpressionBytesMax = 400;  // a term may list thousands of values

/// The words about one constraint.
class Trouble {
 public:
  explicit Trouble(const TextContext& context) : c_(context), names_(context.tables.names) {}

  /// Of the term, the first expression that no live node meets; nullptr: there is none.
  const LabelExpression* unmet(const ashlar::NodeTerm& term) const {
    const auto found = std::ranges::find_if(term.all, [&](const LabelExpression& e) {
      const ashlar::NodeTerm alone{{e}};
      return !any_node([&](const NodeFacts& facts) { return term_holds(alone, facts); });
    });
    return found == term.all.end() ? nullptr : &*found;
  }

  std::string of(const std::vector<const LabelExpression*>& unmet) const {
    const LabelExpression& first = *unmet.front();
    const bool is_one = unmet.size() == 1, is_about_values = first.op == Op::kIn && !first.values.empty();
    if (is_one && (is_about_values || first.op == Op::kExists) && values_of(first.key).empty()) {
      const std::string key = names_.label_keys.name(first.key).str();
      return ": no node has the label " + key + probable_label(c_.tables, key);
    }
    const std::string what =
        short_list(unmet.size(), [&](std::size_t i) { return expressions_text(names_, {*unmet[i]}); });
    return std::string(is_one && first.values.size() == 1 && is_about_values ? ": no node has "
                                                                             : ": no node satisfies ") +
           bounded_words(what, kExpressionBytesMax) + (is_one && is_about_values ? meant_by(first) : "");
  }

 private:
  template <class Holds>
  bool any_node(Holds&& holds) const {
    const Cluster& cluster = c_.state.cluster();
    for (std::size_t n = 0; n < cluster.rows(); ++n)
      if (cluster.is_live(NodeId(n)) && holds(cluster.facts(NodeId(n)))) return true;
    return false;
  }

  /// Those that nodes have, sorted.
  std::vector<std::string> values_of(LabelKeyId key) const {
    std::vector<LabelId> values;
    any_node([&](const NodeFacts& facts) {
      if (const LabelId value = value_of(facts, key); !value.is_none()) values.push_back(value);
      return false;
    });
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<std::string> known;
    for (const LabelId value : values) known.push_back(value_text(names_, value));
    std::sort(known.begin(), known.end());
    if (!known.empty() && known.front().empty()) known.front() = "\"\"";
    return known;
  }

  /// The value that was probably meant; of several those that nodes have.
  std::string meant_by(const LabelExpression& e) const {
    const std::vector<std::string> known = values_of(e.key);
    return did_you_mean(e.values.size() == 1 ? value_text(names_, e.values.front()) : "",
                        std::vector<std::string_view>(known.begin(), known.end()));
  }

  const TextContext& c_;
  const ObjectNames& names_;
};

}  // namespace

std::string selector_trouble(const TextContext& c, ConstraintId id) {
  const Cluster& cluster = c.state.cluster();
  if (id.row() >= cluster.constraint_rows() || cluster.live_count() == 0) return {};
  const Constraint& constraint = cluster.constraint(id);
  const Trouble trouble(c);
  if (const LabelExpression* unmet = trouble.unmet(constraint.selector)) return trouble.of({unmet});
  std::vector<const LabelExpression*> of_terms;
  for (const ashlar::NodeTerm& term : constraint.any_of) {
    const LabelExpression* unmet = trouble.unmet(term);
    if (unmet == nullptr) return {};
    if (std::ranges::none_of(of_terms, [&](const LabelExpression* other) { return *other == *unmet; }))
      of_terms.push_back(unmet);
  }
  return of_terms.empty() ? std::string() : trouble.of(of_terms);
}

}  // namespace ashlar::kube
