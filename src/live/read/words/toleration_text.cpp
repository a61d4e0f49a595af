#include "live/read/words/toleration_text.h"

#include <algorithm>
#include <vector>

#include "live/read/facts_text.h"
#include "live/read/words/selector_text.h"
#include "live/track/translate.h"

namespace ashlar::kube {
namespace {

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

std::string toleration_text(const TextContext& c, ConstraintId constraint) {
  const Cluster& cluster = c.state.cluster();
  if (constraint.row() >= cluster.constraint_rows()) return {};
  const std::vector<NodeTally::Tainted> tainted = c.tally().untolerated(cluster, cluster.constraint(constraint));
  const auto most = std::ranges::max_element(tainted, {}, &NodeTally::Tainted::nodes);
  if (most == tainted.end()) return {};
  const std::string taint = taint_text(c.tables.names, most->taint);
  return ": " + (tainted.size() == 1 ? taint : std::to_string(most->nodes) + " of them " + taint) + "; " +
         cure_text(c.tables.names, most->taint);
}

}  // namespace ashlar::kube
