// An API server that is given by KUBEBUILDER_ASSETS and too old for what is tested: named as such, by the error that
// leaves a test out.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "envtest/control_plane.h"

namespace ashlar::envtest {
namespace {

namespace fs = std::filesystem;

class GivenServer : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<std::string> etcd = ControlPlane::find_binary("etcd"),
                              server = ControlPlane::find_binary("kube-apiserver");
    if (!etcd || !server) GTEST_SKIP() << "skipped: " << (etcd ? server : etcd).error().message;
    server_ = fs::canonical(*server);
    folder_ = (fs::temp_directory_path() / "ashlar-assets-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    fs::create_symlink(fs::canonical(*etcd), folder_ + "/etcd");
    if (const char* given = std::getenv("KUBEBUILDER_ASSETS")) before_ = given;
    ::setenv("KUBEBUILDER_ASSETS", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (before_.empty())
      ::unsetenv("KUBEBUILDER_ASSETS");
    else
      ::setenv("KUBEBUILDER_ASSETS", before_.c_str(), 1);
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  void write_server(const std::string& commands) const {
    std::ofstream(folder_ + "/kube-apiserver") << "#!/bin/sh\n" << commands << "\n";
    ::chmod((folder_ + "/kube-apiserver").c_str(), 0755);
  }
  std::string server_, folder_, before_;
};

TEST_F(GivenServer, ThatLacksAFeatureGateIsNamedAndCountsAsAbsent) {
  write_server(
      "echo 'Error: invalid argument \"GenericWorkload=true\" for \"--feature-gates\" flag: unrecognized feature gate: "
      "GenericWorkload' >&2\nexit 1");
  const auto plane = ControlPlane::start({});
  ASSERT_FALSE(plane.ok());
  EXPECT_EQ(plane.error().kind, Error::Kind::kNotFound);
  EXPECT_NE(plane.error().message.find("kube-apiserver does not know the feature gate GenericWorkload"),
            std::string::npos)
      << plane.error().message;
}

TEST_F(GivenServer, ThatStartsAndServesNoSuchPodGroupsIsNamedAndCountsAsAbsent) {
  write_server("exec " + server_ + " \"$@\" --runtime-config=scheduling.k8s.io/v1beta1=false");
  const auto plane = ControlPlane::start({});
  ASSERT_FALSE(plane.ok());
  EXPECT_EQ(plane.error().kind, Error::Kind::kNotFound);
  EXPECT_NE(plane.error().message.find("kube-apiserver does not know PodGroups of scheduling.k8s.io/v1beta1"),
            std::string::npos)
      << plane.error().message;
  EXPECT_TRUE(ControlPlane::start({.pod_groups = kube::PodGroupVersion::kNone}).ok())
      << "who asks for none gets the server";
}

}  // namespace
}  // namespace ashlar::envtest
