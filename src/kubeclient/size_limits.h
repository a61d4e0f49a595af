// size_limits: how much of one pod is kept. The API server stores pods of more than a megabyte, tenants write them, and
// every label value that a pod names costs some 200 bytes here: without limits, a few hundred pods use up the memory.
#pragma once

#include <cstddef>

#include "kubeclient/pod_builder.h"

namespace ashlar::kube {

/// Bytes of the keys and values of a pod's placement rules together, and of its labels; each key, value and term counts
/// kEntryBytes more. A node affinity that lists 1,000 host names of 40 characters is within it.
inline constexpr std::size_t kPodBytesMax = 64u << 10;  // for tests
inline constexpr std::size_t kEntryBytes = 16;          // for tests
/// Terms of affinity and anti-affinity of pods and of topology spread, required and preferred together: each is counted
/// for all pods that it means, those of other tenants too.
inline constexpr std::size_t kPodTermsMax = 64;  // for tests
/// Terms of node affinity, their requirements and those of the node selector together; a requirement may name as many
/// values as there is room for.
inline constexpr std::size_t kPodNodePartsMax = 256;  // for tests
/// Names of extended resources that a pod requests: twice what Ashlar tracks in a whole cluster.
inline constexpr std::size_t kPodResourcesMax = 128;  // for tests

/// Images that a pod names, names of images that a node reports (a kubelet reports 50 images with 5 names each), and
/// the bytes of such a name. What exceeds this is not scored.
inline constexpr std::size_t kPodImagesMax = 1024, kNodeImagesMax = 256, kImageNameBytesMax = 512;
/// Bytes of the names of a waiting pod's images together, each kEntryBytes more than its length. What exceeds this
/// counts as images that are nowhere.
inline constexpr std::size_t kPodImageBytesMax = 16u << 10;  // for tests
/// Bytes of an image as kept: no node has a larger one.
inline constexpr std::int64_t kImageBytesMax = std::int64_t{1} << 46;

/// Claims and disks that a pod names; no node attaches as many.
inline constexpr std::size_t kPodVolumesMax = 512;  // for tests

/// Leaves out what exceeds the limits. A waiting pod then names the field in PodRules::too_large. Of a bound pod only
/// what others must respect matters, and it fails closed: anti-affinity counts as matching every pod, and a pod whose
/// ports or resources are left out has a problem and lacks amounts.
void keep_within_limits(PodBuilder& builder);

}  // namespace ashlar::kube
