// selecting_objects: what is kept of Services and of controllers of pods: by which labels they select pods.
#pragma once

#include <cstdint>

#include "kubeclient/objects.h"

namespace ashlar::kube {

/// One such object; `kKind` makes four types of it.
template <SelectingKind kOf>
struct SelectingObject {
  static constexpr SelectingKind kKind = kOf;
  PooledString ns, name, uid;
  std::uint64_t resource_version = 0;
  LabelSelector selector;                ///< not present: it selects no pods, or could not be read
  PooledString problem, unknown_fields;  ///< as of Pod
  friend bool operator==(const SelectingObject&, const SelectingObject&) = default;
};
using Service = SelectingObject<SelectingKind::kService>;
using ReplicationController = SelectingObject<SelectingKind::kReplicationController>;
using ReplicaSet = SelectingObject<SelectingKind::kReplicaSet>;
using StatefulSet = SelectingObject<SelectingKind::kStatefulSet>;

}  // namespace ashlar::kube
