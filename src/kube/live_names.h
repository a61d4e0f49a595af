// Which row is this name, and which name has this row? LiveNames: the side tables between the strings of Kubernetes and the dense ids of the engine.
// Nodes take the lowest free row, so that rows stay dense while nodes come and go; queues, resources, labels, models, levels and domains are
// interned for good (their number is bounded by the cluster's vocabulary). Lookups cost one hash of a pointer; nothing is iterated in hash order.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "kube/text.h"
#include "model/demand.h"
#include "state/topology.h"

namespace ashlar::kube {

/// Names interned in order of appearance.
template <class IdType>
class Interned {
 public:
  IdType of(const Text& name) {
    const auto [it, is_new] = ids_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return IdType(it->second);
  }
  IdType find(const Text& name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? IdType::none() : IdType(it->second);
  }
  Text name(IdType id) const { return id.row() < names_.size() ? names_[id.row()] : Text(); }
  std::size_t size() const { return names_.size(); }

 private:
  boost::unordered_flat_map<Text, std::uint32_t, std::hash<Text>> ids_;
  std::vector<Text> names_;
};

/// Rows by name where rows are given back: the lowest free one is used next.
template <class IdType>
class RowNames {
 public:
  IdType find(const Text& name) const {
    const auto it = rows_.find(name);
    return it == rows_.end() ? IdType::none() : IdType(it->second);
  }
  IdType add(const Text& name) {
    std::uint32_t row = static_cast<std::uint32_t>(names_.size());
    if (free_.empty()) {
      names_.push_back(name);
    } else {
      row = *free_.begin();
      free_.erase(free_.begin());
      names_[row] = name;
    }
    rows_.emplace(name, row);
    return IdType(row);
  }
  void remove(IdType id) {
    rows_.erase(names_[id.row()]);
    names_[id.row()] = Text();
    free_.insert(id.value);
  }
  Text name(IdType id) const { return id.row() < names_.size() ? names_[id.row()] : Text(); }
  std::size_t rows() const { return names_.size(); }
  std::size_t size() const { return rows_.size(); }

 private:
  boost::unordered_flat_map<Text, std::uint32_t, std::hash<Text>> rows_;
  std::vector<Text> names_;
  std::set<std::uint32_t> free_;
};

/// Rows without names (jobs, members). A row given back is used again only after the next settle(), so that the engine's answers about a row
/// are never about its successor.
template <class IdType>
class Rows {
 public:
  IdType add() {
    if (free_.empty()) return IdType(next_++);
    const auto first = free_.begin();
    const IdType id(*first);
    free_.erase(first);
    return id;
  }
  void remove(IdType id) { leaving_.push_back(id.value); }
  void settle() {
    free_.insert(leaving_.begin(), leaving_.end());
    leaving_.clear();
  }
  std::size_t size() const { return next_ - free_.size() - leaving_.size(); }

 private:
  std::uint32_t next_ = 0;
  std::set<std::uint32_t> free_;
  std::vector<std::uint32_t> leaving_;
};

/// One topology level: nested ones come from the configuration, free-standing ones are added when a gang names a label that is no level yet.
struct LiveLevel {
  Text name;   ///< as users say it
  Text label;  ///< node label key whose values are the domains
};

class LiveNames {
 public:
  /// `nested` is outermost first. At most Topology::kLevelsMax levels in all.
  explicit LiveNames(std::vector<LiveLevel> nested = {});

  RowNames<NodeId> nodes;
  Interned<QueueId> queues;
  Interned<LabelKeyId> label_keys;
  Interned<ModelId> models;

  /// The column of a resource; none where all columns are taken.
  ResourceId resource(const Text& name);
  ResourceId find_resource(const Text& name) const;
  Text resource_name(ResourceId id) const;

  LabelId label(const Text& key, const Text& value);
  /// "key=value"
  std::string label_text(LabelId id) const;
  /// Key of the synthetic label that holds a node's own name.
  const Text& node_name_key() const { return node_name_key_; }

  // ---- topology ----------------------------------------------------------------------------------------------------------------------
  std::uint32_t nested_count() const { return nested_; }
  const std::vector<LiveLevel>& levels() const { return levels_; }
  /// By level name or label key; none if there is none.
  LevelId find_level(const Text& name) const;
  /// The level of this label, added as a free-standing one where it is new; none beyond the limit. `is_new` tells the caller to announce it.
  LevelId level_of_label(const Text& label, bool& is_new);
  /// The domain of a value. Nested levels are told apart by their path (rack r1 of block a is not rack r1 of block b).
  DomainId domain(LevelId level, DomainId parent, const Text& value);
  Text domain_name(LevelId level, DomainId domain) const;

  // ---- host addresses ----------------------------------------------------------------------------------------------------------------
  std::uint32_t address(const Text& host_ip);

 private:
  struct PairKey {
    Text key, value;
    std::uint32_t level = 0, parent = 0;
    friend bool operator==(const PairKey&, const PairKey&) = default;
  };
  struct PairHash {
    std::size_t operator()(const PairKey& k) const { return (k.key.hash() * 31 + k.value.hash()) * 31 + k.level * 0x9e3779b97f4a7c15ull + k.parent; }
  };
  std::uint32_t nested_ = 0;
  std::vector<LiveLevel> levels_;
  Interned<ResourceId> extended_;
  Interned<Id<struct AddressTag>> addresses_;
  boost::unordered_flat_map<PairKey, LabelId, PairHash> labels_;
  std::vector<std::pair<Text, Text>> label_texts_;
  boost::unordered_flat_map<PairKey, DomainId, PairHash> domains_;
  std::vector<std::vector<Text>> domain_names_;  ///< [level][domain]
  Text node_name_key_;
};

}  // namespace ashlar::kube
