// Images: which nodes have the container images that waiting pods name, and how good a node is for a pod by them:
// kube-scheduler's ImageLocality. Cost: a change O(nodes of the image); scores O(nodes that have one of the images).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/grown.h"
#include "base/id.h"
#include "model/constraint.h"
#include "model/event.h"

namespace ashlar {

class Images {
 public:
  static constexpr std::int64_t kBytesMax = std::int64_t{1} << 46;  ///< of an image, see ContainerImages::is_sound
  struct Row {
    std::int64_t bytes = 0;
    std::vector<NodeId> nodes;  ///< ascending; nodes that are there
  };
  std::size_t rows() const { return rows_.size(); }
  /// Empty for a row that is not in use.
  const Row& row(ImageId id) const;
  bool is_on_any(const ContainerImages& images) const;
  /// Another number when a row of these has changed.
  std::uint64_t version(const ContainerImages& images) const;
  /// By node row, 0..100: the bytes of each of the images that the node has, times the share of all nodes that have it,
  /// added up, from 23 MiB to 1,000 MiB for each image of the pod. `nodes`: how many there are.
  void score(const ContainerImages& images, std::size_t nodes, std::span<std::uint8_t> scores) const;

  /// `is_live`: whether a node is there; others are passed over.
  template <class IsLive>
  void change(const ImageSeen& seen, IsLive&& is_live) {
    begin_change(seen);
    for (const NodeId n : seen.added)
      if (is_live(n)) put(seen.id, n);
    // mostly ascending: from the end nothing moves
    for (auto n = seen.removed.rbegin(); n != seen.removed.rend(); ++n) take(seen.id, *n);
  }
  /// The node has gone.
  void forget(NodeId node);

  std::uint64_t digest() const { return digest_; }
  std::uint64_t counted_digest() const;
  /// After the rows were read.
  void rebuild() { digest_ = counted_digest(), versions_.assign(rows_.size(), ++changes_); }

 private:
  friend struct StateFields;
  void begin_change(const ImageSeen& seen);
  void put(ImageId id, NodeId node);
  void take(ImageId id, NodeId node);
  void note(ImageId id) { grown(versions_, id.row()) = ++changes_; }

  std::vector<Row> rows_;
  std::vector<std::uint64_t> versions_;  ///< by row; derived, as all that follows
  std::uint64_t changes_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace ashlar
