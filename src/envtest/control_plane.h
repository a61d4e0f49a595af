// ControlPlane: a real Kubernetes API server for tests. Starts etcd and kube-apiserver from $KUBEBUILDER_ASSETS,
// $ASHLAR_ASSETS or the user's cache folder (tests/controlplane/build.sh fills it) on free loopback ports, in their own
// folder that is removed with this object. Cost: ready in about 3 s; both use about 320 MB.
//
//   auto plane = envtest::ControlPlane::start({});
//   if (!plane) GTEST_SKIP() << plane.error().message;   // kNotFound: no binaries
//   auto api = (*plane)->connect();
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "envtest/process.h"
#include "kubeclient/api.h"
#include "kubeclient/pod_group_api.h"

namespace ashlar::envtest {

struct ControlPlaneOptions {
  /// Which PodGroups are served, with the gates that gangs need: those of Kubernetes 1.37 (v1beta1) or 1.36 (v1alpha2),
  /// or none.
  kube::PodGroupVersion pod_groups = kube::PodGroupVersion::kV1Beta1;
  std::vector<std::string> feature_gates;     ///< further "Name=true"
  std::vector<std::string> api_server_flags;  ///< further flags; a repeated flag overrides ours
  bool with_token_credentials = true;         ///< the kubeconfig holds a token of group system:masters
  /// audit.log records every binding and read of a pod, and the scheduler's lists, on receipt
  bool with_audit = false;
};

/// The feature that an API server reported as unknown when it ended during start-up, e.g. "the feature gate
/// GenericWorkload"; empty if its log has no such message.
std::string unknown_to_server(std::string_view log);

/// The same for a running server, by its answer to discovery of the group and version that holds those PodGroups; empty
/// if it serves them, or if the answer shows neither.
std::string unserved_pod_groups(kube::PodGroupVersion version, int status, std::string_view body);

/// Removes the folders of clusters in `temporary` whose process was killed before it could.
void remove_abandoned_folders(const std::string& temporary);

class ControlPlane {
 public:
  /// kNotFound if a binary is absent, or if the API server lacks what the options require and either comes from
  /// KUBEBUILDER_ASSETS, or the requirement is met only by other servers (the message states which and how to get it):
  /// skip the test on this error.
  static Result<std::unique_ptr<ControlPlane>> start(ControlPlaneOptions options);
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  const std::string& kubeconfig() const { return kubeconfig_; }  ///< file
  const std::string& folder() const { return folder_; }          ///< logs, kubeconfig, data; removed at the end
  const std::string& server() const { return server_; }          ///< "https://127.0.0.1:PORT"
  const std::string& token() const { return token_; }

  std::string audit_log() const { return folder_ + "/audit.log"; }
  /// Token of the service account ashlar/ashlar, which has the permissions of deploy/rbac.yaml once that is applied.
  const std::string& scheduler_token() const { return scheduler_token_; }
  /// Token of the user system:kube-scheduler, whose rights the server brings.
  const std::string& kube_scheduler_token() const { return kube_scheduler_token_; }
  /// Writes objects to the server as `kubectl apply -f` does; kNotFound if kubectl is absent.
  Result<void> apply(const std::vector<std::string>& files);

  /// A client of this server, through the kubeconfig.
  Result<std::unique_ptr<kube::Api>> connect(std::size_t requests_in_flight_max = 256) const;

  void kill_api_server() { api_server_.kill(); }
  void stop_api_server() { api_server_.stop(Millis(20'000)); }
  /// Starts it again on the same port with the same data and waits until it is ready.
  Result<void> start_api_server();
  /// Replaces the further flags; from its next start on.
  void set_api_server_flags(std::vector<std::string> flags) { options_.api_server_flags = std::move(flags); }
  ChildProcess& api_server() { return api_server_; }
  ChildProcess& etcd() { return etcd_; }

  /// Makes etcd forget all history: watches and continued lists from before get 410 (after a restart of the API server,
  /// whose own cache remembers more).
  Result<void> compact_history();

  /// Waits until the binary exists, for as long as the process that builds it lives and at most this long. False if it
  /// does not appear; `goes_on` is called twice a second.
  static bool await_binary(const std::string& name, pid_t builder, Millis patience,
                           const std::function<bool()>& goes_on);
  /// Path of a further binary of the control plane (kwok, kubectl, kube-scheduler, ...); kNotFound if absent.
  static Result<std::string> find_binary(const std::string& name);
  /// Starts such a binary with the log beside the others; stopped with this object at the latest.
  Result<ChildProcess*> run(const std::string& name, std::vector<std::string> arguments);
  /// Starts kwok, which simulates the nodes annotated `kwok.x-k8s.io/node=fake` and their pods by the stages of that
  /// file (deploy/kwok-stages.yaml).
  Result<ChildProcess*> run_kwok(const std::string& stages_file);

 private:
  ControlPlane() = default;
  Result<void> prepare();
  Result<void> start_etcd();
  Result<void> launch_api_server();
  Result<void> await_api_server(const std::string& path);
  Result<void> require_pod_groups() const;
  Result<void> lacks(const std::string& what, Error otherwise) const;
  Result<void> wait_until_ready(ChildProcess& process, const std::string& log, const std::string& url,
                                const std::string& path);
  std::string log_of(const std::string& name) const { return folder_ + "/" + name + ".log"; }

  ControlPlaneOptions options_;
  std::string folder_, kubeconfig_, server_, token_, scheduler_token_, kube_scheduler_token_, etcd_url_;
  std::uint16_t api_port_ = 0, etcd_port_ = 0, etcd_peer_port_ = 0;
  ChildProcess etcd_, api_server_;
  std::vector<std::unique_ptr<ChildProcess>> others_;
  int alive_ = -1;  ///< a locked file of the folder: while this process lives, no other can lock it
};

/// A loopback port that was free just now.
std::uint16_t free_port();

}  // namespace ashlar::envtest
