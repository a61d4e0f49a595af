// A control plane that a cluster's operator has deployed Ashlar to: the shipped namespace and roles are there, and a
// client may do what they grant and nothing else, with API priority and fairness. An administrator's client
// (ControlPlane::connect) is exempt from both: it is for set-up only.
#pragma once

#include <memory>
#include <utility>

#include "envtest/control_plane.h"
#include "folders.h"
#include "kubeclient/api.h"

namespace ashlar::envtest {

/// kNotFound as of ControlPlane::start, and where kubectl is absent.
inline Result<std::unique_ptr<ControlPlane>> start_deployed(ControlPlaneOptions options = {}) {
  Result<std::unique_ptr<ControlPlane>> plane = ControlPlane::start(std::move(options));
  if (!plane) return plane;
  const std::string deploy = ASHLAR_SOURCE_DIR "/deploy/";
  if (const Result<void> granted = (*plane)->apply({deploy + "namespace.yaml", deploy + "rbac.yaml"}); !granted)
    return granted.error();
  return plane;
}

/// A client that is the scheduler's service account.
inline Result<std::unique_ptr<kube::Api>> connect_as_scheduler(const ControlPlane& plane) {
  Result<kube::Access> access = kube::load_access({.kubeconfig = plane.kubeconfig()});
  if (!access) return access.error();
  access->token = plane.scheduler_token();
  return kube::Api::create({.access = std::move(access).value()});
}

}  // namespace ashlar::envtest
