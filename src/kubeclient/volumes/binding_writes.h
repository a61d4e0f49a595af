// binding_writes: how a claim and a volume are bound: paths and merge patches, and what an answer in JSON shows. All
// patches carry uid and version of the object, so that nothing of others is overwritten.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube {

std::string volume_path(const PooledString& name);
std::string claim_path(const PooledString& ns, const PooledString& name);

/// The object whose version a patch names.
struct ObjectVersion {
  PooledString uid;
  std::string version;
};
/// Names a claim in a volume. `by_controller`: nobody bound the two beforehand.
std::string bind_volume_patch(const ObjectVersion& volume, const PersistentVolumeClaim& claim, bool by_controller);
/// Names the node that the claim's volume is to be made for.
std::string select_node_patch(const ObjectVersion& claim, const PooledString& node);

/// Who is bound to whom, of a claim or a volume.
struct BindingShown {
  ObjectVersion object;
  bool has_claim = false;  ///< spec.claimRef
  std::string claim_ns, claim_name, claim_uid;
  bool has_node = false;  ///< the annotation of the selected node
  std::string node;
};
/// kInvalid if the text is no object with metadata.
Result<BindingShown> read_binding(std::string_view json);

}  // namespace ashlar::kube
