#include "live/track/nodes/images.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/grown.h"
#include "state/counts/image_points.h"

namespace ashlar::kube {
namespace {

/// The least worth that is told apart: a pod of two dozen images can be given points by as little of each.
constexpr std::int64_t kWorthLeast = std::int64_t{1} << 20;

/// Each name once, as it is reported first.
std::vector<NodeImage> without_repetition(std::vector<NodeImage> images) {
  const auto by_name = [](const NodeImage& image) { return image.name.hash(); };
  std::ranges::stable_sort(images, {}, by_name);
  const auto is_same = [](const NodeImage& a, const NodeImage& b) { return a.name == b.name; };
  images.erase(std::unique(images.begin(), images.end(), is_same), images.end());
  return images;
}

}  // namespace

void NodeImages::set(NodeId node, const std::vector<NodeImage>& images) {
  if (!std::exchange(grown(of_node_, node.row()).is_there, true)) count_node(true);
  std::vector<NodeImage>& before = of_node_[node.row()].images;
  if (before == images) return;
  const std::vector<NodeImage> old = without_repetition(std::exchange(before, images));
  const std::vector<NodeImage> now = without_repetition(images);
  const auto has = [](const std::vector<NodeImage>& list, const PooledString& name) {
    const auto by_name = [](const NodeImage& image) { return image.name.hash(); };
    const auto at = std::ranges::lower_bound(list, name.hash(), {}, by_name);
    return at != list.end() && at->name == name;
  };
  for (const NodeImage& image : old)
    if (!has(now, image.name)) take(node, image.name, true);
  for (const NodeImage& image : now) put(node, image);
}

void NodeImages::forget(NodeId node) {
  if (node.row() >= of_node_.size()) return;
  const Reported before = std::exchange(of_node_[node.row()], {});
  for (const NodeImage& image : without_repetition(before.images)) take(node, image.name, false);
  if (before.is_there) count_node(false);
}

/// The power of two falls with the number of nodes, but does not rise until there are three times as many: a few nodes
/// that come and go change nothing.
void NodeImages::count_node(bool is_there) {
  is_there ? ++nodes_ : --nodes_;
  if (nodes_ >= nodes_least_ && nodes_ < 3 * nodes_least_) return;
  nodes_least_ = std::bit_floor(std::max<std::size_t>(nodes_, 1));
  for (auto& [name, image] : images_) value(name, image);
}

/// A power of two as well, which rises at once and falls when the image is worth a third of it.
void NodeImages::value(const PooledString& name, Image& of) {
  const std::size_t with_it = std::min(of.nodes.size(), nodes_least_);
  const double share = static_cast<double>(with_it) / static_cast<double>(nodes_least_);
  const auto worth = static_cast<std::int64_t>(std::ceil(static_cast<double>(of.bytes) * share));
  if (worth <= of.worth && 3 * worth > of.worth) return;
  const bool is_more = worth > of.worth;
  const auto level = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(worth)));
  of.worth = worth == 0 ? 0 : std::max(level, kWorthLeast);
  if (is_more && (missed_.erase(name) > 0 || is_any_missed_)) news_.insert(name);
}

void NodeImages::put(NodeId node, const NodeImage& image) {
  Image& of = images_[image.name];
  const auto at = std::ranges::lower_bound(of.nodes, node);
  const bool is_there = at != of.nodes.end() && *at == node;
  const bool is_only_one = of.nodes.empty() || (is_there && of.nodes.size() == 1);
  const std::int64_t bytes = is_only_one ? image.bytes : of.bytes;
  if (is_there && bytes == of.bytes) return;
  of.bytes = bytes;
  if (!is_there) of.nodes.insert(at, node);
  value(image.name, of);
  if (of.row.is_none()) return;
  ImageSeen seen{of.row, bytes, {}, {}};
  if (!is_there) seen.added = {node};
  out_.add_confirmation(std::move(seen));
}

void NodeImages::take(NodeId node, const PooledString& name, bool does_engine_know_node) {
  const auto found = images_.find(name);
  if (found == images_.end()) return;
  Image& of = found->second;
  std::erase(of.nodes, node);
  value(name, of);
  if (of.row.is_none()) {
    if (of.nodes.empty()) images_.erase(found);
  } else if (does_engine_know_node) {
    out_.add_confirmation(ImageSeen{of.row, of.bytes, {}, {node}});
  }
}

void NodeImages::miss(const PooledString& name) {
  if (missed_.size() >= kMissedMax) {
    missed_.clear();
    is_any_missed_ = true;
  }
  missed_.insert(name);
}

bool NodeImages::begin_naming_anew() {
  if (is_any_missed_) missed_.clear();
  return std::exchange(is_any_missed_, false);
}

bool NodeImages::is_on_nodes(const PooledString& name) const {
  const auto found = images_.find(name);
  return found != images_.end() && !found->second.nodes.empty();
}

bool NodeImages::can_give_points(const std::vector<PooledString>& images) const {
  std::int64_t worth = 0;
  for (const PooledString& name : images)
    if (const auto found = images_.find(name); found != images_.end()) worth += found->second.worth;
  return image_points(worth, images.size()) > 0;
}

void NodeImages::note_missed(const std::vector<PooledString>& images) {
  const bool makes_difference = can_give_points(images);
  for (const PooledString& name : images)
    if (!name.empty() && !(makes_difference && is_on_nodes(name))) miss(name);
}

ContainerImages NodeImages::named(const std::vector<PooledString>& images) {
  note_missed(images);
  if (!can_give_points(images)) return {};
  ContainerImages named;
  named.count = static_cast<std::uint32_t>(images.size());
  for (const PooledString& name : images) {
    if (!is_on_nodes(name)) continue;
    Image& of = images_.find(name)->second;
    if (of.row.is_none()) {
      of.row = rows_.add(name);
      out_.add(ImageSeen{of.row, of.bytes, of.nodes, {}});
    }
    named.on_nodes.push_back(of.row);
  }
  std::ranges::sort(named.on_nodes);
  return named;
}

void NodeImages::use(const ContainerImages& images) {
  for (const ImageId id : images.on_nodes) ++images_[rows_.name(id)].users;
}

void NodeImages::leave(const ContainerImages& images) {
  for (const ImageId id : images.on_nodes) {
    const PooledString name = rows_.name(id);
    Image& of = images_[name];
    if (--of.users > 0) continue;
    out_.add_confirmation(ImageSeen{id, 0, {}, of.nodes});
    rows_.remove(id);
    of.row = ImageId::none();
    if (of.nodes.empty()) images_.erase(name);
  }
}

bool NodeImages::concerns(const std::vector<PooledString>& images) {
  if (std::ranges::none_of(images, [this](const PooledString& name) { return news_.contains(name); })) return false;
  if (can_give_points(images)) return true;
  note_missed(images);
  return false;
}

}  // namespace ashlar::kube
