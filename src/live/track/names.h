// ObjectNames: the tables between the strings of Kubernetes and the dense ids of the engine. Only nodes and the
// configuration use up resource columns and topology levels, which are few; a resource that only pods name gets a row
// without a column. A lookup costs one hash; nothing is iterated in hash order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "kubeclient/pooled_string.h"
#include "live/track/names_journal.h"
#include "model/constraint.h"
#include "model/demand.h"
#include "model/event.h"
#include "names/interned.h"
#include "names/model_names.h"
#include "names/row_names.h"
#include "state/cluster/topology.h"
#include "text/stated_classes.h"

namespace ashlar::kube {

template <class IdType, class Name = PooledString, class Hash = NameHash<Name>>
using NameRows = JournaledNames<RowNames<IdType, Name, Hash>, IdType, Name, Marks>;

/// One topology level: nested ones come from the configuration, independent ones are added when a gang names a node
/// label that is no level yet.
struct LevelName {
  PooledString name;   ///< as users write it
  PooledString label;  ///< node label key whose values are the domains
};

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kGpuMilliResource = "ashlar.dev/gpu-milli";

using AddressId = Id<struct AddressTag>;
using RefusedId = Id<struct RefusedTag>;

class ObjectNames {
 public:
  /// `nested` is outermost first. At most Topology::kLevelsMax levels in all.
  explicit ObjectNames(std::vector<LevelName> nested = {});

  NameRows<NodeId> nodes;
  Interned<QueueId, PooledString> queues;
  NameRows<LabelKeyId> label_keys;
  NameRows<DeviceClassId> models;
  /// A class that the configuration names, by its name or that of a model: it keeps its row.
  DeviceClassId configured_model(const PooledString& name);
  /// The classes of the configuration, before anything names their models.
  DeviceClassDefined define_class(const StatedClass& stated);
  /// The class of that name, or that lists a model of that name.
  DeviceClassId device_class(const PooledString& name);
  bool is_defined(DeviceClassId id) const { return id.value < defined_classes_; }
  std::uint32_t defined_classes() const { return defined_classes_; }  ///< they have the first rows
  Interned<CapabilityId, PooledString> capabilities;                  ///< those of the classes
  ModelNames<PooledString> class_models;                              ///< the same

  /// The column of a resource that a node has; none if all columns are taken, see refused_resources(). Two are kept for
  /// GPUs, whatever resources the first node has.
  ResourceId resource(const PooledString& name);
  /// The column of a resource, or a row without a column if no node has it (yet).
  ResourceId wished_resource(const PooledString& name);
  /// None if it has no column.
  ResourceId find_resource(const PooledString& name) const;
  PooledString resource_name(ResourceId id) const;
  /// What people read, from now on, of a resource whose name is not theirs.
  void say_resource(ResourceId id, const std::string& words);
  /// Its words, else its name.
  PooledString resource_text(ResourceId id) const;
  /// Resources of nodes that are not tracked, since all columns are taken; in order of appearance. Beyond this many
  /// they are like those that no node has: a node may list tens of thousands, and others at each report.
  static constexpr std::size_t kRefusedMax = 1024;
  const std::vector<PooledString>& refused_resources() const { return refused_resources_.all(); }
  bool is_refused(const PooledString& resource_name) const { return !refused_resources_.find(resource_name).is_none(); }
  std::size_t column_count() const { return resource::kFirstExtended + extended_.size(); }

  RowNames<NamespaceId, PooledString> namespaces;
  LabelId label(const PooledString& key, const PooledString& value);
  /// "key=value"
  std::string label_text(LabelId id) const;
  /// Key of the synthetic label that holds a node's own name; no label of a node has it.
  const PooledString& node_name_key() const { return node_name_key_; }

  // ---- topology -----------------------------------------------------------------------------------------------------
  std::uint32_t nested_count() const { return nested_; }
  const std::vector<LevelName>& levels() const { return levels_; }
  /// By level name or label key; none if there is none.
  LevelId find_level(const PooledString& name) const;
  /// The label as an independent level, in the given row or, if that is none, in a new one; none beyond the limit.
  LevelId add_level(const PooledString& label, LevelId instead_of);
  bool has_room_for_level() const { return levels_.size() < Topology::kLevelsMax; }
  /// The domain of a value. Nested levels are distinguished by their path (rack r1 of block a is not rack r1 of block
  /// b).
  DomainId domain(LevelId level, DomainId parent, const PooledString& value);
  PooledString domain_name(LevelId level, DomainId domain) const;

  // ---- host addresses -----------------------------------------------------------------------------------------------
  std::uint32_t address(const PooledString& host_ip);

  // ---- names that are no longer used --------------------------------------------------------------------------------
  /// What demands, constraints and nodes refer to.
  struct InUse {
    Marks labels, label_keys, models, addresses, resources, namespaces;
    std::vector<Marks> domains;  ///< by level
    void add(const Demand& demand);
    void add(const Constraint& constraint);
    void add(const NodeFacts& facts);
    void add(const LabelSet& set);
    void add(const PodSelector& selector);
    void add(const std::vector<PodLabel>& labels);
    void add(const LabelExpression& expression);
  };
  /// True if enough names were added since the last keep_only(), or enough users of names removed, to make a search for
  /// unused ones worthwhile. Its cost stays proportional to that of adding and removing.
  bool is_worth_looking(std::size_t users_gone) const {
    return vocabulary() > kept_ * 2 + kVocabularyMin || users_gone > kept_ / 2 + kUsersGoneMin;
  }
  /// Gives back the rows of all other labels, label keys, models, host addresses, domains and resources without a
  /// column. Rows of nodes are given back at once, when the node goes.
  void keep_only(const InUse& in_use);
  /// Names of these kinds.
  std::size_t vocabulary() const;

  // ---- a copy for readers, which has all names but those of host addresses ------------------------------------------
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
  /// What is new since changes were last taken.
  struct Changes {
    NameRows<NodeId>::Changes nodes;
    NameRows<LabelKeyId>::Changes label_keys;
    NameRows<DeviceClassId>::Changes models;
    NameRows<ResourceId>::Changes absent;
    NameRows<LabelId, LabelPair, PairHash>::Changes labels;
    std::vector<NameRows<DomainId, DomainKey, PairHash>::Changes> domains;  ///< by level
    /// those at the end of their tables
    std::vector<PooledString> queues, extended, refused_resources, capabilities;
    std::map<std::uint32_t, PooledString> resource_words;  ///< by row, all of them; empty: unchanged
    std::vector<LevelName> levels;                         ///< all of them; empty: unchanged
    std::uint32_t nested = 0;                              ///< with `levels`
    std::uint32_t defined_classes = 0;
  };
  void start_journal();
  void stop_journal();
  bool has_changes() const;
  Changes take_changes();
  void put(Changes&& changes);

 private:
  static constexpr std::size_t kVocabularyMin = 1024;
  static constexpr std::size_t kUsersGoneMin = 256;
  std::uint32_t nested_ = 0;
  std::vector<LevelName> levels_;
  Interned<ResourceId, PooledString> extended_;
  NameRows<ResourceId> absent_;  ///< resources that pods request and no node has: rows from kColumnsMax on
  Interned<RefusedId, PooledString> refused_resources_;
  std::uint32_t configured_models_ = 0, defined_classes_ = 0;
  RowNames<AddressId, PooledString> addresses_;
  NameRows<LabelId, LabelPair, PairHash> labels_;
  std::vector<NameRows<DomainId, DomainKey, PairHash>> domains_;  ///< by level
  std::size_t kept_ = 0;
  PooledString node_name_key_;
  std::map<std::uint32_t, PooledString> resource_words_;  ///< by row
  bool is_journaled_ = false, are_levels_new_ = false, are_words_new_ = false;
  /// names of these that were taken as changes
  std::size_t queues_taken_ = 0, extended_taken_ = 0, refused_taken_ = 0, capabilities_taken_ = 0;
};

}  // namespace ashlar::kube
