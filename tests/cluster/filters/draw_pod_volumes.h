// draw_pod_volumes: the volumes of a random pod: claims, ephemeral volumes, and disks that it names itself.
#pragma once

#include <string>

#include "cluster/filters/draw.h"
#include "cluster/filters/drawn_cluster.h"
#include "kubeclient/json_writer.h"

namespace ashlar::filters {

/// What they may name.
struct VolumeSources {
  std::string prefix;  ///< of the cluster
  const DrawnStorage& storage;
};
/// Writes entries of `spec.volumes` and notes in the pod what they mean.
void write_drawn_volumes(kube::JsonWriter& w, Draw& draw, const VolumeSources& sources, DrawnPod& pod);

}  // namespace ashlar::filters
