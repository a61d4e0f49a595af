// SpareNode: the nodes that were last taken out of a std::set or std::map, kept for what is put in next, so that trees
// whose elements come and go a few at a time do not allocate for each. Copies keep none.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace ashlar {

template <class Tree>
class SpareNode {
 public:
  using Key = typename Tree::key_type;
  static constexpr std::size_t kNodesMax = 8;  ///< an element is in a few trees of the kind

  SpareNode() = default;
  SpareNode(const SpareNode&) noexcept {}
  SpareNode(SpareNode&&) noexcept = default;
  SpareNode& operator=(const SpareNode&) noexcept { return *this; }
  SpareNode& operator=(SpareNode&&) noexcept = default;
  ~SpareNode() = default;

  /// Into a set.
  void insert(Tree& tree, const Key& key) {
    if (nodes_.empty()) {
      tree.insert(key);
      return;
    }
    auto node = take();
    node.value() = key;
    keep(tree.insert(std::move(node)).node);
  }
  /// Into a map that does not have the key; `hint` is its lower bound there.
  template <class Iterator, class Value>
  Iterator insert(Tree& tree, Iterator hint, const Key& key, const Value& value) {
    if (nodes_.empty()) return tree.emplace_hint(hint, key, value);
    auto node = take();
    node.key() = key;
    node.mapped() = value;
    return tree.insert(hint, std::move(node));
  }
  /// The number of elements erased.
  std::size_t erase(Tree& tree, const Key& key) {
    auto node = tree.extract(key);
    if (node.empty()) return 0;
    keep(std::move(node));
    return 1;
  }

 private:
  using Node = typename Tree::node_type;
  Node take() {
    Node node = std::move(nodes_.back());
    nodes_.pop_back();
    return node;
  }
  void keep(Node&& node) {
    if (!node.empty() && nodes_.size() < kNodesMax) nodes_.push_back(std::move(node));
  }

  std::vector<Node> nodes_;
};

}  // namespace ashlar
