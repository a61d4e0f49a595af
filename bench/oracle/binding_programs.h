// BindingPrograms: what binds claims on one control plane: the persistent volume controller of kube-controller-manager
// (with that of ephemeral volumes), kube-scheduler, Ashlar, and a second kube-scheduler that is only asked which nodes
// would do. All run at once, each for the pods that name it.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "cluster/filters/kube_filters.h"
#include "live/lead/scheduler.h"

namespace ashlar::binding {

inline constexpr const char* kKubeName = "binding-kube";
inline constexpr const char* kAshlarName = "binding-ashlar";
inline constexpr const char* kTwinName = "binding-twin";

class BindingPrograms {
 public:
  /// kNotFound: a program is absent.
  static Result<std::unique_ptr<BindingPrograms>> start(cluster::ControlPlane& plane);
  ~BindingPrograms();
  filters::KubeFilters& twins() { return *twins_; }
  /// What of them has ended; empty: nothing.
  std::string ended();

 private:
  BindingPrograms() = default;
  Result<void> start_kube(cluster::ControlPlane& plane);
  Result<void> start_ashlar(cluster::ControlPlane& plane);

  cluster::ChildProcess* controller_ = nullptr;
  cluster::ChildProcess* kube_ = nullptr;
  std::unique_ptr<filters::KubeFilters> twins_;
  std::unique_ptr<kube::Scheduler> ashlar_;
  std::thread thread_;
};

}  // namespace ashlar::binding
