#include "engine/place/best_nodes.h"

#include <algorithm>

namespace ashlar {

void BestNodes::start_anew(const State& state) {
  groups_.assign(state.cluster().topology().group_count(), Group{});
  keys_.clear();
  shape_version_ = state.cluster().topology().shape_version();
  is_started_ = true;
}

void BestNodes::note_change(const Topology& topology, NodeId node) {
  const GroupId id = topology.group_of(node);
  if (id.is_none()) return;
  Group& group = groups_[id.row()];
  if (group.first_key == kNoKeys) return;
  if (group.is_current)
    group.changed = node;
  else if (group.changed != node)
    group.changed = NodeId::none();
  group.is_current = false;
}

void BestNodes::refresh(const State& state, const NodeRating& rating) {
  const Cluster& cluster = state.cluster();
  if (!is_started_ || rating.is_drawn() || !cluster.remembers(cursor_) ||
      shape_version_ != cluster.topology().shape_version() ||
      cluster.change_count() - cursor_ > 4 * cluster.rows() + 64) {
    start_anew(state);
  } else {
    for (const NodeId n : cluster.changed_since(cursor_)) note_change(cluster.topology(), n);
  }
  cursor_ = cluster.change_count();
}

void BestNodes::look_at(const State& state, NodeRating& rating, std::uint64_t draw, std::size_t g) {
  Group& group = groups_[g];
  const auto nodes = state.cluster().topology().nodes_of_group(GroupId(g));
  const bool is_new = group.first_key == kNoKeys;
  if (is_new) {
    group.first_key = static_cast<std::uint32_t>(keys_.size());
    keys_.resize(keys_.size() + nodes.size());
  }
  const std::span<std::uint64_t> keys = std::span(keys_).subspan(group.first_key, nodes.size());
  if (!is_new && !group.changed.is_none()) {
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), group.changed) - nodes.begin();
    keys[static_cast<std::size_t>(at)] = rating.rate(state, group.changed, draw);
  } else {
    rating.rate(state, nodes, draw, keys);
  }
  group.best = NodeId::none();
  group.best_key = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (keys[i] <= group.best_key) continue;
    group.best = nodes[i];
    group.best_key = keys[i];
  }
  group.is_current = true;
  group.changed = NodeId::none();
}

NodeId BestNodes::find(const State& state, NodeRating& rating, std::uint64_t draw) {
  points_.assign(groups_.size(), 0);
  rating.add_domain_points(state, points_);
  const DeviceRequest& request = state.demand(rating.demand()).devices;
  const std::int64_t devices_least = request.count > 0 && request.is_whole() ? request.count : 0;
  const auto idle = state.cluster().group_idle_devices();
  NodeId best;
  std::uint64_t best_key = 0;
  const auto consider = [&](std::size_t g) {
    const Group& group = groups_[g];
    if (group.best.is_none()) return;
    const std::uint64_t key = group.best_key | rating.domain_bits(points_[g]);
    if (key < best_key || (key == best_key && best < group.best)) return;
    best = group.best;
    best_key = key;
  };
  candidates_.clear();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].is_current)
      consider(g);
    else if (devices_least == 0 || (g < idle.size() && idle[g] >= devices_least))
      candidates_.push_back({rating.best_possible() | rating.domain_bits(points_[g]), static_cast<std::uint32_t>(g)});
  }
  std::erase_if(candidates_, [&](const Candidate& c) { return c.bound < best_key; });
  std::make_heap(candidates_.begin(), candidates_.end());
  while (!candidates_.empty() && candidates_.front().bound >= best_key) {
    const std::size_t g = candidates_.front().group;
    std::pop_heap(candidates_.begin(), candidates_.end());
    candidates_.pop_back();
    look_at(state, rating, draw, g);
    consider(g);
  }
  return best;
}

}  // namespace ashlar
