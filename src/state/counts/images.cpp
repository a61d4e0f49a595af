#include "state/counts/images.h"

#include <algorithm>

#include "base/digest.h"
#include "state/counts/image_points.h"

namespace ashlar {
namespace {

constexpr std::uint64_t kSeed = 0x1a9e;

std::uint64_t cell(ImageId id, NodeId node) { return hash_combine(hash_combine(kSeed, id.value), node.value); }
std::uint64_t bytes_cell(ImageId id, std::int64_t bytes) {
  return bytes == 0 ? 0 : hash_combine(hash_combine(kSeed + 1, id.value), static_cast<std::uint64_t>(bytes));
}

/// In floating point and cut off, as upstream.
std::int64_t scaled(std::int64_t bytes, std::size_t with_it, std::size_t nodes) {
  const double spread = static_cast<double>(with_it) / static_cast<double>(nodes);
  return static_cast<std::int64_t>(static_cast<double>(bytes) * spread);
}

}  // namespace

const Images::Row& Images::row(ImageId id) const {
  static const Row kNone;
  return id.row() < rows_.size() ? rows_[id.row()] : kNone;
}

bool Images::is_on_any(const ContainerImages& images) const {
  return std::ranges::any_of(images.on_nodes, [this](ImageId id) { return !row(id).nodes.empty(); });
}

std::uint64_t Images::version(const ContainerImages& images) const {
  std::uint64_t newest = 0;
  for (const ImageId id : images.on_nodes) newest = std::max(newest, value_at(versions_, id.row(), std::uint64_t{0}));
  return newest;
}

void Images::score(const ContainerImages& images, std::size_t nodes, std::span<std::uint8_t> scores) const {
  std::vector<std::int64_t> sums(scores.size(), 0);
  for (auto it = images.on_nodes.begin(); it != images.on_nodes.end();) {
    const auto next = std::find_if(it, images.on_nodes.end(), [&](ImageId id) { return id != *it; });
    const Row& of = row(*it);
    const std::int64_t bytes = (next - it) * scaled(of.bytes, of.nodes.size(), std::max<std::size_t>(nodes, 1));
    for (const NodeId n : of.nodes) sums[n.row()] += bytes;
    it = next;
  }
  for (std::size_t n = 0; n < scores.size(); ++n) scores[n] = image_points(sums[n], images.count);
}

void Images::begin_change(const ImageSeen& seen) {
  Row& of = grown(rows_, seen.id.row());
  digest_ += bytes_cell(seen.id, seen.bytes) - bytes_cell(seen.id, of.bytes);
  of.bytes = seen.bytes;
  note(seen.id);
}

void Images::put(ImageId id, NodeId node) {
  std::vector<NodeId>& nodes = rows_[id.row()].nodes;
  const auto at = std::ranges::lower_bound(nodes, node);
  if (at != nodes.end() && *at == node) return;
  nodes.insert(at, node);
  digest_ += cell(id, node);
}

void Images::take(ImageId id, NodeId node) {
  std::vector<NodeId>& nodes = rows_[id.row()].nodes;
  const auto at = std::ranges::lower_bound(nodes, node);
  if (at == nodes.end() || *at != node) return;
  nodes.erase(at);
  digest_ -= cell(id, node);
  note(id);
}

void Images::forget(NodeId node) {
  for (std::size_t row = 0; row < rows_.size(); ++row) take(ImageId(row), node);
}

std::uint64_t Images::counted_digest() const {
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    sum += bytes_cell(ImageId(row), rows_[row].bytes);
    for (const NodeId n : rows_[row].nodes) sum += cell(ImageId(row), n);
  }
  return sum;
}

}  // namespace ashlar
