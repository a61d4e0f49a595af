// VolumeBook: claims, volumes, storage classes and what CSI drivers say, by name, and which pods depend on which of
// them. A change marks the pods that depend on it, O(these pods), and the class whose volumes it concerns: those that
// are offered, available and without a claim. About 500 bytes an object.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubeclient/reflector.h"
#include "kubeclient/volumes/volume_objects.h"
#include "live/track/pod_table.h"

namespace ashlar::kube {

/// What a pod may depend on: an object; for kVolumes the volumes that a class has for claims, offered or to be made;
/// for kRequest the nodes where claims that ask for the same are met, see LateChoices; for kNodes the labels of any
/// node.
struct VolumeTopic {
  enum class Kind : std::uint8_t { kClaim, kVolume, kClass, kVolumes, kRequest, kDriver, kNodes, kAll };
  Kind kind = Kind::kClaim;
  PooledString ns, name;
  std::uint64_t number = 0;  ///< of a kRequest, `name` is its class
  friend bool operator==(const VolumeTopic&, const VolumeTopic&) = default;
};

class VolumeBook {
 public:
  // Each change of an object.
  void take(Change<PersistentVolumeClaim>&& change);
  void take(Change<PersistentVolume>&& change);
  void take(Change<StorageClass>&& change);
  void take(Change<CsiNode>&& change);
  void take(Change<CsiDriver>&& change);
  void take(Change<CsiStorageCapacity>&& change);
  void take(Change<VolumeAttachment>&& change);
  /// Why a kind of these objects cannot be listed now; empty: it can. Known ones stay as they are.
  void note_problem(std::string_view resource, const std::string& problem);
  /// "persistentvolumes: HTTP 403 ..."; empty if all can be listed.
  std::string problem() const;

  // ---- reading: nullptr if there is none ----------------------------------------------------------------------------
  /// As assumed, see assume(), else as the API server has it.
  const PersistentVolumeClaim* claim(const PooledString& ns, const PooledString& name) const {
    const auto* assumed = find(assumed_claims_, std::pair(ns, name));
    return assumed != nullptr ? &assumed->object : served_claim(ns, name);
  }
  const PersistentVolume* volume(const PooledString& name) const {
    const auto* assumed = find(assumed_volumes_, name);
    return assumed != nullptr ? &assumed->object : served_volume(name);
  }
  /// As the API server has it.
  const PersistentVolumeClaim* served_claim(const PooledString& ns, const PooledString& name) const {
    return find(claims_, std::pair(ns, name));
  }
  const PersistentVolume* served_volume(const PooledString& name) const { return find(volumes_, name); }
  const StorageClass* storage_class(const PooledString& name) const { return find(classes_, name); }
  const CsiNode* csi_node(const PooledString& name) const { return find(csi_nodes_, name); }
  const CsiDriver* driver(const PooledString& name) const { return find(drivers_, name); }
  /// Those that the API server offers to claims of the class, assumed or not, in the order of their names.
  std::vector<const PersistentVolume*> offered_volumes(const PooledString& class_name) const;
  /// Whether it is offered and nobody has taken it.
  bool is_offered(const PooledString& volume_name) const { return offered_class(volume(volume_name)).has_value(); }
  bool is_offered_by_server(const PooledString& volume_name) const {
    return offered_class(served_volume(volume_name)).has_value();
  }
  /// Those that name the claim, whatever their class, in the order of their names.
  std::vector<const PersistentVolume*> volumes_of_claim(const PersistentVolumeClaim& claim) const;
  std::vector<const CsiStorageCapacity*> capacities_of_class(const PooledString& name) const;
  /// Of the node of that name.
  std::vector<const VolumeAttachment*> attachments_on(const PooledString& node) const;
  /// Drivers that limit their volumes on some node, in the order in which they were first seen to; limits of others
  /// than the first 32 are not kept, since each is looked for on all nodes.
  static constexpr std::size_t kLimitedDriversMax = 32;
  const std::vector<PooledString>& limited_drivers() const { return limited_drivers_; }
  /// The first one whose limits are not kept; empty: there is none.
  const PooledString& first_unlimited() const { return first_unlimited_; }

  // ---- what decisions have taken and the API server does not say yet ------------------------------------------------
  /// The volume is the claim's, or the claim's volume is made for the node, until the object changes or it is restored.
  /// Returns a number for that, 0 where it is so already: what somebody has assumed is not taken away by another.
  std::uint64_t assume(const PooledString& volume, const PersistentVolumeClaim& claim);
  std::uint64_t assume_node(const PersistentVolumeClaim& claim, const PooledString& node);
  /// Nothing, if it is not assumed by that number any more.
  void restore_volume(const PooledString& volume, std::uint64_t taken_as);
  void restore_claim(const PooledString& ns, const PooledString& name, std::uint64_t taken_as);

  /// Numbers that only grow.
  struct ClassEditions {
    std::uint64_t offers = 0;    ///< a volume of the class is offered anew, or an offered one has changed
    std::uint64_t makes = 0;     ///< where new volumes can be made
    std::uint64_t removals = 0;  ///< an offered volume was taken or withdrawn, or is given back
    friend bool operator==(const ClassEditions&, const ClassEditions&) = default;
  };
  ClassEditions editions(const PooledString& class_name) const;
  /// Changes with the labels of nodes, and with nodes.
  std::uint64_t nodes_edition() const { return nodes_edition_; }

  // ---- who depends on what ------------------------------------------------------------------------------------------
  /// From now on the pod depends on these and on nothing else; each once. None: it is forgotten.
  void depend(PodSlot slot, std::vector<VolumeTopic> topics);
  const std::vector<PodSlot>& dependents(const VolumeTopic& topic) const;
  /// What the topic says has changed.
  void touch(const VolumeTopic& topic);
  /// The pod looks again, if it depends on anything.
  void touch_pod(PodSlot slot) {
    if (topics_.contains(slot)) news_.insert(slot);
  }

  // ---- news since they were last taken ------------------------------------------------------------------------------
  bool has_news() const { return !news_.empty() || !node_news_.empty() || !class_news_.empty(); }
  /// Classes that have other volumes for claims.
  std::vector<PooledString> take_classes();
  /// Pods of which something that they depend on has changed, ascending.
  std::vector<PodSlot> take_pods();
  /// Names of nodes of which drivers say something else, or volumes are attached to others.
  std::vector<PooledString> take_nodes();
  void touch_node(const PooledString& name) { node_news_.insert(name); }

  std::size_t size() const { return claims_.size() + volumes_.size(); }  // for tests
  std::size_t topics() const { return dependents_.size(); }              // for tests
  std::uint64_t pods_touched() const { return pods_touched_; }           // for tests, in total

 private:
  template <class Value>
  using ByName = boost::unordered_flat_map<PooledString, Value, std::hash<PooledString>>;
  using Names = boost::unordered_flat_set<PooledString, std::hash<PooledString>>;
  using FullName = std::pair<PooledString, PooledString>;
  struct FullNameHash {
    std::size_t operator()(const FullName& n) const { return n.first.hash() * 31 + n.second.hash(); }
  };
  struct TopicHash {
    std::size_t operator()(const VolumeTopic& t) const {
      return ((t.ns.hash() * 31 + t.name.hash()) * 31 + t.number) * 8 + static_cast<std::size_t>(t.kind);
    }
  };
  template <class Map, class Key>
  static const typename Map::mapped_type* find(const Map& map, const Key& key) {
    const auto it = map.find(key);
    return it == map.end() ? nullptr : &it->second;
  }
  /// The class whose claims may take the volume; none if it is not offered.
  static std::optional<PooledString> offered_class(const PersistentVolume* volume);
  void note_limits(const CsiNode& node);
  void touch_named_claim(const PersistentVolume* volume);
  void forget_assumed(const PooledString& volume);
  void touch_makes(const std::optional<PooledString>& class_name);
  void touch_volumes(const PooledString& class_name);
  void count_request(const VolumeTopic& topic, bool is_added);

  boost::unordered_flat_map<FullName, PersistentVolumeClaim, FullNameHash> claims_;
  template <class T>
  struct Assumed {
    T object;
    std::uint64_t number = 0;
  };
  boost::unordered_flat_map<FullName, Assumed<PersistentVolumeClaim>, FullNameHash> assumed_claims_;
  ByName<PersistentVolume> volumes_;
  ByName<Assumed<PersistentVolume>> assumed_volumes_;
  std::uint64_t assumptions_ = 0;  ///< made, in total
  ByName<StorageClass> classes_;
  ByName<CsiNode> csi_nodes_;
  ByName<CsiDriver> drivers_;
  boost::unordered_flat_map<FullName, CsiStorageCapacity, FullNameHash> capacities_;
  ByName<VolumeAttachment> attachments_;
  ByName<Names> offered_by_class_, attachments_by_node_;
  ByName<boost::unordered_flat_set<FullName, FullNameHash>> capacities_by_class_;
  std::vector<PooledString> limited_drivers_;
  PooledString first_unlimited_;
  std::map<std::string, std::string, std::less<>> problems_;  ///< by resource
  boost::unordered_flat_map<VolumeTopic, std::vector<PodSlot>, TopicHash> dependents_;
  boost::unordered_flat_map<PodSlot, std::vector<VolumeTopic>> topics_;
  boost::unordered_flat_set<PodSlot> news_;
  /// All pods that depend on these are among the news: claims of thousands of pods change with each of them.
  boost::unordered_flat_set<VolumeTopic, TopicHash> touched_;
  std::uint64_t pods_touched_ = 0;
  Names node_news_, class_news_;
  ByName<std::size_t> requested_;                      ///< pods that depend on a request to the class
  ByName<Names> volumes_by_claim_, assumed_by_claim_;  ///< "ns/name" of the claim that they name
  ByName<ClassEditions> editions_;
  std::uint64_t nodes_edition_ = 0;
  std::uint64_t driver_edition_ = 0;  ///< of what CSIDrivers say
};

}  // namespace ashlar::kube
