#include "live/read/node_tally.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "policy/feasible_policy.h"

namespace ashlar::kube {
namespace {

constexpr std::uint32_t kNotLive = 0xffffffffu;

/// Ordered like the rows; any fixed order would do.
struct ByRow {
  bool operator()(const ashlar::Taint& a, const ashlar::Taint& b) const {
    return std::tie(a.key, a.value, a.effect) < std::tie(b.key, b.value, b.effect);
  }
  bool operator()(const std::vector<ashlar::Taint>& a, const std::vector<ashlar::Taint>& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), *this);
  }
};

/// The first of these taints that the constraint does not tolerate; nullptr if there is none.
const ashlar::Taint* first_untolerated(const Constraint& constraint, const std::vector<ashlar::Taint>& taints) {
  const auto is_refused = [&](const ashlar::Taint& taint) {
    return std::none_of(constraint.tolerations.begin(), constraint.tolerations.end(),
                        [&](const auto& t) { return t.tolerates(taint); });
  };
  const auto first = std::find_if(taints.begin(), taints.end(), is_refused);
  return first == taints.end() ? nullptr : &*first;
}

/// Whether it names nodes, by one of the lasting rules (is_meant_for).
bool is_choosy(const Constraint& constraint) {
  return !constraint.selector.all.empty() || !constraint.any_of.empty() || !constraint.models.empty() ||
         !constraint.capabilities.empty() || !constraint.volumes.empty() || !constraint.features.empty();
}

}  // namespace

void NodeTally::bring_up(const Cluster& cluster) {
  if (seen_ == cluster.facts_change_count()) return;
  seen_ = cluster.facts_change_count();
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
  std::vector<const ashlar::Taint*> refused_by(alike_.size());
  std::transform(alike_.begin(), alike_.end(), refused_by.begin(),
                 [&](const Alike& alike) { return first_untolerated(constraint, alike.taints); });
  std::map<ashlar::Taint, std::int64_t, ByRow> counts;
  if (!is_choosy(constraint)) {
    for (std::size_t a = 0; a < alike_.size(); ++a)
      if (refused_by[a] != nullptr) counts[*refused_by[a]] += alike_[a].nodes;
  } else if (std::any_of(refused_by.begin(), refused_by.end(), [](const auto* taint) { return taint != nullptr; })) {
    for (std::size_t n = 0; n < cluster.rows(); ++n) {
      if (alike_of_[n] == kNotLive || refused_by[alike_of_[n]] == nullptr) continue;
      ++looks_;
      if (is_meant_for(constraint, cluster.facts(NodeId(n)), cluster.context())) ++counts[*refused_by[alike_of_[n]]];
    }
  }
  std::vector<Tainted> all;
  all.reserve(counts.size());
  for (const auto& [taint, nodes] : counts) all.push_back({taint, nodes});
  return all;
}

const std::vector<bool>& NodeTally::classes(const Cluster& cluster) {
  if (classes_seen_ == cluster.facts_change_count()) return classes_;
  classes_seen_ = cluster.facts_change_count();
  classes_.clear();
  const auto note = [&](DeviceClassId id) {
    if (id.is_none()) return;
    if (id.row() >= classes_.size()) classes_.resize(id.row() + 1);
    classes_[id.row()] = true;
  };
  for (std::size_t n = 0; n < cluster.rows(); ++n) {
    if (!cluster.is_live(NodeId(n)) || cluster.devices()[n] == 0) continue;
    if (const DeviceLayout* mixed = cluster.mixed_layout(NodeId(n)); mixed != nullptr)
      for (const DeviceFacts& device : mixed->devices) note(device.device_class);
    else
      note(cluster.models()[n]);
  }
  return classes_;
}

}  // namespace ashlar::kube
