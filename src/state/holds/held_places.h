// HeldPlaces: where the members of holds are that yield to some jobs, by node, and which of them are lifted.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/id.h"

namespace ashlar {

struct HeldPlace {
  NodeId node;
  MemberId member;
  friend auto operator<=>(const HeldPlace&, const HeldPlace&) = default;
};

class HeldPlaces {
 public:
  std::span<const HeldPlace> all() const { return places_; }
  std::span<const HeldPlace> on(NodeId node) const {
    return {std::ranges::lower_bound(places_, node, {}, &HeldPlace::node),
            std::ranges::upper_bound(places_, node, {}, &HeldPlace::node)};
  }
  bool is_any_on(NodeId node) const { return !places_.empty() && !on(node).empty(); }
  /// Ascending.
  std::vector<NodeId> nodes() const {
    std::vector<NodeId> nodes;
    for (const HeldPlace& place : places_)
      if (nodes.empty() || nodes.back() != place.node) nodes.push_back(place.node);
    return nodes;
  }
  void add(const HeldPlace& place) { places_.insert(std::ranges::lower_bound(places_, place), place); }
  void remove(const HeldPlace& place) {
    const auto [first, last] = std::equal_range(places_.begin(), places_.end(), place);
    places_.erase(first, last);
  }
  void clear() {
    places_.clear();
    lifted_.clear();
  }

  /// A lifted one has its place but keeps nothing, until it is put back as often as it was lifted.
  bool is_lifted(MemberId member) const { return !lifted_.empty() && lifted_.contains(member); }
  void lift(MemberId member) { ++lifted_[member]; }
  void put_back(MemberId member) {
    if (const auto it = lifted_.find(member); it != lifted_.end() && --it->second == 0) lifted_.erase(it);
  }

 private:
  std::vector<HeldPlace> places_;             ///< ascending
  std::map<MemberId, std::uint32_t> lifted_;  ///< how often
};

}  // namespace ashlar
