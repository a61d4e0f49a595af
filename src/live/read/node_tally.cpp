#include "live/read/node_tally.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/explain/empty_node.h"
#include "engine/explain/refusals.h"
#include "policy/feasible_policy.h"

namespace ashlar::kube {
namespace {

constexpr std::uint32_t kNotLive = 0xffffffffu;

/// What nodes that are alike have in common.
struct Shape {
  std::vector<ashlar::Taint> taints;
  std::vector<std::int64_t> allocatable;
  ashlar::NodeDevices devices;
};

/// Ordered like the rows; any fixed order would do.
struct ByRow {
  bool operator()(const ashlar::Taint& a, const ashlar::Taint& b) const {
    return std::tie(a.key, a.value, a.effect) < std::tie(b.key, b.value, b.effect);
  }
  bool operator()(const std::vector<ashlar::Taint>& a, const std::vector<ashlar::Taint>& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), *this);
  }
  bool operator()(const Shape& a, const Shape& b) const {
    const auto rest = [](const Shape& s) {
      return std::tie(s.allocatable, s.devices.count, s.devices.memory_each.value, s.devices.device_class,
                      s.devices.layout);
    };
    if (rest(a) != rest(b)) return rest(a) < rest(b);
    return (*this)(a.taints, b.taints);
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
bool names_nodes(const Constraint& constraint) {
  return !constraint.selector.all.empty() || !constraint.any_of.empty() || !constraint.models.empty() ||
         !constraint.capabilities.empty() || !constraint.volumes.empty() || !constraint.features.empty();
}

/// Neither its own choice nor a rule about pods keeps it off the node.
bool is_open(const Cluster& cluster, const Constraint& constraint, ConstraintId id, NodeId n) {
  const auto refuses = [&](const FeasiblePolicy& policy) {
    return is_about_pods(policy.reason) && keeps_off(policy, cluster, id, n);
  };
  const auto policies = feasible_policies();
  return is_meant_for(constraint, cluster.facts(n), cluster.context()) &&
         std::none_of(policies.begin(), policies.end(), refuses);
}

}  // namespace

void NodeTally::bring_up(const Cluster& cluster) {
  if (seen_ == cluster.facts_change_count()) return;
  seen_ = cluster.facts_change_count();
  alike_.clear();
  alike_of_.assign(cluster.rows(), kNotLive);
  std::map<Shape, std::uint32_t, ByRow> rows;
  Shape shape;
  for (std::size_t n = 0; n < cluster.rows(); ++n) {
    if (!cluster.is_live(NodeId(n))) continue;
    ++looks_;
    const NodeFacts& facts = cluster.facts(NodeId(n));
    shape.allocatable = facts.allocatable;
    shape.devices = facts.devices;
    shape.taints.clear();
    std::copy_if(facts.taints.begin(), facts.taints.end(), std::back_inserter(shape.taints),
                 [](const auto& t) { return t.effect != ashlar::TaintEffect::kPreferNoSchedule; });
    const auto [row, is_new] = rows.try_emplace(shape, static_cast<std::uint32_t>(alike_.size()));
    if (is_new) alike_.push_back({shape.taints, NodeId(n), 0});
    ++alike_[row->second].nodes;
    alike_of_[n] = row->second;
  }
}

std::vector<NodeTally::Tainted> NodeTally::untolerated(const Cluster& cluster, const Demand& demand,
                                                       ConstraintId constraint_id) {
  bring_up(cluster);
  const Constraint& constraint = cluster.constraint(constraint_id);
  const bool is_choosy = names_nodes(constraint) || constraint.has_company() || !constraint.seen_as.is_none();
  std::map<ashlar::Taint, std::int64_t, ByRow> counts;
  std::vector<const ashlar::Taint*> refused_by(alike_.size(), nullptr);
  bool is_any = false;
  for (std::size_t a = 0; a < alike_.size(); ++a) {
    const ashlar::Taint* taint = first_untolerated(constraint, alike_[a].taints);
    if (taint == nullptr || fits_when_empty(cluster, demand, constraint, alike_[a].example, {}) == 0) continue;
    refused_by[a] = taint;
    is_any = true;
    if (!is_choosy) counts[*taint] += alike_[a].nodes;
  }
  for (std::size_t n = 0; is_choosy && is_any && n < cluster.rows(); ++n) {
    if (alike_of_[n] == kNotLive || refused_by[alike_of_[n]] == nullptr) continue;
    ++looks_;
    if (is_open(cluster, constraint, constraint_id, NodeId(n))) ++counts[*refused_by[alike_of_[n]]];
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
