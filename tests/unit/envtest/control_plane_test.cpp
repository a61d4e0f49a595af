// What of a control plane needs none: whose folders are swept up, how long a binary is waited for, what a server's last
// words mean.
#include "envtest/control_plane.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "folders.h"

namespace ashlar::envtest {
namespace {

namespace fs = std::filesystem;

class Local : public testing::Test {
 protected:
  Local() {
    std::string pattern = (fs::temp_directory_path() / "ashlar-local-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    ::setenv("KUBEBUILDER_ASSETS", folder.c_str(), 1);
  }
  ~Local() override {
    ::unsetenv("KUBEBUILDER_ASSETS");
    fs::remove_all(folder);
  }
  void write_program(const std::string& name) const {
    const std::string path = folder + "/" + name;
    std::ofstream(path + ".new") << "#!/bin/sh\n";
    ::chmod((path + ".new").c_str(), 0755);
    fs::rename(path + ".new", path);
  }
  /// A process that does so and ends.
  template <class Work>
  static pid_t start(Work work) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      work();
      ::_exit(0);
    }
    return pid;
  }

  std::string folder;
};

TEST_F(Local, ABinaryIsAwaitedWhileItIsBeingBuilt) {
  const pid_t builder = start([&] { write_program("such-a-program"); });
  EXPECT_TRUE(ControlPlane::await_binary("such-a-program", builder, Millis(60'000), [] { return true; }));
  ::waitpid(builder, nullptr, 0);
}

TEST_F(Local, ABinaryIsAwaitedNoLongerThanItsBuilderLives) {
  const pid_t builder = start([] {});
  EXPECT_FALSE(ControlPlane::await_binary("no-such-program", builder, Millis(60'000), [] { return true; }));
  ::waitpid(builder, nullptr, 0);
  EXPECT_FALSE(ControlPlane::await_binary("no-such-program", builder, Millis(60'000), [] { return true; }))
      << "its builder has long ended";
}

TEST_F(Local, WaitingForABinaryEndsWhenItIsToldTo) {
  const pid_t builder = start([] { ::pause(); });
  EXPECT_FALSE(ControlPlane::await_binary("no-such-program", builder, Millis(60'000), [] { return false; }));
  ::kill(builder, SIGKILL);
  ::waitpid(builder, nullptr, 0);
}

TEST_F(Local, FoldersOfProcessesThatWereKilledAreSweptUpAndNoOthers) {
  for (const char* name : {"ashlar-cluster-dead", "ashlar-cluster-lives", "ashlar-cluster-kept", "another-dead"}) {
    fs::create_directories(folder + "/" + name + "/etcd");
    if (std::string(name) != "ashlar-cluster-kept") std::ofstream(folder + "/" + name + "/alive") << "";
  }
  const int alive = ::open((folder + "/ashlar-cluster-lives/alive").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(alive, LOCK_EX), 0);
  remove_abandoned_folders(folder);
  EXPECT_FALSE(fs::exists(folder + "/ashlar-cluster-dead"));
  EXPECT_TRUE(fs::exists(folder + "/ashlar-cluster-lives/etcd"));
  EXPECT_TRUE(fs::exists(folder + "/ashlar-cluster-kept/etcd"));
  EXPECT_TRUE(fs::exists(folder + "/another-dead/etcd"));
  ::close(alive);
}

TEST_F(Local, ATemporaryFolderThatIsNotThereIsNamed) {
  for (const char* name : {"etcd", "kube-apiserver"}) write_program(name);
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto plane = ControlPlane::start({});
  if (before == nullptr)
    ::unsetenv("TMPDIR");
  else
    ::setenv("TMPDIR", kept.c_str(), 1);
  ASSERT_FALSE(plane.ok());
  EXPECT_EQ(plane.error().message, "TMPDIR is \"/no/such/folder\", which is not a folder; create it or set another");
}

TEST(UnknownToServer, IsReadFromItsLastWords) {
  EXPECT_EQ(unknown_to_server("Error: invalid argument \"GenericWorkload=true\" for \"--feature-gates\" flag: "
                              "unrecognized feature gate: GenericWorkload\n"),
            "the feature gate GenericWorkload");
  EXPECT_EQ(unknown_to_server("E1122 something\nError: unknown flag: --requestheader\nUsage:"),
            "the flag --requestheader");
  EXPECT_EQ(unknown_to_server("E1122 run.go:74] \"command failed\" err=\"group version scheduling.k8s.io/v1beta1 that "
                              "has not been registered\"\n"),
            "the API version scheduling.k8s.io/v1beta1");
  EXPECT_EQ(unknown_to_server("Error: bind: address already in use\n"), "");
  EXPECT_EQ(unknown_to_server("group version scheduling.k8s.io/v1beta1 is listed\n"), "");
  EXPECT_EQ(unknown_to_server(""), "");
}

TEST(UnservedPodGroups, AreNamedByWhatDiscoverySays) {
  using kube::PodGroupVersion;
  std::ifstream in(ASHLAR_SOURCE_DIR "/tests/fixtures/kubernetes-1.36.3/scheduling-v1alpha2-resources.json");
  const std::string with{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(with.empty());
  EXPECT_EQ(unserved_pod_groups(PodGroupVersion::kV1Alpha2, 200, with), "");
  EXPECT_EQ(unserved_pod_groups(PodGroupVersion::kV1Beta1, 404, "404 page not found\n"),
            "PodGroups of scheduling.k8s.io/v1beta1");
  // As 1.37.1 answers for v1, which holds PriorityClasses alone.
  const std::string without =
      R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"scheduling.k8s.io/v1","resources":[{"name":"priorityclasses","singularName":)"
      R"("priorityclass","namespaced":false,"kind":"PriorityClass","verbs":["create","list"],"shortNames":["pc"]}]})";
  EXPECT_EQ(unserved_pod_groups(PodGroupVersion::kV1, 200, without), "PodGroups of scheduling.k8s.io/v1");
}

TEST(UnservedPodGroups, AreNotConcludedFromAnAnswerThatTellsNeither) {
  for (const int status : {401, 403, 429, 500, 503})
    EXPECT_EQ(unserved_pod_groups(kube::PodGroupVersion::kV1Beta1, status, "{}"), "") << status;
  EXPECT_EQ(unserved_pod_groups(kube::PodGroupVersion::kV1Beta1, 200, "<html>a proxy's page</html>"), "");
}

}  // namespace
}  // namespace ashlar::envtest
