#include "state/cluster/topology.h"

#include <algorithm>

#include "base/check.h"
#include "base/grown.h"

namespace ashlar {
namespace {

void insert_sorted(std::vector<NodeId>& nodes, NodeId node) {
  nodes.insert(std::lower_bound(nodes.begin(), nodes.end(), node), node);
}

void erase_sorted(std::vector<NodeId>& nodes, NodeId node) {
  const auto it = std::lower_bound(nodes.begin(), nodes.end(), node);
  ASHLAR_CHECK(it != nodes.end() && *it == node);
  nodes.erase(it);
}

}  // namespace

void Topology::define_levels(std::uint32_t nested, std::uint32_t orthogonal) {
  ASHLAR_CHECK(nested + orthogonal <= kLevelsMax);
  ASHLAR_CHECK(domain_of_.empty() || nested == nested_);
  ASHLAR_CHECK(nested + orthogonal >= domain_of_.size());
  nested_ = nested;
  domain_of_.resize(nested + orthogonal);
  nodes_of_.resize(nested + orthogonal);
  ++shape_version_;
  moves_.clear();
}

GroupId Topology::choose_group(NodeId node) {
  GroupId* slot = nullptr;
  const DomainId innermost = nested_ > 0 ? domain_of(LevelId(nested_ - 1), node) : DomainId::none();
  if (!innermost.is_none())
    slot = &grown(group_of_domain_, innermost.row());
  else
    slot = &grown(group_of_chunk_, node.row() / kRowsPerChunk);
  if (slot->is_none()) {
    *slot = GroupId(nodes_of_group_.size());
    nodes_of_group_.emplace_back();
  }
  return *slot;
}

void Topology::note_move(const Move& move) {
  if (moves_.size() >= kMovesMax) moves_.erase(moves_.begin(), moves_.begin() + kMovesMax / 2);
  moves_.push_back(move);
  ++shape_version_;
}

void Topology::place(NodeId node, std::span<const DomainId> domains) {
  bool is_same = !group_of(node).is_none();
  for (std::uint32_t l = 0; l < level_count(); ++l) {
    const DomainId wanted = l < domains.size() ? domains[l] : DomainId::none();
    is_same = is_same && domain_of(LevelId(l), node) == wanted;
  }
  if (is_same) return;
  remove(node);
  for (std::uint32_t l = 0; l < level_count(); ++l) {
    const DomainId domain = l < domains.size() ? domains[l] : DomainId::none();
    grown(domain_of_[l], node.row()) = domain;
    if (domain.is_none()) continue;
    insert_sorted(grown(nodes_of_[l], domain.row()), node);
    note_move({node, LevelId(l), DomainId::none(), domain});
  }
  const GroupId group = choose_group(node);
  note_move({node, LevelId::none(), DomainId::none(), DomainId::none()});  // into its group
  grown(group_of_, node.row()) = group;
  insert_sorted(nodes_of_group_[group.row()], node);
}

void Topology::remove(NodeId node) {
  const GroupId group = group_of(node);
  if (group.is_none()) return;
  note_move({node, LevelId::none(), DomainId::none(), DomainId::none()});  // out of its group
  erase_sorted(nodes_of_group_[group.row()], node);
  group_of_[node.row()] = GroupId::none();
  for (std::uint32_t l = 0; l < level_count(); ++l) {
    const DomainId domain = domain_of(LevelId(l), node);
    if (domain.is_none()) continue;
    note_move({node, LevelId(l), domain, DomainId::none()});
    erase_sorted(nodes_of_[l][domain.row()], node);
    domain_of_[l][node.row()] = DomainId::none();
  }
}

}  // namespace ashlar
