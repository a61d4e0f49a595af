// NodeImages: the container images that nodes report. The engine knows those that pods name and that can give a node a
// point: others change without an event, and make no difference between pods. Cost: a hash lookup for each name of a
// node that reports others than before, O(nodes of an image) when a pod names it first, O(images) when nodes double.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <vector>

#include "kubeclient/objects.h"
#include "live/track/event_buffer.h"
#include "model/constraint.h"
#include "names/row_names.h"

namespace ashlar::kube {

class NodeImages {
 public:
  explicit NodeImages(EventBuffer& out) : out_(out) {}

  /// What the node reports from now on. The engine knows the node.
  void set(NodeId node, const std::vector<NodeImage>& images);
  /// The node has gone; the engine forgets its images by itself.
  void forget(NodeId node);

  /// Of the images that a pod names, those that are on nodes; none if all of them together give no node a point.
  ContainerImages named(const std::vector<PooledString>& images);
  /// A constraint with these is in use from now on, or given back.
  void use(const ContainerImages& images);
  void leave(const ContainerImages& images);

  // ---- since the last forget_news() ---------------------------------------------------------------------------------
  /// An image that a pod named while it made no difference may make one now.
  bool has_news() const { return !news_.empty(); }
  /// Whether named() may be another than it was. If it is not, in spite of news, the images are noted as missed again.
  bool concerns(const std::vector<PooledString>& images);
  void forget_news() { news_.clear(); }
  /// All that waits is about to be named anew: what was named before is forgotten if it was too much. True: it was.
  bool begin_naming_anew();
  /// As if they had just been named.
  void note_missed(const std::vector<PooledString>& images);

  std::size_t size() const { return images_.size(); }           // for tests
  std::size_t known_to_engine() const { return rows_.size(); }  // for tests

 private:
  static constexpr std::size_t kMissedMax = 1u << 16;
  struct Image {
    std::int64_t bytes = 0;     ///< as the first node reported it, as in kube-scheduler
    std::int64_t worth = 0;     ///< bytes times the share of nodes that have it are at most this; see value()
    std::vector<NodeId> nodes;  ///< ascending
    ImageId row;                ///< none: the engine does not know it
    std::uint32_t users = 0;    ///< constraints that name it
  };
  struct Reported {
    bool is_there = false;  ///< the node is
    std::vector<NodeImage> images;
  };
  void count_node(bool is_there);
  void value(const PooledString& name, Image& of);
  bool is_on_nodes(const PooledString& name) const;
  bool can_give_points(const std::vector<PooledString>& images) const;
  void miss(const PooledString& name);
  void put(NodeId node, const NodeImage& image);
  void take(NodeId node, const PooledString& name, bool does_engine_know_node);

  EventBuffer& out_;
  boost::unordered_flat_map<PooledString, Image, std::hash<PooledString>> images_;
  RowNames<ImageId, PooledString> rows_;
  std::vector<Reported> of_node_;  ///< by node
  std::size_t nodes_ = 0;          ///< that are there
  std::size_t nodes_least_ = 1;    ///< at most `nodes_`, a power of two
  /// Named by pods while they made no difference; once there are too many, all of them are.
  boost::unordered_flat_set<PooledString, std::hash<PooledString>> missed_, news_;
  bool is_any_missed_ = false;
};

}  // namespace ashlar::kube
