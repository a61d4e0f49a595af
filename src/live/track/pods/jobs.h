// jobs: a pod or a gang as a job of the engine: rows allocated, submitted, withdrawn and ended.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// The time from which its age counts.
Millis eligible_since(const TrackerData& t, const PodRecord& r);
/// A new row for the owner.
/// See Workload::tenant: tenants are namespaces.
std::uint32_t tenant_of(const PooledString& ns);
JobId add_job(TrackerData& t, JobOwner owner);
/// A job of one pod.
void submit_single(TrackerData& t, PodSlot slot);
/// Takes the pod out of the engine, if present.
void withdraw_pod(TrackerData& t, PodSlot slot);

}  // namespace ashlar::kube
