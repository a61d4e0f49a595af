// pod_group_api: the versions of PodGroup that servers offer. Kubernetes 1.37 serves scheduling.k8s.io/v1beta1, 1.36
// v1alpha2, a later one v1; all are read into one PodGroup and written back in the server's version. Everything that
// differs between the versions is in this file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kubeclient/api.h"

namespace ashlar::kube {

enum class PodGroupVersion : unsigned char { kNone, kV1Alpha2, kV1Beta1, kV1 };

/// "scheduling.k8s.io/v1beta1"; empty for kNone.
std::string_view group_version_text(PodGroupVersion version);
/// "/apis/scheduling.k8s.io/v1beta1/podgroups"; empty for kNone.
std::string pod_groups_path(PodGroupVersion version);
/// "/apis/scheduling.k8s.io/v1beta1/namespaces/NS/podgroups/NAME"
std::string pod_group_path(PodGroupVersion version, std::string_view ns, std::string_view name);
/// "PodGroupInitiallyScheduled" (v1beta1, v1) or "PodGroupScheduled" (v1alpha2).
std::string_view scheduled_condition_type(PodGroupVersion version);

/// Requests the version that the server serves (the newest of those known here); kNone if it has none of them.
void discover_pod_groups(Api& api, std::function<void(Result<PodGroupVersion>)> on_found);

}  // namespace ashlar::kube
