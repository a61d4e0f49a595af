// SpareNode: the node that was last taken out of a std::set or std::map, kept for what is put in next, so that a tree
// whose elements come and go one by one does not allocate for each. Copies keep none.
#pragma once

#include <cstddef>
#include <utility>

namespace ashlar {

template <class Tree>
class SpareNode {
 public:
  using Key = typename Tree::key_type;

  SpareNode() = default;
  SpareNode(const SpareNode&) noexcept {}
  SpareNode(SpareNode&&) noexcept = default;
  SpareNode& operator=(const SpareNode&) noexcept { return *this; }
  SpareNode& operator=(SpareNode&&) noexcept = default;
  ~SpareNode() = default;

  /// Into a set.
  void insert(Tree& tree, const Key& key) {
    if (node_.empty()) {
      tree.insert(key);
      return;
    }
    node_.value() = key;
    node_ = tree.insert(std::move(node_)).node;
  }
  /// Into a map that does not have the key; `hint` is its lower bound there.
  template <class Iterator, class Value>
  Iterator insert(Tree& tree, Iterator hint, const Key& key, const Value& value) {
    if (node_.empty()) return tree.emplace_hint(hint, key, value);
    node_.key() = key;
    node_.mapped() = value;
    return tree.insert(hint, std::move(node_));
  }
  /// The number of elements erased.
  std::size_t erase(Tree& tree, const Key& key) {
    auto node = tree.extract(key);
    if (node.empty()) return 0;
    node_ = std::move(node);
    return 1;
  }

 private:
  typename Tree::node_type node_;
};

}  // namespace ashlar
