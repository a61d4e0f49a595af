// WatchedChange: one thing that the watches report to a leader: a change of an object, or why a kind of objects is not
// known.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "kubeclient/pod_group_api.h"
#include "kubeclient/reflector.h"

namespace ashlar::kube {

/// Which version of PodGroup is written, and why none can be read; empty: one can.
struct PodGroupsNote {
  PodGroupVersion version = PodGroupVersion::kNone;
  std::string problem;
};

/// Why PriorityClasses cannot be listed; empty: they can.
struct PriorityClassesNote {
  std::string problem;
};

/// The same of a kind of objects that tells where volumes can be used.
struct VolumesNote {
  std::string_view resource;
  std::string problem;
};

using WatchedChange =
    std::variant<Change<Namespace>, Change<PriorityClass>, Change<DeviceClassObject>, Change<QueueObject>,
                 Change<PodGroup>, Change<PersistentVolumeClaim>, Change<PersistentVolume>, Change<StorageClass>,
                 Change<CsiNode>, Change<CsiDriver>, Change<CsiStorageCapacity>, Change<VolumeAttachment>,
                 Change<Service>, Change<ReplicationController>, Change<ReplicaSet>, Change<StatefulSet>, Change<Node>,
                 Change<Pod>, PodGroupsNote, PriorityClassesNote, VolumesNote>;
using OnWatched = std::function<void(WatchedChange&&)>;

}  // namespace ashlar::kube
