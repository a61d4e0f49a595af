// How does a test of the live scheduler look at a cluster? SchedulerWorld: one control plane for the whole program, a
// client, short verbs to post nodes, pods and groups, and schedulers that run on threads of their own inside this
// process, as the service account of deploy/ and with API priority and fairness. Each test ends with the server's audit
// log: nobody was asked for a second node while the first request might have been carried out.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cluster/audit.h"
#include "cluster/fixture/control_plane.h"
#include "envtest/fault_proxy.h"
#include "folders.h"
#include "kubeclient/writes.h"
#include "live/lead/scheduler.h"

namespace ashlar::live_tests {

using cluster::ControlPlane;
using kube::Answer;
using kube::Encoding;
using kube::OnAnswer;
using Pairs = std::vector<std::pair<std::string, std::string>>;

/// One scheduler on a thread of its own. Its decisions are recorded, and when it is gone they are decided again from
/// the log: every plan must be the same.
class RunningScheduler {
 public:
  explicit RunningScheduler(kube::SchedulerOptions options);
  ~RunningScheduler();
  void stop();
  /// As kill -9 would: the lease is not given back.
  void kill();
  std::uint16_t port() const { return scheduler_->port(); }
  const std::string& trouble() const { return trouble_; }

 private:
  void replay() const;
  void end(const std::function<void()>& how);
  std::unique_ptr<kube::Scheduler> scheduler_;
  std::thread thread_;
  std::string trouble_;
  std::filesystem::path decisions_;
};

class SchedulerWorld : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite() { plane_.reset(); }

  void SetUp() override;
  void TearDown() override;

  // ---- talking to the server ----------------------------------------------------------------------------------------
  bool wait(const std::function<bool()>& until, std::chrono::milliseconds patience = std::chrono::seconds(30));
  Answer answer_of(const std::function<void(OnAnswer)>& write);
  void must(const std::function<void(OnAnswer)>& write);
  /// Sends all at once and waits for all answers.
  void all(std::size_t count, const std::function<void(std::size_t, OnAnswer)>& write);

  void post_nodes(std::size_t count, const std::function<kube::NodeSpec(std::size_t)>& spec);
  /// node-000 ...: 8 devices each, `per_rack` to a rack, four racks to a block.
  void post_gpu_nodes(std::size_t count, std::size_t per_rack = 4, Pairs more_labels = {});
  static std::string node_name(std::size_t i);
  static kube::PodSpec gpu_pod(const std::string& name, int gpus);
  void post_pods(const std::vector<kube::PodSpec>& specs);
  void post_pod(const kube::PodSpec& spec) { post_pods({spec}); }

  std::map<std::string, kube::Pod> pods(const std::string& ns = "default");
  kube::Pod pod(const std::string& name) { return pods()[name]; }
  /// The list of the namespace's events as the server writes it.
  std::string events();
  bool wait_event(const std::string& reason, const std::string& note);
  std::size_t bound_count(const std::string& prefix = "");
  bool wait_bound(std::size_t count, const std::string& prefix = "",
                  std::chrono::seconds patience = std::chrono::seconds(30));
  void pause(Millis time);
  /// What the bound pods request is there on every node, in every resource, and by their annotations no device is
  /// over-full.
  void expect_no_oversubscription(std::int64_t devices_per_node = 8);

  /// What the server has seen of bindings in this test, and the proxy where they went through one.
  BindAudit audit() const;
  static constexpr const char* kSchedulerUser = "system:serviceaccount:ashlar:ashlar";

  void clean();

  // ---- schedulers ---------------------------------------------------------------------------------------------------
  kube::SchedulerOptions options(const std::string& identity = "a");
  /// Puts a proxy between the server and any client that is given its address; it stays until the test has been judged.
  void start_proxy();
  kube::SchedulerOptions options_through_proxy();
  std::unique_ptr<RunningScheduler> start(kube::SchedulerOptions o);
  std::unique_ptr<RunningScheduler> start() { return start(options()); }
  /// Body of an answer of the scheduler's own server.
  std::string ask(const RunningScheduler& scheduler, const std::string& path);
  /// A number of the scheduler's own metrics; -1 where it is not told. `name` with its labels, as it is printed.
  std::int64_t metric(const RunningScheduler& scheduler, const std::string& name);
  bool has_logged(const std::string& part);

  /// What the server of this program is to serve; set before the first test, in a SetUpTestSuite of one's own.
  inline static kube::PodGroupVersion pod_groups_ = kube::PodGroupVersion::kV1Beta1;
  inline static std::unique_ptr<ControlPlane> plane_;
  inline static std::string why_;
  inline static bool absent_ = false;
  std::unique_ptr<kube::Api> api_;
  std::unique_ptr<envtest::FaultProxy> proxy_;  ///< where the test has started one
  std::size_t second_targets_ = 0;              ///< that the test itself has asked for
  std::streamoff audit_from_ = 0;
  std::mutex log_lock_;
  std::vector<std::string> log_;
};

}  // namespace ashlar::live_tests
