// volumes_by_label: which of a list of volumes a node's labels allow, found by those labels: a local volume names its
// host, so that a node sees its own few of many thousands.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "live/track/volumes/node_terms.h"

namespace ashlar::kube {

class VolumesByLabel {
 public:
  /// The next volume of the list, and where it can be used.
  void add(const AnyOf& nodes);
  std::uint32_t size() const { return count_; }
  /// Calls `visit(position)`, ascending, for volumes that a node of these labels may use (it must be asked still: one
  /// expression has been compared), and for no other that names labels, until it returns true.
  void each(const Labels& labels, const std::function<bool(std::uint32_t)>& visit) const;

 private:
  struct Label {
    PooledString key, value;
    friend bool operator==(const Label&, const Label&) = default;
  };
  struct Hash {
    std::size_t operator()(const Label& label) const { return label.key.hash() * 31 + label.value.hash(); }
  };
  using Positions = std::vector<std::uint32_t>;
  /// The first expression of the term that lists values of a label; nullptr: there is none, or a label too many.
  const Requirement* listed(const NodeTerm& term);

  boost::unordered_flat_map<Label, Positions, Hash> with_label_;
  std::vector<PooledString> keys_;  ///< of these labels
  Positions anywhere_;              ///< not told apart by labels
  std::uint32_t count_ = 0;
};

}  // namespace ashlar::kube
