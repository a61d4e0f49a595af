#include "engine/place/tables/best_nodes.h"

#include <algorithm>

namespace ashlar {

void GroupChanges::start_anew(const Cluster& cluster) {
  const std::uint64_t now = cluster.change_count();
  groups_.assign(cluster.topology().group_count(), Group{.last = now, .of_others = now, .node = {}});
  shape_version_ = cluster.topology().shape_version();
  is_started_ = true;
}

void GroupChanges::refresh(const Cluster& cluster) {
  if (!is_started_ || !cluster.remembers(cursor_) || cursor_ > cluster.change_count() ||
      shape_version_ != cluster.topology().shape_version()) {
    start_anew(cluster);
  } else {
    for (const NodeId n : cluster.changed_since(cursor_)) {
      ++cursor_;
      const GroupId id = cluster.topology().group_of(n);
      if (id.is_none()) continue;
      Group& group = groups_[id.row()];
      if (group.node != n) group.of_others = group.last;
      group.node = n;
      group.last = cursor_;
      group.idle_most = kNotCounted;
    }
  }
  cursor_ = cluster.change_count();
}

bool GroupChanges::may_have_idle(const Cluster& cluster, std::size_t g, std::int64_t devices) {
  const auto in_all = cluster.group_idle_devices();
  if (g >= in_all.size() || in_all[g] < devices) return false;
  if (devices <= 1) return true;
  Group& group = groups_[g];
  if (group.idle_most == kNotCounted) {
    group.idle_most = 0;
    for (const NodeId n : cluster.topology().nodes_of_group(GroupId(g)))
      group.idle_most = std::max(group.idle_most, cluster.idle_devices()[n.row()]);
  }
  return group.idle_most >= devices;
}

/// Readers have seen no later change than that, so a later one counts as that one.
void GroupChanges::forget_undone_changes(std::uint64_t since) {
  if (cursor_ <= since) return;
  for (Group& group : groups_) {
    if (group.last <= since) continue;
    group.last = since;
    group.of_others = std::min(group.of_others, since);
    group.idle_most = kNotCounted;
  }
  cursor_ = since;
}

void BestNodes::start_anew(const State& state, const NodeRating& rating) {
  const std::size_t count = state.cluster().topology().group_count();
  groups_.assign(count, Group{});
  tops_.assign(count, rating.best_possible());
  keys_.clear();
  shape_version_ = state.cluster().topology().shape_version();
  is_started_ = true;
}

void BestNodes::note_change(const NodeRating& rating, std::size_t g, NodeId node) {
  Group& group = groups_[g];
  if (group.first_key == kNoKeys) return;
  if (group.is_current || group.has_flips)
    group.changed = node;
  else if (group.changed != node)
    group.changed = NodeId::none();
  group.is_current = group.has_flips = false;
  tops_[g] = rating.best_possible();
}

BestNodes::Group* BestNodes::known_group(const State& state, NodeId node) {
  const Topology& topology = state.cluster().topology();
  if (!is_started_ || shape_version_ != topology.shape_version()) return nullptr;
  const GroupId id = topology.group_of(node);
  return id.is_none() || groups_[id.row()].first_key == kNoKeys ? nullptr : &groups_[id.row()];
}

void BestNodes::note_flip(const State& state, NodeId node) {
  Group* group = known_group(state, node);
  if (group == nullptr || !group->is_current) return;
  group->is_current = false;
  group->has_flips = true;
  tops_[static_cast<std::size_t>(group - groups_.data())] = group->most_key;
}

void BestNodes::note_preferences(const State& state, const NodeRating& rating, std::span<const Points> before,
                                 std::span<const Points> now) {
  const Topology& topology = state.cluster().topology();
  if (!is_started_ || shape_version_ != topology.shape_version()) return;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    if (group.first_key == kNoKeys) continue;
    const auto nodes = topology.nodes_of_group(GroupId(g));
    const std::span<std::uint64_t> keys = std::span(keys_).subspan(group.first_key, nodes.size());
    bool is_changed = false;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::size_t row = nodes[i].row();
      if (before[row] != now[row]) {
        keys[i] = rating.with_preferences(keys[i], now[row]);
        is_changed = true;
      }
      most = std::max(most, keys[i]);
    }
    // where neither, nodes of it are to be rated anyway
    if (!is_changed || (!group.is_current && !group.has_flips)) continue;
    group.is_current = false;
    group.has_flips = true;
    tops_[g] = group.most_key = most;
  }
}

void BestNodes::refresh(const State& state, const NodeRating& rating, const GroupChanges& changes) {
  const Cluster& cluster = state.cluster();
  if (!is_started_ || rating.is_drawn() || cursor_ > cluster.change_count() ||
      shape_version_ != cluster.topology().shape_version()) {
    start_anew(state, rating);
  } else {
    changes.each_since(cluster, cursor_, [&](std::size_t g, NodeId n) { note_change(rating, g, n); });
  }
  cursor_ = cluster.change_count();
}

void BestNodes::rate_again(const State& state, NodeRating& rating, std::uint64_t draw, Group& group,
                           std::span<const NodeId> nodes) {
  const bool is_new = group.first_key == kNoKeys;
  if (is_new) {
    group.first_key = static_cast<std::uint32_t>(keys_.size());
    keys_.resize(keys_.size() + nodes.size());
  }
  const std::span<std::uint64_t> keys = std::span(keys_).subspan(group.first_key, nodes.size());
  if (!is_new && !group.changed.is_none()) {
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), group.changed) - nodes.begin();
    keys[static_cast<std::size_t>(at)] = rating.rate(state, group.changed, draw, AboutPods::kNothing);
  } else {
    rating.rate(state, nodes, draw, keys, AboutPods::kNothing);
  }
}

void BestNodes::look_at(const State& state, NodeRating& rating, std::uint64_t draw, std::size_t g) {
  Group& group = groups_[g];
  const auto nodes = state.cluster().topology().nodes_of_group(GroupId(g));
  if (!group.has_flips) rate_again(state, rating, draw, group, nodes);
  const std::span<const std::uint64_t> keys = std::span(keys_).subspan(group.first_key, nodes.size());
  const BitSet* open = rating.open_beside_pods(state);
  group.best = NodeId::none();
  group.best_key = group.most_key = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    group.most_key = std::max(group.most_key, keys[i]);
    if (keys[i] <= group.best_key || (open != nullptr && !open->test(nodes[i].row()))) continue;
    group.best = nodes[i];
    group.best_key = keys[i];
  }
  group.is_current = true;
  group.has_flips = false;
  group.changed = NodeId::none();
  tops_[g] = group.best_key;
  bounds_[g] = group.best.is_none() ? 0 : group.best_key | rating.domain_bits(points_[g]);
}

void BestNodes::bound_groups(const State& state, const NodeRating& rating, std::int64_t devices_least) {
  points_.assign(groups_.size(), 0);
  rating.add_domain_points(state, points_);
  bounds_.resize(groups_.size());
  rating.domain_bits(points_, bounds_);
  for (std::size_t g = 0; g < bounds_.size(); ++g) bounds_[g] = tops_[g] == 0 ? 0 : bounds_[g] | tops_[g];
  if (devices_least == 0) return;
  const auto idle = state.cluster().group_idle_devices();
  const std::size_t counted = std::min(idle.size(), bounds_.size());
  for (std::size_t g = 0; g < counted; ++g) bounds_[g] = idle[g] < devices_least ? 0 : bounds_[g];
  std::fill(bounds_.begin() + static_cast<std::ptrdiff_t>(counted), bounds_.end(), 0);
}

NodeId BestNodes::find(const State& state, NodeRating& rating, GroupChanges& changes, std::uint64_t draw) {
  const DeviceRequest& request = state.demand(rating.demand()).devices;
  const std::int64_t devices_least = request.count > 0 && request.is_whole() ? request.count : 0;
  bound_groups(state, rating, devices_least);
  const auto may_be_before = [&](std::size_t g, NodeId node) {
    const auto nodes = state.cluster().topology().nodes_of_group(GroupId(g));
    return nodes.empty() || nodes.front() < node;
  };
  bool is_counted_by_node = devices_least <= 1;
  for (std::size_t scans = 0; scans < kScansMax; ++scans) {
    std::uint64_t most = 0;
    for (const std::uint64_t bound : bounds_) most = std::max(most, bound);
    if (most == 0) return NodeId::none();
    NodeId best;  // of the groups that are current
    std::size_t open = groups_.size();
    for (std::size_t g = 0; g < bounds_.size(); ++g) {
      if (bounds_[g] != most) continue;
      if (groups_[g].is_current)
        best = std::min(best, groups_[g].best);
      else
        open = std::min(open, g);
    }
    // Of the others the first may still have a node as good, of a lower row.
    while (open < groups_.size() && (bounds_[open] != most || groups_[open].is_current || !may_be_before(open, best)))
      ++open;
    if (open == groups_.size()) return best;
    if (is_counted_by_node || changes.may_have_idle(state.cluster(), open, devices_least)) {
      look_at(state, rating, draw, open);
      continue;
    }
    is_counted_by_node = true;  // as this one, others may have as many idle devices only on several nodes
    for (std::size_t g = 0; g < bounds_.size(); ++g)
      if (bounds_[g] != 0 && !groups_[g].is_current && !changes.may_have_idle(state.cluster(), g, devices_least))
        bounds_[g] = 0;
  }
  return find_among_many(state, rating, draw);
}

NodeId BestNodes::find_among_many(const State& state, NodeRating& rating, std::uint64_t draw) {
  NodeId best;
  std::uint64_t best_key = 0;
  const auto consider = [&](std::size_t g) {
    if (bounds_[g] == 0 || bounds_[g] < best_key || (bounds_[g] == best_key && best < groups_[g].best)) return;
    best = groups_[g].best;
    best_key = bounds_[g];
  };
  candidates_.clear();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].is_current)
      consider(g);
    else if (bounds_[g] != 0)
      candidates_.push_back({bounds_[g], static_cast<std::uint32_t>(g)});
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
