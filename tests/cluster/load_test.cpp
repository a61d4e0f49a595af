// `ashlar load` against a real API server, with kwok for the nodes and Ashlar as scheduler: a small trace is posted,
// placed, runs and ends.
#include <sys/wait.h>

#include <fstream>

#include "cluster/scheduler_world.h"
#include "folders.h"

namespace ashlar::live_tests {
namespace {

constexpr const char* kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\nload-0,64000,262144,2,T4\nload-1,64000,262144,8,G2\nLoad_2,64000,262144,0,\n";
constexpr const char* kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "pod-0,4000,8192,1,1000,,LS,Running,0,4,0\n"
    "pod-1,4000,8192,1,460,T4,LS,Running,0,400000,0\n"
    "pod-2,4000,8192,8,1000,,LS,Running,2,400000,2\n"
    "pod-3,4000,8192,0,0,,LS,Running,3,400000,3\n";

class LoadTest : public SchedulerWorld {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = plane_->folder() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  /// Exit status and all output.
  std::pair<int, std::string> load(const std::string& arguments) const {
    const std::string out = plane_->folder() + "/load.out";
    const int status =
        std::system((std::string(ASHLAR_BINARY_DIR) + "/ashlar load " + arguments + " >" + out + " 2>&1").c_str());
    std::ifstream file(out);
    return {WEXITSTATUS(status), {std::istreambuf_iterator<char>(file), {}}};
  }
};

TEST_F(LoadTest, PostsATraceThatRunsAndEnds) {
  auto kwok = plane_->run_kwok(std::string(ASHLAR_SOURCE_DIR) + "/deploy/kwok-stages.yaml");
  if (!kwok) GTEST_SKIP() << "skipped, no kwok: " << kwok.error().message;
  auto scheduler = start();
  const auto [status, output] = load(write("pods.csv", kPods) + " --nodes " + write("nodes.csv", kNodes) +
                                     " --kubeconfig " + plane_->kubeconfig() + " --speed 2");
  EXPECT_EQ(status, 0) << output;
  EXPECT_NE(output.find("nodes: 3 posted, 0 rejected"), std::string::npos) << output;
  EXPECT_NE(output.find("pods: 4 posted, 0 rejected"), std::string::npos) << output;
  ASSERT_TRUE(wait_bound(4, "pod"));
  EXPECT_EQ(pod("pod-1").node_name, "load-0") << "the only node of its model";
  EXPECT_EQ(pod("pod-2").node_name, "load-1") << "the only node of eight cards";
  const auto has_ended = [&] { return pod("pod-0").phase == kube::PodPhase::kSucceeded; };
  // kwok loses a delayed stage now and then; one that starts anew lists what runs
  if (!wait(has_ended, std::chrono::seconds(10))) {
    (*kwok)->stop(Millis(5000));
    kwok = plane_->run_kwok(std::string(ASHLAR_SOURCE_DIR) + "/deploy/kwok-stages.yaml");
    ASSERT_TRUE(kwok.ok()) << kwok.error().message;
  }
  EXPECT_TRUE(wait(has_ended)) << "four seconds of the trace are two";
  EXPECT_EQ(pod("pod-3").phase, kube::PodPhase::kRunning);
  const auto [again, refusals] = load(write("pods.csv", kPods) + " --kubeconfig " + plane_->kubeconfig());
  EXPECT_EQ(again, 1) << "what is there already is refused, and said";
  EXPECT_NE(refusals.find("4 objects were rejected"), std::string::npos) << refusals;
  (*kwok)->stop(Millis(5000));
}

TEST_F(LoadTest, NamesTheLineOfABrokenTraceAndPostsNothing) {
  const std::string broken = std::string(kPods) + "pod-4,minus,8192,0,0,,LS,Running,3,9,3\n";
  const auto [status, output] = load(write("broken.csv", broken) + " --kubeconfig " + plane_->kubeconfig());
  EXPECT_EQ(status, 2) << output;
  EXPECT_NE(output.find("broken.csv:6"), std::string::npos) << output;
  EXPECT_EQ(answer_of([&](OnAnswer done) {
              api_->send({.path = "/api/v1/namespaces/default/pods/pod-0"}, std::move(done));
            }).status,
            404);
}

}  // namespace
}  // namespace ashlar::live_tests
