#include "live/read/words/toleration_text.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "live/read/facts_text.h"
#include "live/read/words/selector_text.h"
#include "live/track/translate.h"

namespace ashlar::kube {
namespace {

constexpr std::size_t kTaintsNamedMax = 3;

/// Of the node itself, set and removed by Kubernetes or by a cloud's controller.
bool is_of_a_condition(std::string_view key) {
  return key.starts_with("node.kubernetes.io/") || key.starts_with("node.cloudprovider.kubernetes.io/");
}

std::string cure_text(const ObjectNames& names, const ashlar::Taint& taint) {
  const std::string key = names.label_keys.name(taint.key).str();
  if (key == kUnschedulableTaint) return "kubectl uncordon NODE removes it";
  if (is_of_a_condition(key)) return "Kubernetes removes it once the node is in order";
  const std::string value = value_text(names, taint.value);
  return "tolerated by {key: " + key + (value.empty() ? ", operator: Exists" : ", value: \"" + value + "\"") +
         ", effect: " + std::string(effect_text(taint.effect)) + "}";
}

}  // namespace

std::vector<NodeTally::Tainted> untolerated(const TextContext& c, const Reason& r) {
  const ConstraintId constraint(r.subject);
  const DemandId demand(static_cast<std::uint32_t>(r.numbers[1]));
  if (constraint.row() >= c.state.cluster().constraint_rows() || demand.row() >= c.state.demand_rows()) return {};
  return c.tally().untolerated(c.state.cluster(), c.state.demand(demand), constraint);
}

std::string toleration_text(const TextContext& c, const Reason& r) {
  std::vector<NodeTally::Tainted> tainted = untolerated(c, r);
  if (tainted.empty()) return {};
  std::ranges::stable_sort(tainted, std::greater<>(), &NodeTally::Tainted::nodes);
  const ObjectNames& names = c.tables.names;
  if (tainted.size() == 1)
    return ": " + taint_text(names, tainted[0].taint) + "; " + cure_text(names, tainted[0].taint);
  std::string text;
  for (std::size_t i = 0; i < std::min(tainted.size(), kTaintsNamedMax); ++i)
    text += (i == 0 ? ": " : ", ") + std::to_string(tainted[i].nodes) + " of them " +
            taint_text(names, tainted[i].taint) + " (" + cure_text(names, tainted[i].taint) + ")";
  const std::size_t unnamed = tainted.size() - std::min(tainted.size(), kTaintsNamedMax);
  return unnamed == 0 ? text
                      : text + ", and " + std::to_string(unnamed) + " more " + (unnamed == 1 ? "taint" : "taints");
}

}  // namespace ashlar::kube
