// device_request: the devices that a pod requests, whole or a share of one, from the amounts of its containers.
#pragma once

#include "base/result.h"
#include "kubeclient/objects.h"
#include "model/demand.h"

namespace ashlar::kube {

/// kInvalid with what to change if the amounts contradict each other. `memory_request`: of each device, as the pod
/// states it; null: none.
Result<DeviceRequest> device_request(const Pod& pod, const PooledString* memory_request);
/// Of a bound pod, whatever it says: never fewer devices than it may hold.
DeviceRequest devices_held(const Pod& pod, const PooledString* memory_request);

}  // namespace ashlar::kube
