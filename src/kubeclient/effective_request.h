// effective_request: what a pod requests by Kubernetes' rules (component-helpers resource.PodRequests of 1.37),
// resizes in place included. Private to the folder.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubeclient/objects.h"

namespace ashlar::kube {

/// Amounts, and which names were given: an amount of 0 replaces another one, none does not.
struct NamedAmounts {
  Resources amounts;
  std::vector<PooledString> names;
  bool empty() const { return names.empty(); }
};

/// A container of the spec.
struct ContainerBuilder {
  PooledString name;
  bool is_sidecar = false;  ///< init container with restartPolicy Always
  Resources requests;
};
/// What the kubelet says of a container: what it has granted, and what is in force.
struct ContainerStatusBuilder {
  PooledString name;
  NamedAmounts allocated, in_force;
};

/// What the request depends on. Statuses of containers and init containers are in one list, in this order.
struct RequestParts {
  std::vector<ContainerBuilder> containers, init_containers;
  std::vector<ContainerStatusBuilder> statuses;
  Resources overhead;
  NamedAmounts pod_level;                                ///< spec.resources.requests
  NamedAmounts pod_level_allocated, pod_level_in_force;  ///< status.allocatedResources, status.resources.requests
  bool has_status_resources = false;                     ///< status.resources is present
  bool is_resize_infeasible = false;                     ///< the node will never grant what the spec asks for

  void reset();
};

/// The largest of what is asked for, granted and in force, each as the sum of the containers and the sidecars or what
/// an init container needs beside the sidecars before it, whichever is more; of an infeasible resize what is granted or
/// in force, nothing of a container without a status, but extended resources and huge pages, which cannot be resized,
/// as asked for where the status lacks them. Pod-level amounts replace cpu, memory and huge pages; overhead is added.
Resources effective_request(const RequestParts& parts);

/// The larger amount of each resource.
void raise(Resources& into, const Resources& from);
/// Adds one "name: quantity" to the amounts, rounding up. kInvalid with the name if the quantity is malformed or
/// negative.
Result<void> add_quantity(NamedAmounts& into, std::string_view name, std::string_view quantity);

}  // namespace ashlar::kube
