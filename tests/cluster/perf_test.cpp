// Tests of the benchmark's cases on a real API server: Ashlar binds all measured pods of their short workloads.
#include <gtest/gtest.h>

#include <fstream>

#include "cluster/deployed.h"
#include "cluster/perf/case_file.h"
#include "cluster/perf/run_case.h"
#include "folders.h"
#include "kubeclient/writes.h"

namespace ashlar::bench::perf {
namespace {

class PerfCases : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto plane = envtest::start_deployed();
    if (!plane) {
      absent_ = plane.error().message;
      return;
    }
    plane_ = std::move(plane).value();
    api_ = plane_->connect().value();
  }
  static void TearDownTestSuite() {
    api_.reset();
    plane_.reset();
  }
  void SetUp() override {
    if (!plane_) GTEST_SKIP() << absent_;
  }

  /// The short workload of a case in one of our files, with Ashlar.
  Result<RunResult> run(const std::string& file, const std::string& name, RunOptions::Mode mode) {
    const std::vector<Case> cases = read_cases(ASHLAR_SOURCE_DIR "/bench/cluster/perf/cases/" + file).value();
    for (const Case& one : cases) {
      if (one.name != name) continue;
      const std::vector<Operation> operations = instantiated(one, one.workload("short")->params).value();
      envtest::ChildProcess ashlar;
      RunOptions options{.mode = mode, .scheduler_name = "ashlar", .patience_seconds = 60};
      options.start_scheduler = [&]() -> Result<void> {
        auto started = envtest::ChildProcess::start(
            {ASHLAR_BINARY_DIR "/ashlar", "scheduler", "--kubeconfig", plane_->kubeconfig(), "--config", config()},
            plane_->folder() + "/ashlar.log");
        if (!started) return started.error();
        ashlar = std::move(started).value();
        return {};
      };
      CaseRun run(*api_, options, nodes_);
      Result<RunResult> result = run.run(operations);
      ashlar.stop();
      run.clean();
      return result;
    }
    return Error{Error::Kind::kNotFound, "no case " + name};
  }
  std::string config() {
    const std::string path = plane_->folder() + "/ashlar.yaml";
    std::ofstream(path) << "apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\n"
                           "topology: {levels: [block, rack]}\nleaderElection: {enabled: false}\n";
    return path;
  }
  void expect_all_bound(const std::string& file, const std::string& name, RunOptions::Mode mode) {
    const Result<RunResult> result = run(file, name, mode);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_GE(result->pods, 90u);
    EXPECT_TRUE(result->is_complete()) << result->bound << " of " << result->pods << ": " << result->why_unbound;
  }

  static inline std::unique_ptr<envtest::ControlPlane> plane_;
  static inline std::unique_ptr<kube::Api> api_;
  static inline std::string absent_;
  static inline NodeWorld nodes_;
};

TEST_F(PerfCases, PodsThatExistAreBound) { expect_all_bound("plain.yaml", "basic", RunOptions::Mode::kDrained); }
TEST_F(PerfCases, PodsThatArriveAreBound) { expect_all_bound("plain.yaml", "basic", RunOptions::Mode::kArriving); }
TEST_F(PerfCases, RulesHoldBesidePodsOfNamespaces) {
  expect_all_bound("affinity.yaml", "anti-affinity-of-namespaces", RunOptions::Mode::kDrained);
}
TEST_F(PerfCases, NodesAndPodsThatComeAndGoHinderNobody) {
  expect_all_bound("plain.yaml", "mixed-churn", RunOptions::Mode::kDrained);
}
TEST_F(PerfCases, GangsOfOneRackCanRunTwice) {
  expect_all_bound("gangs.yaml", "gangs-in-rack", RunOptions::Mode::kDrained);
  expect_all_bound("gangs.yaml", "gangs-in-rack", RunOptions::Mode::kDrained);
}

TEST_F(PerfCases, APodLeftFromAnotherRunIsAnError) {
  expect_all_bound("plain.yaml", "basic", RunOptions::Mode::kDrained);
  kube::call(*api_, {.method = http::Method::kPost,
                     .path = "/api/v1/namespaces/perf-1/pods",
                     .body = kube::pod_body({.ns = "perf-1", .name = "measured-1-7", .node_name = "node-0"})});
  const Result<RunResult> result = run("plain.yaml", "basic", RunOptions::Mode::kDrained);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("measured-1-7"), std::string::npos) << result.error().message;
  expect_all_bound("plain.yaml", "basic", RunOptions::Mode::kDrained);
}

}  // namespace
}  // namespace ashlar::bench::perf
