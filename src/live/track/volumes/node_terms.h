// node_terms: where a volume can be used, as lists of terms about nodes' labels of which one must hold, equal to
// kube-scheduler's VolumeBinding and VolumeZone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube {

/// Terms of which one must hold; nothing: every node will do. An empty list allows none.
using AnyOf = std::optional<std::vector<NodeTerm>>;

/// Of all volumes of a pod: each node is compared with each term.
inline constexpr std::size_t kPodTermsMax = 1024;

/// All lists must hold. Pods with equal ones share the object.
struct VolumeTerms {
  std::vector<std::vector<NodeTerm>> lists;
  std::uint64_t hash = 0;  ///< of the lists
};

std::shared_ptr<const VolumeTerms> terms_of(std::vector<std::vector<NodeTerm>> lists);

/// The nodes where the volume's affinity holds; of a plugin that a CSI driver has taken over it may name the driver's
/// topology, on nodes that say so.
AnyOf affinity_terms(const PersistentVolume& volume);
/// The lists of a bound volume's labels of zone and region: nodes without any such label will do too.
std::vector<std::vector<NodeTerm>> zone_terms(const PersistentVolume& volume);
/// The nodes where the class allows a new volume.
AnyOf topology_terms(const StorageClass& storage_class);
/// The nodes that the selector means; a selector that is absent means none.
AnyOf selector_terms(const LabelSelector& selector);
/// The nodes on which a driver runs that says that pods with its volumes must not go elsewhere. `is_migrated`: only
/// where CSI drivers are known at all.
std::vector<NodeTerm> driver_terms(const PooledString& driver, bool is_migrated);
/// Nodes of these names.
NodeTerm named_nodes(std::vector<PooledString> names);

/// Nodes where one of the two holds.
AnyOf either(AnyOf a, AnyOf b);
/// Nodes where both hold, as one list; nullopt inside the result's optional: more than `terms_max` terms.
std::optional<AnyOf> both(const AnyOf& a, const AnyOf& b, std::size_t terms_max);
/// The same nodes by fewer terms: those that differ only in the values which they list of one label are made one.
/// Volumes of single nodes come to a term for each zone, or one. Sorted. O(terms x labels x log terms).
void merge_terms(std::vector<NodeTerm>& terms);
/// Whether one of the terms holds for a node of these labels, its name among them.
bool holds(const AnyOf& terms, const Labels& labels);

}  // namespace ashlar::kube
