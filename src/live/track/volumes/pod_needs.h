// pod_needs: what the volumes of a pod ask of its node and of its neighbours, equal to kube-scheduler 1.37
// (VolumeRestrictions, VolumeBinding, VolumeZone, NodeVolumeLimits): why it cannot be placed at all, else lists of
// terms about nodes, and the volumes that CSI drivers will attach. Cost: O(volumes); see LateChoices for unbound
// claims.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "live/track/volumes/late_claims.h"
#include "live/track/volumes/node_terms.h"
#include "live/track/volumes/volume_book.h"

namespace ashlar::kube {

/// The pod whose volumes they are.
struct VolumeOwner {
  PooledString ns, name, uid;
  const PodVolumes& volumes;
  /// A commit carries it to its place, and looks at the volumes itself: it is evaluated anew when it waits again.
  bool has_place = false;
  LateChoices& late;
  const std::set<std::string>& accepted_fields;  ///< see TrackerOptions
  /// Whether a pod that has a node uses the claim, so that this one may not: asked for claims of one pod only.
  std::function<bool(const PooledString& claim)> is_taken;
  /// Calls back with name and labels of each node.
  LateChoices::EachNode each_node;
};

struct VolumeNeeds {
  Hold hold;
  std::shared_ptr<const VolumeTerms> terms;  ///< null: every node will do
  std::vector<AttachedVolume> attached;      ///< each once
  std::vector<VolumeTopic> topics;           ///< what all this depends on, each once
  bool has_late = false;                     ///< claims are bound when it is placed
  std::string unmet;                         ///< the first claim for which there is no volume anywhere
};

VolumeNeeds volume_needs(const VolumeBook& book, const VolumeOwner& owner);
/// The claims of the pod that are bound when it is placed. Pointers are valid until the book changes.
std::vector<LateClaim> late_claims(const VolumeBook& book, const VolumeOwner& owner);

}  // namespace ashlar::kube
