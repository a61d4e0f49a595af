#include "live/track/nodes/images.h"

#include <algorithm>
#include <utility>

#include "base/grown.h"

namespace ashlar::kube {
namespace {

/// Each name once, as it is reported first.
std::vector<NodeImage> without_repetition(std::vector<NodeImage> images) {
  const auto by_name = [](const NodeImage& image) { return image.name.hash(); };
  std::ranges::stable_sort(images, {}, by_name);
  const auto repeated = std::ranges::unique(images, {}, &NodeImage::name);
  images.erase(repeated.begin(), repeated.end());
  return images;
}

}  // namespace

void NodeImages::set(NodeId node, const std::vector<NodeImage>& images) {
  std::vector<NodeImage>& before = grown(of_node_, node.row());
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
  for (const NodeImage& image : without_repetition(std::exchange(of_node_[node.row()], {})))
    take(node, image.name, false);
}

void NodeImages::put(NodeId node, const NodeImage& image) {
  Image& of = images_[image.name];
  const auto at = std::ranges::lower_bound(of.nodes, node);
  const bool is_there = at != of.nodes.end() && *at == node;
  const bool is_only_one = of.nodes.empty() || (is_there && of.nodes.size() == 1);
  const std::int64_t bytes = is_only_one ? image.bytes : of.bytes;
  if (is_there && bytes == of.bytes) return;
  if (of.nodes.empty() && (missed_.erase(image.name) > 0 || is_any_missed_)) news_.insert(image.name);
  of.bytes = bytes;
  if (!is_there) of.nodes.insert(at, node);
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

void NodeImages::note_missed(const std::vector<PooledString>& images) {
  for (const PooledString& name : images) {
    const auto found = images_.find(name);
    if (!name.empty() && (found == images_.end() || found->second.nodes.empty())) miss(name);
  }
}

ContainerImages NodeImages::named(const std::vector<PooledString>& images) {
  ContainerImages named;
  for (const PooledString& name : images) {
    if (name.empty()) continue;
    const auto found = images_.find(name);
    if (found == images_.end() || found->second.nodes.empty()) {
      miss(name);
      continue;
    }
    Image& of = found->second;
    if (of.row.is_none()) {
      of.row = rows_.add(name);
      out_.add(ImageSeen{of.row, of.bytes, of.nodes, {}});
    }
    named.on_nodes.push_back(of.row);
  }
  std::ranges::sort(named.on_nodes);
  if (!named.on_nodes.empty()) named.count = static_cast<std::uint32_t>(images.size());
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

bool NodeImages::concerns(const std::vector<PooledString>& images) const {
  return std::ranges::any_of(images, [this](const PooledString& name) { return news_.contains(name); });
}

}  // namespace ashlar::kube
