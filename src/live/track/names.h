// ObjectNames: the tables between the strings of Kubernetes and the dense ids of the engine. Only nodes and the configuration use up resource columns
// and topology levels, which are few; a resource that only pods name gets a row without a column. A lookup costs one hash; nothing is iterated in
// hash order.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/grown.h"
#include "base/id.h"
#include "kubeclient/pooled_string.h"
#include "model/constraint.h"
#include "model/demand.h"
#include "model/event.h"
#include "state/cluster/topology.h"

namespace ashlar::kube {

/// Names interned in order of appearance.
template <class IdType>
class Interned {
 public:
  IdType of(const PooledString& name) {
    const auto [it, is_new] = ids_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return IdType(it->second);
  }
  IdType find(const PooledString& name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? IdType::none() : IdType(it->second);
  }
  PooledString name(IdType id) const { return value_at(names_, id.row()); }
  std::size_t size() const { return names_.size(); }

 private:
  boost::unordered_flat_map<PooledString, std::uint32_t, std::hash<PooledString>> ids_;
  std::vector<PooledString> names_;
};

/// Rows in use of one table, for keep_only().
class Marks {
 public:
  template <class Tag>
  void set(Id<Tag> id) {
    if (id.is_none()) return;
    if (id.row() >= is_used_.size()) is_used_.resize(id.row() + 1, false);
    is_used_[id.row()] = true;
  }
  bool has(std::size_t row) const { return row < is_used_.size() && is_used_[row]; }

 private:
  std::vector<bool> is_used_;
};

/// Rows by name, with rows given back: the lowest free one is reused next.
template <class IdType, class Name = PooledString, class Hash = std::hash<Name>>
class RowNames {
 public:
  IdType of(const Name& name) {
    const IdType known = find(name);
    return known.is_none() ? add(name) : known;
  }
  IdType find(const Name& name) const {
    const auto it = rows_.find(name);
    return it == rows_.end() ? IdType::none() : IdType(it->second);
  }
  IdType add(const Name& name) {
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
    names_[id.row()] = Name();
    free_.insert(id.value);
  }
  /// Gives back all rows without a mark, and the memory of those at the end.
  void keep_only(const Marks& marks) {
    for (std::uint32_t row = 0; row < names_.size(); ++row)
      if (!marks.has(row) && !free_.contains(row)) remove(IdType(row));
    while (!names_.empty() && !marks.has(names_.size() - 1)) {
      names_.pop_back();
      free_.erase(static_cast<std::uint32_t>(names_.size()));
    }
    names_.shrink_to_fit();
    rows_.rehash(0);
  }
  Name name(IdType id) const { return value_at(names_, id.row()); }
  std::size_t rows() const { return names_.size(); }
  std::size_t size() const { return rows_.size(); }

 private:
  boost::unordered_flat_map<Name, std::uint32_t, Hash> rows_;
  std::vector<Name> names_;
  std::set<std::uint32_t> free_;
};

/// Rows without names (jobs, members). A row given back is reused only after the next settle(), so that the engine's answers about a row are never
/// about its successor.
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

/// One topology level: nested ones come from the configuration, independent ones are added when a gang names a node label that is no level yet.
struct LevelName {
  PooledString name;   ///< as users write it
  PooledString label;  ///< node label key whose values are the domains
};

using AddressId = Id<struct AddressTag>;

class ObjectNames {
 public:
  /// `nested` is outermost first. At most Topology::kLevelsMax levels in all.
  explicit ObjectNames(std::vector<LevelName> nested = {});

  RowNames<NodeId> nodes;
  Interned<QueueId> queues;
  RowNames<LabelKeyId> label_keys;
  RowNames<DeviceClassId> models;
  /// A model that the configuration names: it keeps its row.
  DeviceClassId configured_model(const PooledString& name);

  /// The column of a resource that a node has; none if all columns are taken, see refused_resources().
  ResourceId resource(const PooledString& name);
  /// The column of a resource, or a row without a column if no node has it (yet).
  ResourceId wished_resource(const PooledString& name);
  /// None if it has no column.
  ResourceId find_resource(const PooledString& name) const;
  PooledString resource_name(ResourceId id) const;
  /// Resources of nodes that are not tracked, since all columns are taken; in order of appearance.
  const std::vector<PooledString>& refused_resources() const { return refused_resources_; }
  bool is_refused(const PooledString& resource_name) const;
  std::size_t column_count() const { return resource::kFirstExtended + extended_.size(); }

  LabelId label(const PooledString& key, const PooledString& value);
  /// "key=value"
  std::string label_text(LabelId id) const;
  /// Key of the synthetic label that holds a node's own name.
  const PooledString& node_name_key() const { return node_name_key_; }

  // ---- topology ----------------------------------------------------------------------------------------------------------------------
  std::uint32_t nested_count() const { return nested_; }
  const std::vector<LevelName>& levels() const { return levels_; }
  /// By level name or label key; none if there is none.
  LevelId find_level(const PooledString& name) const;
  /// The label as an independent level, in the given row or, if that is none, in a new one; none beyond the limit.
  LevelId add_level(const PooledString& label, LevelId instead_of);
  bool has_room_for_level() const { return levels_.size() < Topology::kLevelsMax; }
  /// The domain of a value. Nested levels are distinguished by their path (rack r1 of block a is not rack r1 of block b).
  DomainId domain(LevelId level, DomainId parent, const PooledString& value);
  PooledString domain_name(LevelId level, DomainId domain) const;

  // ---- host addresses ----------------------------------------------------------------------------------------------------------------
  std::uint32_t address(const PooledString& host_ip);

  // ---- names that are no longer used --------------------------------------------------------------------------------------------------
  /// What demands, constraints and nodes refer to.
  struct InUse {
    Marks labels, label_keys, models, addresses, resources;
    std::vector<Marks> domains;  ///< by level
    void add(const Demand& demand);
    void add(const Constraint& constraint);
    void add(const NodeFacts& facts);
  };
  /// True if enough names were added since the last keep_only(), or enough users of names removed, to make a search for unused ones worthwhile. Its
  /// cost stays proportional to that of adding and removing.
  bool is_worth_looking(std::size_t users_gone) const { return vocabulary() > kept_ * 2 + kVocabularyMin || users_gone > kept_ / 2 + kUsersGoneMin; }
  /// Gives back the rows of all other labels, label keys, models, host addresses, domains and resources without a
  /// column. Rows of nodes are given back at once, when the node goes.
  void keep_only(const InUse& in_use);
  /// Names of these kinds.
  std::size_t vocabulary() const;

 private:
  static constexpr std::size_t kVocabularyMin = 1024;
  static constexpr std::size_t kUsersGoneMin = 256;
  struct LabelPair {
    PooledString key, value;
    friend bool operator==(const LabelPair&, const LabelPair&) = default;
  };
  struct DomainKey {
    PooledString value;
    DomainId parent;
    friend bool operator==(const DomainKey&, const DomainKey&) = default;
  };
  struct PairHash {
    std::size_t operator()(const LabelPair& k) const { return k.key.hash() * 31 + k.value.hash(); }
    std::size_t operator()(const DomainKey& k) const { return k.value.hash() * 31 + k.parent.value; }
  };
  std::uint32_t nested_ = 0;
  std::vector<LevelName> levels_;
  Interned<ResourceId> extended_;
  RowNames<ResourceId> absent_;  ///< resources that pods request and no node has: rows from kColumnsMax on
  std::vector<PooledString> refused_resources_;
  std::uint32_t configured_models_ = 0;
  RowNames<AddressId> addresses_;
  RowNames<LabelId, LabelPair, PairHash> labels_;
  std::vector<RowNames<DomainId, DomainKey, PairHash>> domains_;  ///< by level
  std::size_t kept_ = 0;
  PooledString node_name_key_;
};

}  // namespace ashlar::kube
