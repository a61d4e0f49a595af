// AskedKeys: the keys of node labels that the constraints of pods ask for. Only labels with such a key are facts of a
// node: one that nobody asks for, such as telemetry, changes without an event, and its values get no rows. Cost: a hash
// lookup for each label.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kubeclient/objects.h"
#include "live/track/names.h"
#include "model/constraint.h"
#include "model/node.h"

namespace ashlar::kube {

/// The whole number that a label's value is, else NodeLabel::kNotANumber.
std::int64_t label_number(std::string_view text);
/// The same of an integer as it is printed: no zeros before it, no "-0". Beyond what the decision log may hold it is
/// the bound.
std::int64_t decimal_integer(std::string_view text);

class AskedKeys {
 public:
  explicit AskedKeys(ObjectNames& names) : names_(names) {}

  /// A constraint with these is in use from now on.
  void ask(const Constraint& constraint);
  /// The labels that are asked for, and the node's name as one more; ascending by key.
  std::vector<NodeLabel> labels_of(const Labels& labels, const PooledString& node_name);

  /// Keys that are asked for since the last forget_news(), and were not before.
  std::span<const PooledString> news() const { return news_; }
  void forget_news() { news_.clear(); }
  /// From now on only what is asked for again, and what nodes have: to report that anew costs O(nodes) each time that
  /// somebody asks again. What was asked for before is no news, unless it still was.
  template <class AskAgain, class IsOnNodes>
  void renew(AskAgain&& ask_again, IsOnNodes&& is_on_nodes) {
    const Keys before = std::exchange(keys_, {});
    std::vector<PooledString> untold = std::exchange(news_, {});
    for (const PooledString& key : before)
      if (is_on_nodes(key)) keys_.insert(key);
    ask_again(*this);
    std::erase_if(news_, [&](const PooledString& key) { return before.contains(key); });
    std::erase_if(untold, [&](const PooledString& key) { return !keys_.contains(key); });
    news_.insert(news_.end(), untold.begin(), untold.end());
  }
  std::size_t size() const { return keys_.size(); }  // for tests

 private:
  using Keys = boost::unordered_flat_set<PooledString, std::hash<PooledString>>;

  ObjectNames& names_;
  Keys keys_;
  std::vector<PooledString> news_;
};

}  // namespace ashlar::kube
