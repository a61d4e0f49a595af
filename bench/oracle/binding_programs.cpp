#include "oracle/binding_programs.h"

#include <fstream>

#include "cluster/deployed.h"
#include "policy/profile.h"

namespace ashlar::binding {
namespace {

/// The most that a claim has to wait for the controller to look at it again, if it was told too early.
constexpr const char* kControllerPeriod = "--pvclaimbinder-sync-period=1s";

}  // namespace

Result<std::unique_ptr<BindingPrograms>> BindingPrograms::start(cluster::ControlPlane& plane) {
  std::unique_ptr<BindingPrograms> programs(new BindingPrograms);
  Result<cluster::ChildProcess*> controller = plane.run(
      "kube-controller-manager",
      {"--kubeconfig=" + plane.kubeconfig(), "--leader-elect=false", "--bind-address=127.0.0.1",
       "--secure-port=" + std::to_string(envtest::free_port()), "--cert-dir=" + plane.folder() + "/controllers",
       "--controllers=persistentvolume-binder-controller,ephemeral-volume-controller", kControllerPeriod,
       "--kube-api-qps=2000", "--kube-api-burst=2000"});
  if (!controller) return controller.error();
  programs->controller_ = *controller;
  if (Result<void> done = programs->start_kube(plane); !done) return done.error();
  Result<std::unique_ptr<filters::KubeFilters>> twins = filters::KubeFilters::start(plane, kTwinName);
  if (!twins) return twins.error();
  programs->twins_ = std::move(twins).value();
  if (Result<void> done = programs->start_ashlar(plane); !done) return done.error();
  return programs;
}

Result<void> BindingPrograms::start_kube(cluster::ControlPlane& plane) {
  const std::string file = plane.folder() + "/kube-scheduler-binding.yaml";
  std::ofstream(file) << "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                         "clientConnection: {kubeconfig: "
                      << plane.kubeconfig()
                      << ", qps: 10000, burst: 10000}\nleaderElection: {leaderElect: false}\n"
                         "percentageOfNodesToScore: 100\npodInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 1\n"
                         "profiles:\n- schedulerName: "
                      << kKubeName << "\n  plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}}\n";
  Result<cluster::ChildProcess*> kube = plane.run("kube-scheduler", {"--config=" + file, "--secure-port=0"});
  if (!kube) return kube.error();
  kube_ = *kube;
  return {};
}

/// With the rights of deploy/rbac.yaml.
Result<void> BindingPrograms::start_ashlar(cluster::ControlPlane& plane) {
  Result<std::unique_ptr<kube::Api>> api = envtest::connect_as_scheduler(plane);
  if (!api) return api.error();
  kube::SchedulerOptions options;
  options.access = (*api)->access();
  options.leader_term.tracker.scheduler_names = {kAshlarName};
  options.leader_term.profile = [](const auto&) { return std::move(builtin_profile("ashlar")).value(); };
  options.leader.lease_namespace = "ashlar";
  options.leader.identity = "binding";
  options.is_listening = false;
  options.log = [file = plane.folder() + "/ashlar.log"](kube::LogLevel, const std::string& message) {
    std::ofstream(file, std::ios::app) << message << "\n";
  };
  Result<std::unique_ptr<kube::Scheduler>> created = kube::Scheduler::create(std::move(options));
  if (!created) return created.error();
  ashlar_ = std::move(created).value();
  thread_ = std::thread([this] { ashlar_->run(); });
  return {};
}

BindingPrograms::~BindingPrograms() {
  if (thread_.joinable()) {
    ashlar_->stop();
    thread_.join();
  }
  twins_.reset();
  for (cluster::ChildProcess* program : {kube_, controller_})
    if (program != nullptr) program->stop(Millis(2'000));
}

std::string BindingPrograms::ended() {
  if (!controller_->is_running()) return "kube-controller-manager";
  if (!kube_->is_running() || !twins_->is_running()) return "kube-scheduler";
  return {};
}

}  // namespace ashlar::binding
