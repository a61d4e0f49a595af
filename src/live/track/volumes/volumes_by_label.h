// volumes_by_label: which of a list of volumes a node's labels allow, found by those labels: a local volume names its
// host, so that a node sees its own few of many thousands. Of the labels that a volume's terms list, the one that tells
// it apart from most others counts, in whatever order they are written.
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
  VolumesByLabel() = default;
  /// Where each volume of the list can be used.
  explicit VolumesByLabel(std::span<const AnyOf* const> volumes);
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
  using Counts = boost::unordered_flat_map<Label, std::size_t, Hash>;
  static Counts count_labels(std::span<const AnyOf* const> volumes);
  /// The expression of the term that lists the values fewest terms list, of one of these labels (none given: of any);
  /// nullptr: there is none.
  static const Requirement* rarest(const NodeTerm& term, const Counts& counts, std::span<const PooledString> keys);
  void choose_keys(std::span<const AnyOf* const> volumes, const Counts& counts);
  void add(const AnyOf& nodes, const Counts& counts);

  boost::unordered_flat_map<Label, Positions, Hash> with_label_;
  std::vector<PooledString> keys_;  ///< of these labels
  Positions anywhere_;              ///< not told apart by labels
  std::uint32_t count_ = 0;
};

}  // namespace ashlar::kube
